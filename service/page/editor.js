// The field in which a program is written: the page's own text field and, in its place, CodeMirror
// where the service was built with it. The text field stays what holds the program: each change of
// either is told by an `input` event of the text field.

const kModes = {
  bash: "text/x-sh", c: "text/x-csrc", cpp: "text/x-c++src", csharp: "text/x-csharp", go: "text/x-go", java: "text/x-java",
  javascript: "text/javascript", kotlin: "text/x-kotlin", lua: "text/x-lua", node: "text/javascript", perl: "text/x-perl",
  php: "application/x-httpd-php", python: "text/x-python", r: "text/x-rsrc", ruby: "text/x-ruby", rust: "text/x-rustsrc",
  scala: "text/x-scala", sh: "text/x-sh", typescript: "text/typescript",
};
const kNarrow = ["javascript", "node", "typescript", "ruby", "lua", "r", "c", "cpp", "bash", "sh"]; // are indented by 2
const kUnmoving = ["Tab", "Shift", "Escape", "Control", "Alt", "Meta"];

// "cpp17-unoptimised" is C++, "python-numpy" Python.
const language = (runtime) => /^[a-z]*/.exec(runtime)[0];

// To the next place that the language's style has, or what is selected as a whole.
function indent(code) {
  if (code.somethingSelected()) return code.execCommand("indentMore");
  if (code.getOption("indentWithTabs")) return code.execCommand("insertTab");
  const unit = code.getOption("indentUnit");
  return code.replaceSelection(" ".repeat(unit - (code.getCursor().ch % unit)));
}

export class Editor {
  // area: the text field. label: its label. hint: what is said about the keyboard, shown when it is true.
  constructor(area, label, hint) {
    Object.assign(this, { area, label, hint, code: null, runtime: "" });
  }

  get text() {
    // CodeMirror looks at what was typed a moment later; a program is run at once.
    this.code?.display.input.updateFromDOM?.();
    return this.area.value;
  }

  set text(value) {
    this.area.value = value;
    this.code?.setValue(value);
  }

  // The program's runtime or template, which says how it is coloured and indented.
  set language(runtime) {
    this.runtime = runtime;
    if (!this.code) return;
    const name = language(runtime);
    this.code.setOption("mode", kModes[name] ?? "text/plain");
    this.code.setOption("indentUnit", kNarrow.includes(name) ? 2 : 4);
    this.code.setOption("indentWithTabs", name === "go");
  }

  // Puts CodeMirror in the text field's place. Without it, or when it does not come, all stays as it is.
  async improve() {
    this.improved ??= import("./codemirror.js").catch(() => null);
    await this.improved;
    if (this.code) this.code.refresh();
    if (this.code || !globalThis.CodeMirror) return;
    const { selectionStart, selectionEnd } = this.area;
    const had = document.activeElement === this.area;
    this.make();
    this.language = this.runtime;
    if (!had) return;
    this.code.setSelection(this.code.posFromIndex(selectionStart), this.code.posFromIndex(selectionEnd));
    this.code.focus();
  }

  make() {
    this.code = globalThis.CodeMirror.fromTextArea(this.area, {
      theme: "zygo", lineNumbers: true, matchBrackets: true, tabSize: 4, inputStyle: "contenteditable", viewportMargin: 100,
    });
    this.code.on("change", () => {
      this.area.value = this.code.getValue();
      this.area.dispatchEvent(new Event("input", { bubbles: true }));
    });
    this.name(this.code.getInputField());
    this.listen();
    new ResizeObserver(() => this.code.refresh()).observe(this.code.getWrapperElement());
  }

  // The label names the field that is there now, and takes a click to it.
  name(field) {
    field.id = `${this.area.id}-editor`;
    field.setAttribute("role", "textbox");
    field.setAttribute("aria-multiline", "true");
    field.setAttribute("aria-labelledby", this.label.id);
    field.setAttribute("aria-describedby", this.hint.id);
    this.label.removeAttribute("for");
    this.label.addEventListener("click", () => this.code.focus());
    this.hint.hidden = false;
    // A browser that replaces a selection itself may put styles there, which the page's policy forbids.
    field.addEventListener("beforeinput", (event) => {
      if (event.inputType !== "insertText" || event.isComposing || !event.data || !this.code.somethingSelected()) return;
      event.preventDefault();
      this.code.replaceSelection(event.data, "end", "+input");
    });
  }

  // Tab takes a way through the page onwards. Once something else was pressed it indents, until Escape.
  listen() {
    const leave = () => this.code.setOption("extraKeys", { Tab: false, "Shift-Tab": false });
    const stay = () => this.code.setOption("extraKeys", {
      Tab: indent,
      "Shift-Tab": "indentLess",
      Esc: leave,
    });
    this.code.on("focus", leave);
    this.code.getInputField().addEventListener("click", stay);
    this.code.on("keydown", (_, event) => { if (!kUnmoving.includes(event.key)) stay(); });
  }
}
