// The way to the service: every request of the page and every WebSocket goes through here, to this
// origin only, with the token if there is one. The token lives as long as the tab.

const kToken = "zygo-token";
const kProtocol = "zygo.attach";
const kOfStatus = 4000; // what the service adds to a status, for the code of a close

export const token = () => sessionStorage.getItem(kToken) ?? "";
export const setToken = (text) => (text ? sessionStorage.setItem(kToken, text) : sessionStorage.removeItem(kToken));

// An error: the service refused the request, or it was not there: `status` is 0 then.
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// The service cannot be spoken to over a WebSocket, or does not want to: nothing has been said to it.
export class NoSocket extends Error {}

// Any text in the characters of an address.
export const base64url = (text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

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
  throw new Refusal(response.status, explain(response.status, error, response.headers.get("Retry-After")));
}

// A job that is taken part in while it runs. `messages` are said first: the job as JSON, and what may
// follow it at once. `hear` gets each message that comes before the result. Returns { ended, say, leave }:
// the promise of the result, which fails with a Refusal or NoSocket; what says one more message, or
// returns false; what withdraws the job at once.
export function attach(messages, hear) {
  const address = new URL("/v1/attach", location.href);
  address.protocol = location.protocol.replace("http", "ws");
  let socket;
  try {
    // The browser sets no header of ours for a WebSocket.
    socket = new WebSocket(address, token() ? [kProtocol, `zygo.token.${base64url(token())}`] : [kProtocol]);
  } catch {
    return { ended: Promise.reject(new NoSocket()), say: () => false, leave: () => {} };
  }
  let opened = false;
  let refused = null;
  const ended = new Promise((resolve, reject) => {
    socket.addEventListener("open", () => {
      opened = true;
      for (const message of messages) socket.send(message);
    });
    socket.addEventListener("message", (event) => {
      const { type, ...rest } = JSON.parse(event.data, exactly);
      if (type === "result") resolve(rest);
      else if (type === "error") refused = rest;
      else hear({ type, ...rest });
    });
    socket.addEventListener("close", (event) => {
      if (refused) reject(new Refusal(event.code - kOfStatus, explain(event.code - kOfStatus, refused.error, refused.retry_after)));
      else reject(opened ? new Refusal(0, "The connection broke before the verdict.") : new NoSocket());
    });
  });
  return {
    ended,
    say: (message) => {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
    leave: () => socket.close(),
  };
}

function explain(status, error, again) {
  if (status === 403 && error.code === "origin")
    return "Without tokens the service talks to this page only at an IP address or at localhost: please open it there.";
  const where = error.path ? `${error.path}: ` : "";
  return `${where}${error.message ?? `status ${status}`}${again ? ` (try again in ${again} s)` : ""}`;
}
