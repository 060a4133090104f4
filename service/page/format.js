// Numbers, times and evidence in words; small makers of elements. What a program wrote becomes text
// nodes only, here and everywhere else.

export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export function makeSvg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export const byId = (id) => document.getElementById(id);

const grouping = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
export const count = (value) => grouping.format(value);

export function time(us) {
  if (!(us > 0)) return "–";
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 10_000) return `${(us / 1000).toFixed(2)} ms`;
  if (us < 1_000_000) return `${Math.round(us / 1000)} ms`;
  if (us < 100_000_000) return `${(us / 1e6).toFixed(2)} s`;
  return `${count(us / 1e6)} s`;
}

export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 10 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function duration(us) {
  const minutes = Math.floor(us / 60e6);
  if (minutes < 1) return `${Math.floor(us / 1e6)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

export function share(part, whole) {
  if (!(whole > 0)) return "–";
  const percent = (100 * part) / whole;
  return percent > 99.9 && part < whole ? "99.9 %" : `${percent.toFixed(percent >= 99.95 ? 0 : 1)} %`;
}

export const clock = (ms) => new Date(ms).toLocaleTimeString("en-GB");

function measured(key, value) {
  if (key.endsWith("_ms")) return `${count(value)} ms`;
  if (key.endsWith("_bytes")) return size(value);
  return String(value);
}

function phrase(key, value) {
  switch (key) {
    case "contended": return value ? "on a busy machine" : "";
    case "line": return value >= 0 ? `line ${value}` : "";
    case "errno": return value === 0 ? "" : `errno ${value}`;
    case "count": return value === 1 ? "" : `${value} attempts`;
    case "code": return `exit code ${value}`;
    case "source": return `by ${value}`;
    case "argument": case "where": return `at ${value}`;
    case "message": case "reason": case "signal": case "syscall": case "operation": return String(value);
    case "policy": return "";
    default: return `${key.replaceAll("_", " ")} ${measured(key, value)}`;
  }
}

// A verdict's detail as one sentence: "cpu limit 500 ms, used 500 ms".
export function evidence(detail) {
  const words = [];
  const keys = Object.keys(detail);
  for (const key of keys) {
    const value = detail[key];
    if (key === "limit") {
      const amount = keys.find((other) => other.startsWith("limit_"));
      words.push(`${value} limit${amount ? ` ${measured(amount, detail[amount])}` : ""}`);
    } else if (key.startsWith("limit_") && "limit" in detail) {
      continue;
    } else if (key.startsWith("measured_")) {
      words.push(`used ${measured(key, value)}`);
    } else if (key.startsWith("peak_")) {
      words.push(`peak ${measured(key, value)}`);
    } else {
      words.push(phrase(key, value));
    }
  }
  return words.filter(Boolean).join(", ");
}

// A bar of the given share, 0 to 1.
export function bar(part, good) {
  const width = Math.max(0, Math.min(1, part)) * 100;
  return makeSvg("svg", { class: "bar", "aria-hidden": "true" },
    makeSvg("rect", { width: "100%", height: "100%", rx: "4" }),
    makeSvg("rect", { class: good ? "full good" : "full", width: `${part > 0 ? Math.max(width, 1.5) : 0}%`, height: "100%", rx: "4" }));
}
