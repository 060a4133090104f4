// Draws what the service says about how a program ended: the label, what was written and returned,
// what was used, and the rest.

import { bar, count, evidence, make, size, time } from "./format.js";
import { Exact } from "./service.js";

const kMostShown = 200_000; // characters of one output
const kDeciders = { limit: "a limit", policy: "the policy", caller: "the caller", sandbox: "the sandbox", program: "the program" };
const kStations = ["admit", "lease", "fork", "confine", "run", "collect", "judge"];

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

// The parts of it. conversation: what was said while it ran, in place of the output; null: nothing but that.
export function verdict(result, limits, conversation = null) {
  const words = evidence(result.detail);
  const exit = result.exit.signal ?? (result.exit.code === null ? "no exit" : `exit ${result.exit.code}`);
  const parts = [make("div", { className: "head" },
    make("span", { className: result.ok ? "word good" : "word", textContent: result.label }),
    make("span", { className: "hint", textContent: `decided by ${kDeciders[result.by] ?? result.by}, ${exit}` }),
    ...(words ? [make("p", { className: "why", textContent: words })] : []))];
  if (conversation) parts.push(make("div", {}, make("h2", { textContent: "Conversation" }), conversation));
  else if (result.stdout.text) parts.push(output("Output", result.stdout));
  if (result.value !== null) parts.push(block("Value", pretty(result.value)));
  if (result.exception) parts.push(block("Exception", result.exception.traceback || `${result.exception.type}: ${result.exception.message}`));
  if (result.stderr.text && !result.exception && !conversation) parts.push(output("Standard error", result.stderr));
  return [...parts, usage(result, limits), ...details(result)];
}
