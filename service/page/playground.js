// The playground: one program, its limits, what it says while it runs, and all that the service says
// about how it ended. The text there is kept while the tab lives.

import { Conversation } from "./conversation.js";
import { Editor } from "./editor.js";
import { examples } from "./examples.js";
import { byId, make } from "./format.js";
import { NoSocket, ask, attach, base64url } from "./service.js";
import { verdict } from "./verdict.js";

const kDraft = "zygo-draft";
const kFields = ["source", "stdin", "func", "inputs", "cpu", "wall", "memory"];
const kModes = ["script", "live", "call"];
const kLook = 5000; // ms between two looks at whether the service is there
const kPatient = [5, 60]; // s of wall clock that are usual, and while somebody types

class Mistake extends Error {}

// The draft, in the part of an address that no service sees.
const packed = (draft) => base64url(JSON.stringify(draft));

function unpacked(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

export class Playground {
  constructor(told) {
    this.told = told;
    this.running = null; // what stops the job that runs
    this.editor = new Editor(byId("source"), byId("source-label"), byId("source-hint"));
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
    byId("runtime").addEventListener("change", () => {
      this.editor.language = byId("runtime").value;
      this.keep();
    });
    byId("stop").addEventListener("click", () => this.running?.());
    byId("share").addEventListener("click", () => this.share());
    document.addEventListener("visibilitychange", () => this.look());
    for (const radio of document.querySelectorAll("input[name=mode]")) radio.addEventListener("change", () => this.chooseMode());
    this.restore();
  }

  mode() {
    return document.querySelector("input[name=mode]:checked").value;
  }

  showMode() {
    for (const part of document.querySelectorAll("[data-mode]")) part.hidden = !part.dataset.mode.split(" ").includes(this.mode());
  }

  // A person who types takes longer than a program.
  chooseMode() {
    const [usual, patient] = this.mode() === "live" ? kPatient : [...kPatient].reverse();
    if (Number(byId("wall").value) === usual) byId("wall").value = patient;
    this.showMode();
    this.keep();
  }

  // example: one of ours, or what a link or an earlier page has brought.
  load(example) {
    if (!example) return;
    const all = { stdin: "", func: "solve", inputs: "[1, 2, 3]", cpu: 2, wall: 5, memory: 256, mode: "script", twice: false, ...example };
    byId("mistake").textContent = "";
    for (const field of kFields) byId(field).value = String(all[field]);
    byId("twice").checked = all.twice === true;
    const mode = kModes.includes(all.mode) ? all.mode : kModes[0];
    document.querySelector(`input[name=mode][value=${mode}]`).checked = true;
    this.runtime = typeof example.runtime === "string" ? example.runtime : "python";
    this.showRuntime();
    byId("input-options").open = mode !== "script" || all.stdin !== "";
    this.showMode();
    this.editor.text = byId("source").value;
    this.keep();
  }

  draft() {
    const draft = Object.fromEntries(kFields.map((field) => [field, byId(field).value]));
    return { ...draft, mode: this.mode(), twice: byId("twice").checked, runtime: byId("runtime").value || this.runtime };
  }

  keep() {
    const draft = this.draft();
    sessionStorage.setItem(kDraft, JSON.stringify(draft));
    // A link that says something else by now would come before it when the page is loaded again.
    if (this.link && this.link !== packed(draft)) {
      this.link = "";
      history.replaceState(null, "", "#playground");
    }
  }

  // The one that belongs to the program, once it is known which there are.
  showRuntime() {
    const names = [...byId("runtime").options].map((each) => each.value);
    this.editor.language = this.runtime;
    if (names.length === 0) return;
    byId("runtime").value = names.includes(this.runtime) ? this.runtime : this.usual;
    if (!names.includes(this.runtime)) byId("mistake").textContent = `This service does not have ${this.runtime}.`;
  }

  async share() {
    this.link = packed(this.draft());
    const link = `${location.origin}${location.pathname}#playground/${this.link}`;
    history.replaceState(null, "", link);
    try {
      await navigator.clipboard.writeText(link);
      byId("mistake").textContent = "The link is copied.";
    } catch {
      byId("mistake").textContent = "The address of this page is the link now.";
    }
  }

  // The draft that a link brings comes before the one that was written here.
  restore() {
    if (this.follow()) return;
    let draft = null;
    try {
      draft = JSON.parse(sessionStorage.getItem(kDraft));
    } catch { /* as if there were none */ }
    this.load(draft?.source ? draft : examples[0]);
  }

  // False: the address has no program, or one that is here already.
  follow() {
    const link = location.hash.split("/")[1] ?? "";
    const shared = link === this.link ? null : unpacked(link);
    if (typeof shared?.source !== "string") return false;
    this.link = link;
    this.load(shared);
    return true;
  }

  // Fills the list of runtimes, once the service may be asked.
  async prepare() {
    if (this.prepared) return;
    try {
      const [templates, runtimes, info] = await Promise.all(["/v1/templates", "/v1/runtimes", "/v1/info"].map((path) => ask(path)));
      this.pythons = new Set(templates.map((each) => each.name));
      const names = new Set([...this.pythons,
        ...runtimes.filter((each) => each.available).map((each) => each.name)]);
      byId("runtime").replaceChildren(...Array.from(names, (name) => make("option", { value: name, textContent: name })));
      for (const option of byId("example").options) option.disabled = !names.has(examples[option.value]?.runtime ?? info.template);
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
    this.follow();
    this.editor.improve();
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
    const job = { template: byId("runtime").value, source: this.editor.text, limits };
    if (!job.template) delete job.template;
    if (byId("twice").checked && this.mode() === "live") throw new Mistake("What is typed comes once: it cannot be run under two seeds.");
    if (byId("twice").checked) job.determinism = { runs: 2 };
    // Python would keep back what it prints, as for any pipe.
    const env = this.pythons?.has(job.template) ? { PYTHONUNBUFFERED: "1" } : {};
    if (this.mode() !== "call") return JSON.stringify({ ...job, env, stdin: byId("stdin").value });
    const inputs = byId("inputs").value;
    try {
      if (!Array.isArray(JSON.parse(inputs))) throw new Mistake();
    } catch {
      throw new Mistake("Inputs: a JSON list, such as [1, 2, 3], please.");
    }
    return `${JSON.stringify({ ...job, mode: "call", func: byId("func").value }).slice(0, -1)},"inputs":${inputs}}`;
  }

  async run() {
    if (this.running) return;
    const focused = document.activeElement;
    byId("mistake").textContent = "";
    byId("run").disabled = true;
    this.stopped = false;
    let conversation = null;
    try {
      const limits = this.limits();
      const body = this.body(limits);
      conversation = new Conversation(this.mode() === "live", (message) => this.say(message));
      this.show([conversation.element]);
      byId("stop").hidden = false;
      const result = await this.judge(body, conversation);
      this.show(verdict(result, limits, conversation.end()));
      if (result.label === "Cancelled") byId("mistake").textContent = "Stopped.";
    } catch (error) {
      conversation?.end();
      this.fail(error);
    } finally {
      this.running = null;
      byId("run").disabled = false;
      byId("stop").hidden = true;
      if (document.activeElement === document.body) focused.focus();
    }
  }

  // Over a WebSocket, where what it writes comes at once. What is run twice is compared, so neither
  // run is shown; where there is no WebSocket to be had, everything comes at the end.
  async judge(body, conversation) {
    if (byId("twice").checked) return this.post(body, conversation);
    const messages = this.mode() === "live" ? [body] : [body, JSON.stringify({ type: "stdin", end: true })];
    const job = attach(messages, (message) => conversation.hear(message));
    this.say = job.say;
    this.running = () => {
      if (this.stopped || !job.say({ type: "cancel" })) job.leave();
      this.stopped = true;
    };
    try {
      return await job.ended;
    } catch (error) {
      if (!(error instanceof NoSocket) || this.stopped) throw error;
      return this.post(body, conversation);
    }
  }

  post(body, conversation) {
    const abort = new AbortController();
    this.running = () => {
      this.stopped = true;
      abort.abort();
    };
    conversation.mute();
    return ask("/v1/jobs", { method: "POST", body, signal: abort.signal, exact: true });
  }

  // On a narrow screen it lies below the form.
  show(parts) {
    const place = byId("verdict");
    place.replaceChildren(...parts);
    if (place.getBoundingClientRect().top > innerHeight - 100) place.scrollIntoView({ block: "start" });
  }

  fail(error) {
    if (byId("verdict").querySelector(".head") === null) byId("verdict").replaceChildren(make("p", { className: "empty", textContent: "No verdict." }));
    if (error.status === 0 || error.status === 401) this.told.bad(error);
    if (this.stopped) byId("mistake").textContent = "Stopped.";
    else if (error.status !== 401) byId("mistake").textContent = error.message;
  }
}
