// The client of JupyterLab and of VS Code, @jupyterlab/services, against a server of kernels:
// `node client.mjs URL TOKEN [KERNEL [forgets]]`; a server that forgets keeps nothing for who was away. Needs no more of it than /api/kernelspecs and /api/kernels with their channels.
// Prints what it has seen as one line of JSON.

import services from "@jupyterlab/services";

const [baseUrl, token, name = "zygo", memory = "keeps"] = process.argv.slice(2);
console.debug = console.log = () => {}; // The library tells there of each connection.
const serverSettings = services.ServerConnection.makeSettings({
  baseUrl, wsUrl: baseUrl.replace(/^http/, "ws"), token, appendToken: true });
// A Jupyter server in front of another loses a message that comes before its own connection has begun (jupyter_server
// 1.23, gateway/handlers.py: on_message ties it to a future that never ends). After this time the library goes on without.
const manager = new services.KernelManager({ serverSettings, kernelInfoTimeout: 10_000 });
process.on("unhandledRejection", (why) => console.warn(why)); // Nobody waits for it: as in a browser.
const seen = {};

/** What a cell showed, pieces of one stream joined, and how it ended; `on` has functions for kinds of messages. */
async function run(kernel, code, on = {}) {
  const shown = [];
  const show = {
    stream: ({ name, text }) => {
      if (shown.at(-1)?.[0] !== name) shown.push([name, ""]);
      shown.at(-1)[1] += text;
    },
    error: ({ ename, evalue, traceback }) => shown.push(["error", ename, evalue, Array.isArray(traceback)]),
    ...Object.fromEntries(["execute_result", "display_data", "update_display_data"].map((kind) =>
      [kind, ({ data }) => shown.push([kind, data["text/html"] ?? data["text/plain"]])])) };
  const future = kernel.requestExecute({ code });
  future.onIOPub = ({ header, content }) => {
    show[header.msg_type]?.(content);
    on[header.msg_type]?.(content);
  };
  future.onStdin = async ({ header, content }) =>
    future.sendInputReply({ status: "ok", value: await on.input(content) }, header);
  const { ename, status, execution_count: count, traceback } = (await future.done).content;
  return { shown, ended: ename ?? status, count, traceback };
}
const shows = async (...how) => (await run(...how)).shown;
const plain = (lines) => lines.join("\n").replace(/\x1b\[[0-9;]*m/g, "");

const { display_name, language } = (await services.KernelSpecAPI.getSpecs(serverSettings)).kernelspecs[name];
seen.spec = [display_name, language];
const kernel = await manager.startNew({ name });

seen.stream = [...await shows(kernel, "print('out')"),
  ...await shows(kernel, "import sys\nprint('to stderr', file=sys.stderr)")];
const { status, language_info } = (await kernel.requestKernelInfo()).content;
seen.info = [status, language_info.name, language_info.file_extension];
seen.result = await shows(kernel, "numbers = [1, 2]\nnumbers + [3]");
seen.display = await shows(kernel, "display({'text/html': '<b>shown</b>', 'text/plain': 'shown'}, raw=True)");
seen.update = await shows(kernel, "handle = display('one', display_id=True)\nhandle.update('two')");
const failed = await run(kernel, "nowhere + 1");
seen.error = [failed.ended, failed.shown, plain(failed.traceback).includes("----> 1 nowhere + 1")];

const completed = (await kernel.requestComplete({ code: "len(numb", cursor_pos: 8 })).content;
seen.complete = [completed.matches, completed.cursor_start, completed.cursor_end];
const inspected = (await kernel.requestInspect({ code: "len", cursor_pos: 3, detail_level: 0 })).content;
seen.inspect = [inspected.found, plain([inspected.data["text/plain"]]).includes("number of items in a container")];
seen.isComplete = [];
for (const code of ["1 + 1", "def f():", "1 +* 1"])
  seen.isComplete.push((await kernel.requestIsComplete({ code })).content.status);
const asked = { hist_access_type: "tail", n: 1, output: false, raw: true };
seen.history = (await kernel.requestHistory(asked)).content.history.map((entry) => entry[2]);
seen.comms = (await kernel.requestCommInfo({})).content.comms;

seen.undo = [];
for (const code of ["numbers.append(3)\nnumbers", "%undo", "numbers"]) {
  const { shown, ended } = await run(kernel, code);
  seen.undo.push([ended, shown[0][0] === "execute_result" ? shown[0][1] : shown[0][1].includes("at step")]);
}

// The second kernel works while the first one waits for its user's answer.
const other = await manager.startNew({ name });
seen.input = await shows(kernel, "'Hello, ' + input('Name: ')", { input: async ({ prompt, password }) => {
  const { ended } = await run(other, "numbers");
  seen.other = [prompt, password, ended, await shows(other, "numbers = 'other'\nnumbers")];
  return "Ada";
} });
seen.apart = await shows(kernel, "numbers");

let interrupted;
const endless = await run(kernel, "kept = 7\nprint('begun')\nwhile True: pass",
  { stream: () => interrupted ??= kernel.interrupt() });
await interrupted;
seen.interrupt = [endless.ended, endless.shown, await shows(kernel, "kept, numbers")];

// The connection breaks off while a cell runs; what it says meanwhile comes afterwards.
let broken;
if (memory === "keeps") {
  seen.reconnected = (await run(kernel, "import time\nprint('begun')\ntime.sleep(1)\nprint('and ended')\nkept + 1",
    { stream: () => broken ??= kernel.reconnect() })).shown;
  await broken;
}

await kernel.restart();
const anew = await run(kernel, "1 + 1");
seen.restart = [anew.shown, anew.count, (await run(kernel, "kept")).ended, await shows(other, "numbers")];

await Promise.all([kernel.shutdown(), other.shutdown()]);
const running = (await services.KernelAPI.listRunning(serverSettings)).map(({ id }) => id);
seen.shutdown = [kernel, other].map(({ id, status }) => [status, running.includes(id)]);
manager.dispose();
console.info(JSON.stringify(seen));
process.exit(); // A disposed manager that was just polling keeps its timer of ten seconds.
