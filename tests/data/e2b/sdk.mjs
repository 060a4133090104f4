// What programs do with E2B's SDK, and what came of it, as JSON.
import { Sandbox } from "@e2b/code-interpreter";

const told = {};
const nameOfError = async (promise) => promise.then(() => "none", (error) => error.name);
const text = async (sandbox, code, options) => (await sandbox.runCode(code, options)).text;

const sandbox = await Sandbox.create({ metadata: { a: "b c" }, envs: { GREETING: "hi" } });

const first = await sandbox.runCode('import os\nx = 41\nprint(os.environ["GREETING"])\nx + 1');
const streamed = [];
await sandbox.runCode("x += 1\nprint('a')", { onStdout: (line) => streamed.push(line.line) });
told.code = {
  text: first.text,
  stdout: first.logs.stdout.join(""),
  count: first.executionCount,
  again: await text(sandbox, "x"),
  html: (await sandbox.runCode("class H:\n  def _repr_html_(self): return '<b>'\nH()")).results[0].html,
  error: (await sandbox.runCode("1 / 0")).error.name,
  streamed,
};

const context = await sandbox.createCodeContext();
const apart = await text(sandbox, "'x' in globals()", { context });
await sandbox.runCode("q = 1", { context });
const listed = (await sandbox.listCodeContexts()).length;
await sandbox.restartCodeContext(context);
const restarted = await text(sandbox, "'q' in globals()", { context });
await sandbox.removeCodeContext(context);
told.contexts = {
  apart,
  listed,
  restarted,
  left: (await sandbox.listCodeContexts()).length,
  other: await nameOfError(sandbox.createCodeContext({ language: "javascript" })),
};

const { files } = sandbox;
const written = (await files.write("/home/user/a/b.txt", "hello")).path;
const names = (await files.list("/home/user")).map((entry) => entry.name);
const read = await files.read("a/b.txt");
const seen = await text(sandbox, "open('/home/user/a/b.txt').read()");
const exists = [await files.exists("a"), await files.exists("b")];
const moved = (await files.rename("a/b.txt", "c.txt")).path;
const size = (await files.getInfo("c.txt")).size;
await files.remove("c.txt");
const many = (await files.write([{ path: "p", data: "1" }, { path: "/tmp/q", data: "2" }])).map((each) => each.name);
await files.write("r", new Uint8Array([1, 2, 255]).buffer);
told.files = {
  written, read, seen, names, exists, moved, size, many,
  made: [await files.makeDir("m/n"), await files.makeDir("m/n")],
  gone: await nameOfError(files.read("c.txt")),
  bytes: [...(await files.read("r", { format: "bytes" }))],
};

// The client gives up by its own clock, and the service ends the command by its.
const listOfEnded = async () => {
  const until = Date.now() + 30_000;
  let listed = await sandbox.commands.list();
  while (listed.length > 0 && Date.now() < until) listed = await sandbox.commands.list();
  return listed;
};
const command = await sandbox.commands.run("echo out; echo err >&2");
told.commands = {
  stdout: command.stdout,
  stderr: command.stderr,
  exit: await sandbox.commands.run("exit 7").catch((error) => error.exitCode),
  late: await nameOfError(sandbox.commands.run("sleep 60", { timeoutMs: 300 })),
  terminal: await nameOfError(sandbox.pty.create({ cols: 80, rows: 24, onData: () => {} })),
  listed: await listOfEnded(),
};

const other = await Sandbox.create({ timeoutMs: 60_000 });
const page = await Sandbox.list({ query: { metadata: { a: "b c" } } }).nextItems();
const connected = await Sandbox.connect(sandbox.sandboxId);
const forks = sandbox.fork ? await sandbox.fork({ count: 2 }) : [];
const snapshot = sandbox.createSnapshot ? await sandbox.createSnapshot() : null;
const copy = snapshot ? await Sandbox.create(snapshot.snapshotId) : null;
told.sandboxes = {
  info: (await sandbox.getInfo()).metadata,
  running: await sandbox.isRunning(),
  listed: page.map((each) => each.sandboxId).join() === sandbox.sandboxId,
  connected: await text(connected, "x"),
  other: await text(other, "'x' in globals()"),
  forks: await Promise.all(forks.map((each, i) => text(each, i ? "x" : "x += 1\nx"))),
  snapshot: copy ? await text(copy, "x") : null,
};
if (snapshot) await Sandbox.deleteSnapshot(snapshot.snapshotId);
await (sandbox.pause ?? sandbox.betaPause).call(sandbox);
const paused = [(await sandbox.getInfo()).state, await sandbox.isRunning()];
await sandbox.connect();
told.sandboxes.paused = [...paused, await sandbox.isRunning()];
told.sandboxes.resumed = await text(sandbox, "x");
told.sandboxes.metrics = await nameOfError(sandbox.getMetrics());
for (const each of [...forks, copy, other].filter(Boolean)) await each.kill();
told.sandboxes.killed = [await sandbox.kill(), await sandbox.kill(), await sandbox.isRunning()];
told.sandboxes.after = await nameOfError(sandbox.runCode("1"));

console.log(JSON.stringify(told));
process.exit(0); // older versions have a timer that goes on for a minute
