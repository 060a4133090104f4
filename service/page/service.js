// The way to the service: every request of the page goes through here, to this origin only, with
// the token if there is one. The token lives as long as the tab.

const kToken = "zygo-token";

export const token = () => sessionStorage.getItem(kToken) ?? "";
export const setToken = (text) => (text ? sessionStorage.setItem(kToken, text) : sessionStorage.removeItem(kToken));

// What the service refused, or that it was not there: `status` is 0 then.
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// A number as it was written, where a double of ours would not say the same.
export class Exact {
  constructor(source) {
    this.source = source;
  }
}

const exactly = (key, value, context) =>
  typeof value === "number" && context?.source && context.source !== String(value) ? new Exact(context.source) : value;

export async function ask(path, { method = "GET", body, signal, exact = false } = {}) {
  const headers = {};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  let text;
  try {
    response = await fetch(path, { method, body, headers, signal, cache: "no-store", credentials: "omit" });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "The service does not answer.");
  }
  let value = null;
  try {
    value = JSON.parse(text, exact ? exactly : undefined);
  } catch {
    throw new Refusal(response.status, `The service answers with status ${response.status}.`);
  }
  if (response.ok) return value;
  const error = value?.error ?? {};
  throw new Refusal(response.status, explain(response, error));
}

function explain(response, error) {
  if (response.status === 403 && error.code === "origin")
    return "Without tokens the service talks to this page only at an IP address or at localhost: please open it there.";
  const again = response.headers.get("Retry-After");
  const where = error.path ? `${error.path}: ` : "";
  return `${where}${error.message ?? `status ${response.status}`}${again ? ` (try again in ${again} s)` : ""}`;
}
