// Shows a program while it runs: for how long it has run, its output as the program writes it, and
// a line in which to type to it.

import { make } from "./format.js";

const kTick = 100; // ms between two looks at how long it has run
const kMostShown = 200_000; // characters of what is said

const bytes = (base64) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

export class Conversation {
  // live: there is a line to type in. say(message): tells the service.
  constructor(live, say) {
    this.say = say;
    this.shown = 0;
    this.typed = false;
    this.state = make("span", { textContent: "Starting" });
    this.seconds = make("span", { "aria-hidden": "true" }); // is not read out at each tick
    this.log = make("pre", { className: "log", role: "log", "aria-label": "What the program writes", tabIndex: 0, hidden: true });
    this.element = make("div", { className: "running" }, make("p", { className: "empty" }, this.state, " ", this.seconds), this.log,
      ...(live ? [this.makeLine()] : []));
    this.begin();
  }

  makeLine() {
    this.line = make("input", { id: "typed", className: "code", autocomplete: "off", autocapitalize: "off", spellcheck: false });
    const end = make("button", { id: "typed-end", type: "button", className: "quiet", textContent: "End of input" });
    const send = make("button", { id: "typed-send", type: "submit", textContent: "Send" });
    this.fields = make("fieldset", { className: "row", disabled: true },
      make("label", { className: "field grow" }, "Type to the program ", this.line), send, end);
    const form = make("form", { id: "typing" }, this.fields);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.tell(`${this.line.value}\n`);
    });
    end.addEventListener("click", () => this.endInput());
    this.line.addEventListener("keydown", (event) => {
      if (event.key !== "d" || !event.ctrlKey || this.line.value) return; // as at a terminal
      event.preventDefault();
      this.endInput();
    });
    return form;
  }

  begin() {
    const began = performance.now();
    const tick = () => { this.seconds.textContent = `${((performance.now() - began) / 1000).toFixed(1)} s`; };
    tick();
    this.clock = setInterval(tick, kTick);
  }

  // Nothing is said before the end.
  mute() {
    this.state.textContent = "Running";
    this.line?.form.remove();
  }

  // A message of the service, before the result.
  hear(message) {
    if (message.type === "started") this.start();
    else this.write(message.type, message.text ?? new TextDecoder().decode(bytes(message.base64)));
  }

  // The job has a cell.
  start() {
    this.state.textContent = "Running";
    if (!this.line) return;
    this.fields.disabled = false;
    this.line.focus();
  }

  tell(text) {
    this.typed = true;
    this.line.value = "";
    this.write("typed", text);
    this.say({ type: "stdin", text });
  }

  endInput() {
    this.fields.disabled = true;
    this.say({ type: "stdin", end: true });
  }

  // Follows what is written, unless somebody has gone back in it.
  write(kind, text) {
    if (this.shown > kMostShown) return;
    this.shown += text.length;
    const shown = this.shown > kMostShown ? `${text.slice(0, text.length - (this.shown - kMostShown))}\n…` : text;
    const follows = this.log.scrollTop + this.log.clientHeight >= this.log.scrollHeight - 4;
    const last = this.log.lastElementChild;
    if (last?.className === kind) last.firstChild.appendData(shown);
    else this.log.append(make("span", { className: kind, textContent: shown }));
    this.log.hidden = false;
    if (follows) this.log.scrollTop = this.log.scrollHeight;
  }

  // Returns what was said, where both sides have spoken; else null.
  end() {
    clearInterval(this.clock);
    this.log.removeAttribute("role");
    return this.typed ? this.log : null;
  }
}
