// The client of @modelcontextprotocol/sdk against a server: `node client.mjs stdio COMMAND...` or
// `node client.mjs http URL`. Prints what it has seen as one line of JSON.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, where, ...args] = process.argv.slice(2);
const transport = kind === "stdio"
  ? new StdioClientTransport({ command: where, args, env: process.env })
  : new StreamableHTTPClientTransport(new URL(where));
const client = new Client({ name: "test", version: "1" });
const errors = [];
client.onerror = (error) => errors.push(String(error));
await client.connect(transport);

const seen = { server: client.getServerVersion().name, tools: (await client.listTools()).tools.map((tool) => tool.name) };
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const value = async (code) => (await call("run_python", { code })).structuredContent.value;

// The client itself holds each structured content against the tool's schema.
await call("run_python", { code: "x = [1]" });
seen.value = await value("x + [2]");
seen.failed = (await call("run_python", { code: "1 / 0" })).isError;
const progress = [];
const tried = await call("try_many", { codes: ["x + [3]", "x + [4]", "x.append(5)"], keep: 2 },
  { onprogress: (told) => progress.push(told.progress) });
seen.tried = tried.structuredContent.results.map((each) => each.value);
seen.progress = progress;
seen.kept = await value("x");
await call("undo", { steps: 2 });
seen.undone = await value("x");
await call("write_file", { path: "f", text: "written" });
seen.file = (await call("read_file", { path: "f" })).structuredContent.text;
seen.program = (await call("run_program", { language: "bash", source: "echo from bash" })).structuredContent.stdout;

// The call has begun when its first progress comes; then it is cancelled.
const abort = new AbortController();
const slow = call("run_python", { code: "x = 0\nimport time\ntime.sleep(600)", timeout_ms: 3000000 },
  { signal: abort.signal, timeout: 600000, onprogress: () => abort.abort("enough") });
seen.cancelled = await slow.then(() => "it ended", (error) => String(error).includes("enough"));
seen.after = await value("x");

if (kind === "http") await transport.terminateSession();
await client.close();
console.log(JSON.stringify({ ...seen, errors }));
