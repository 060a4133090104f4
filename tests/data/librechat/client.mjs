// The tools by which LibreChat's agents run code (@librechat/agents), one call after another as its
// graph makes them: `node client.mjs KEY`. Prints what it has seen as one line of JSON.

import { createBashExecutionTool } from "./package/dist/esm/tools/BashExecutor.mjs";
import { createCodeExecutionTool } from "./package/dist/esm/tools/CodeExecutor.mjs";

const authHeaders = () => ({ "X-API-Key": process.argv[2] });
const code = createCodeExecutionTool({ authHeaders });
const bash = createBashExecutionTool({ authHeaders });

// Files of earlier calls are given to later ones by the graph (ToolNode).
async function call(tool, args, files) {
  const found = await tool.invoke({ name: tool.name, args, id: "1", type: "tool_call", _injected_files: files });
  return { content: found.content, files: found.artifact?.files ?? [] };
}

const seen = {};
const printed = await call(code, { lang: "py", code: "import sys\nprint(6 * 7, sys.argv[1:])", args: ["a"] });
seen.printed = [printed.content, printed.files];
seen.failed = (await call(code, { lang: "py", code: "1 / 0" })).content;
seen.silent = (await call(code, { lang: "py", code: "x = 1" })).content;

const made = await call(code, { lang: "py", code: "open('data.csv', 'w').write('1,2')\nopen('plot.png', 'wb').write(b'x')\nprint('made')" });
seen.made = [made.content, made.files.map((file) => file.name).sort()];
const given = made.files.map((file) => ({ ...file, session_id: file.storage_session_id ?? file.session_id }));
const read = await call(bash, { command: "cat data.csv; echo 3 >> data.csv" }, given);
seen.read = [read.content.split("\n").slice(0, 2), read.files.map((file) => [file.name, Boolean(file.inherited)]).sort()];

seen.refused = await call(code, { lang: "ts", code: "1" }).catch((error) => error.message);
console.log(JSON.stringify(seen));
