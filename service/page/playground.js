// The playground: one program, its limits, and all that the service says about how it ended. What
// is written there is kept while the tab lives.

import { examples } from "./examples.js";
import { bar, byId, count, evidence, make, size, time } from "./format.js";
import { Exact, Refusal, ask } from "./service.js";

const kDraft = "zygo-draft";
const kFields = ["source", "stdin", "func", "inputs", "cpu", "wall", "memory"];
const kTick = 100; // ms between two looks at how long a program has run
const kLook = 5000; // between two looks at whether the service is there
const kMostShown = 200_000; // characters of one output
const kDeciders = { limit: "a limit", policy: "the policy", caller: "the caller", sandbox: "the sandbox", program: "the program" };
const kStations = ["admit", "lease", "fork", "confine", "run", "collect", "judge"];

class Mistake extends Error {}

// JSON as people read it; numbers as the service wrote them.
function pretty(value, indent = "") {
  const deeper = `${indent}  `;
  if (value instanceof Exact) return value.source;
  if (Array.isArray(value)) {
    const flat = `[${value.map((each) => pretty(each)).join(", ")}]`;
    if (flat.length <= 76 && !flat.includes("\n")) return flat;
    return `[\n${value.map((each) => deeper + pretty(each, deeper)).join(",\n")}\n${indent}]`;
  }
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${pretty(each, deeper)}`);
  const flat = `{${pairs.join(", ")}}`;
  return flat.length <= 76 && !flat.includes("\n") ? flat : `{\n${pairs.map((pair) => deeper + pair).join(",\n")}\n${indent}}`;
}

// What is written, in the part of an address that no service sees.
const packed = (draft) => btoa(Array.from(new TextEncoder().encode(JSON.stringify(draft)), (byte) => String.fromCharCode(byte)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

function unpacked(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

const block = (title, text) => make("div", {}, make("h2", { textContent: title }),
  make("pre", { tabIndex: 0, textContent: text.length > kMostShown ? `${text.slice(0, kMostShown)}\n…` : text }));

function output(title, stream) {
  const notes = [stream.truncated ? `cut, ${count(stream.bytes)} bytes in all` : "", stream.lossy ? "not all of it UTF-8" : ""];
  const note = notes.filter(Boolean).join(", ");
  return block(note ? `${title} (${note})` : title, stream.text);
}

function meter(name, used, limit, text) {
  return make("div", { className: "meter" }, make("span", { textContent: name }), bar(limit > 0 ? used / limit : 0, used < limit),
    make("span", { textContent: text }));
}

function usage(result, limits) {
  const { usage: used } = result;
  const memory = used.memory_peak_kb * 1024;
  return make("div", {}, make("h2", { textContent: "Used, of the limit" }), make("div", { className: "meters" },
    meter("CPU", used.cpu_us / 1000, limits.cpu_ms, `${time(used.cpu_us)} of ${time(limits.cpu_ms * 1000)}`),
    meter("Wall clock", used.wall_us / 1000, limits.wall_ms, `${time(used.wall_us)} of ${time(limits.wall_ms * 1000)}`),
    meter("Memory", memory, limits.memory_mb * 2 ** 20, `${size(memory)} of ${size(limits.memory_mb * 2 ** 20)}`)));
}

function details(result) {
  const timing = kStations.map((name) => make("span", { className: "chip", textContent: `${name} ${time(result.timing_us[name])}` }));
  const layers = (result.enforced ?? []).map((name) => make("span", { className: "chip", textContent: name }));
  return [
    make("div", {}, make("h2", { textContent: "Stations" }), make("div", { className: "chips" }, ...timing)),
    make("div", {}, make("h2", { textContent: `In force, level ${result.level ?? "none: it reached no cell"}` }),
      make("div", { className: "chips" }, ...layers)),
    make("details", {}, make("summary", { textContent: "The whole result" }), make("pre", { tabIndex: 0, textContent: pretty(result) })),
  ];
}

function verdict(result, limits) {
  const words = evidence(result.detail);
  const exit = result.exit.signal ?? (result.exit.code === null ? "no exit" : `exit ${result.exit.code}`);
  const parts = [make("div", { className: "head" },
    make("span", { className: result.ok ? "word good" : "word", textContent: result.label }),
    make("span", { className: "hint", textContent: `decided by ${kDeciders[result.by] ?? result.by}, ${exit}` }),
    ...(words ? [make("p", { className: "why", textContent: words })] : []))];
  if (result.stdout.text) parts.push(output("Output", result.stdout));
  if (result.value !== null) parts.push(block("Value", pretty(result.value)));
  if (result.exception) parts.push(block("Exception", result.exception.traceback || `${result.exception.type}: ${result.exception.message}`));
  if (result.stderr.text && !result.exception) parts.push(output("Standard error", result.stderr));
  return [...parts, usage(result, limits), ...details(result)];
}

export class Playground {
  constructor(told) {
    this.told = told;
    this.abort = null;
    byId("example").append(make("option", { value: "", textContent: "Choose one" }),
      ...examples.map((each, i) => make("option", { value: String(i), textContent: each.name })));
    byId("example").addEventListener("change", () => this.load(examples[byId("example").value]));
    byId("job").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    byId("job").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.run();
      }
    });
    byId("job").addEventListener("input", () => this.keep());
    byId("runtime").addEventListener("change", () => this.keep());
    byId("stop").addEventListener("click", () => this.abort?.abort());
    byId("share").addEventListener("click", () => this.share());
    document.addEventListener("visibilitychange", () => this.look());
    for (const radio of document.querySelectorAll("input[name=mode]")) radio.addEventListener("change", () => this.showMode());
    this.restore();
  }

  mode() {
    return document.querySelector("input[name=mode]:checked").value;
  }

  showMode() {
    for (const part of document.querySelectorAll("[data-mode]")) part.hidden = part.dataset.mode !== this.mode();
  }

  load(example) {
    if (!example) return;
    const all = { stdin: "", func: "solve", inputs: "[1, 2, 3]", cpu: 2, wall: 5, memory: 256, mode: "script", twice: false, ...example };
    for (const field of kFields) byId(field).value = all[field];
    byId("twice").checked = all.twice;
    document.querySelector(`input[name=mode][value=${all.mode}]`).checked = true;
    this.runtime = example.runtime ?? "python";
    this.showRuntime();
    byId("input-options").open = all.mode === "call" || all.stdin !== "";
    this.showMode();
    this.keep();
  }

  draft() {
    const draft = Object.fromEntries(kFields.map((field) => [field, byId(field).value]));
    return { ...draft, mode: this.mode(), twice: byId("twice").checked, runtime: byId("runtime").value || this.runtime };
  }

  keep() {
    sessionStorage.setItem(kDraft, JSON.stringify(this.draft()));
  }

  // The one that belongs to the program, once it is known which there are.
  showRuntime() {
    const names = [...byId("runtime").options].map((each) => each.value);
    if (names.length === 0) return;
    byId("runtime").value = names.includes(this.runtime) ? this.runtime : this.usual;
    if (!names.includes(this.runtime)) byId("mistake").textContent = `This service does not have ${this.runtime}.`;
  }

  async share() {
    const link = `${location.origin}${location.pathname}#playground/${packed(this.draft())}`;
    history.replaceState(null, "", link);
    try {
      await navigator.clipboard.writeText(link);
      byId("mistake").textContent = "The link is copied.";
    } catch {
      byId("mistake").textContent = "The address of this page is the link now.";
    }
  }

  // What a link brings comes before what was written here.
  restore() {
    const shared = unpacked(location.hash.split("/")[1] ?? "");
    if (typeof shared?.source === "string") return this.load(shared);
    let draft = null;
    try {
      draft = JSON.parse(sessionStorage.getItem(kDraft));
    } catch { /* as if there were none */ }
    this.load(draft?.source ? draft : examples[0]);
  }

  // Fills the list of runtimes, once the service may be asked.
  async prepare() {
    if (this.prepared) return;
    try {
      const [templates, runtimes, info] = await Promise.all(["/v1/templates", "/v1/runtimes", "/v1/info"].map((path) => ask(path)));
      const names = new Set([...templates.map((each) => each.name),
        ...runtimes.filter((each) => each.available).map((each) => each.name)]);
      byId("runtime").replaceChildren(...Array.from(names, (name) => make("option", { value: name, textContent: name })));
      this.usual = info.template;
      if (this.runtime === "python") this.runtime = info.template;
      this.showRuntime();
      this.prepared = true;
      this.told.good(info);
    } catch (error) {
      this.told.bad(error);
    }
  }

  start() {
    this.wanted = true;
    this.prepare().then(() => this.look());
  }

  stop() {
    this.wanted = false;
    clearTimeout(this.timer);
  }

  // Whether the service is still there.
  async look() {
    clearTimeout(this.timer);
    if (!this.wanted || document.hidden) return;
    try {
      this.told.good(await ask("/v1/info"));
    } catch (error) {
      this.told.bad(error);
    }
    this.timer = setTimeout(() => this.look(), kLook);
  }

  limits() {
    const milliseconds = (id) => Math.round(Number(byId(id).value) * 1000);
    const limits = { cpu_ms: milliseconds("cpu"), wall_ms: milliseconds("wall"), memory_mb: Math.round(Number(byId("memory").value)) };
    if (!(limits.cpu_ms >= 1 && limits.wall_ms >= 1)) throw new Mistake("CPU and wall clock: a number of seconds, please.");
    if (!(limits.memory_mb >= 4)) throw new Mistake("Memory: 4 MiB or more, please.");
    return limits;
  }

  // The inputs go as they are written, so that large integers stay what they are.
  body(limits) {
    const job = { template: byId("runtime").value, source: byId("source").value, limits };
    if (!job.template) delete job.template;
    if (byId("twice").checked) job.determinism = { runs: 2 };
    if (this.mode() === "script") return JSON.stringify({ ...job, stdin: byId("stdin").value });
    const inputs = byId("inputs").value;
    try {
      if (!Array.isArray(JSON.parse(inputs))) throw new Mistake();
    } catch {
      throw new Mistake("Inputs: a JSON list, such as [1, 2, 3], please.");
    }
    return `${JSON.stringify({ ...job, mode: "call", func: byId("func").value }).slice(0, -1)},"inputs":${inputs}}`;
  }

  async run() {
    if (this.abort) return;
    byId("mistake").textContent = "";
    this.abort = new AbortController();
    byId("run").disabled = true;
    byId("stop").hidden = false;
    let clock = 0;
    try {
      const limits = this.limits();
      clock = this.showRunning();
      const result = await ask("/v1/jobs", { method: "POST", body: this.body(limits), signal: this.abort.signal, exact: true });
      this.show(verdict(result, limits));
    } catch (error) {
      this.fail(error);
    } finally {
      clearInterval(clock);
      this.abort = null;
      byId("run").disabled = false;
      byId("stop").hidden = true;
    }
  }

  // Until the verdict comes. The clock is not read out at each tick.
  showRunning() {
    const began = performance.now();
    const seconds = make("span", { "aria-hidden": "true" });
    byId("verdict").replaceChildren(make("p", { className: "empty" }, "Running ", seconds));
    const tick = () => { seconds.textContent = `${((performance.now() - began) / 1000).toFixed(1)} s`; };
    tick();
    return setInterval(tick, kTick);
  }

  // On a narrow screen it lies below the form.
  show(parts) {
    const place = byId("verdict");
    place.replaceChildren(...parts);
    if (place.getBoundingClientRect().top > innerHeight - 100) place.scrollIntoView({ block: "start" });
  }

  fail(error) {
    if (byId("verdict").querySelector(".head") === null) byId("verdict").replaceChildren(make("p", { className: "empty", textContent: "No verdict." }));
    if (error.status === 0) this.told.bad(error);
    if (error.name === "AbortError") byId("mistake").textContent = "Stopped.";
    else if (error instanceof Refusal && error.status === 401) this.told.bad(error);
    else byId("mistake").textContent = error.message;
  }
}
