// Charts over the last minutes, as SVG: one main line with its area, one side line, a cursor that a
// pointer or the arrow keys move. A chart is drawn anew with each look at the service.

import { make, makeSvg } from "./format.js";

const kHeight = 150;
const kMargin = { left: 4, right: 4, top: 18, bottom: 20 };

const decade = (value, round) => 10 ** round(Math.log10(value));

// The next of 2, 4, 10, 20, 40, ... that is no less: its half is whole, too.
function ceiling(value) {
  const power = decade(value, Math.floor);
  return [1, 2, 4, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

export class Chart {
  // lines: [{ name, format, kind: "main" | "side" }]
  // powers: a scale of powers of ten, on which 0 means that nothing is known; else from 0 to minimum or more.
  constructor(figure, { title, lines, format, minimum = 4, powers = false }) {
    this.lines = lines;
    this.format = format;
    this.minimum = minimum;
    this.powers = powers;
    this.columns = [];
    this.at = null;
    this.title = title;
    this.values = lines.map(() => make("b"));
    this.caption = make("figcaption", {}, make("span", { className: "title", textContent: title }),
      ...lines.map((line, i) => make("span", { className: `key ${line.kind}` }, `${line.name} `, this.values[i])));
    this.plot = makeSvg("svg", { class: "plot", role: "img", tabindex: "0" });
    figure.replaceChildren(this.caption, this.plot);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }

  listen() {
    this.plot.addEventListener("pointermove", (event) => {
      const box = this.plot.getBoundingClientRect();
      this.moveTo(Math.round(((event.clientX - box.left - kMargin.left) / this.room()) * (this.most - 1)));
    });
    this.plot.addEventListener("pointerleave", () => this.moveTo(null));
    this.plot.addEventListener("blur", () => this.moveTo(null));
    this.plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30 }[event.key];
      if (event.key === "Escape") this.moveTo(null);
      if (!step) return;
      event.preventDefault();
      this.moveTo((this.at ?? this.most - 1) + step);
    });
  }

  moveTo(column) {
    const first = this.most - this.length();
    this.at = column === null ? null : Math.max(first, Math.min(this.most - 1, column));
    this.draw();
  }

  // columns: one list of numbers for each line, oldest first, all of one length; most: how many fit.
  show(columns, most) {
    this.columns = columns;
    this.most = most;
    this.draw();
  }

  length() {
    return this.columns[0]?.length ?? 0;
  }

  room() {
    return Math.max(1, this.plot.clientWidth - kMargin.left - kMargin.right);
  }

  x(column) {
    return kMargin.left + (column / (this.most - 1)) * this.room();
  }

  y(value) {
    const share = this.powers ? Math.log10(value / this.bottom) / Math.log10(this.top / this.bottom) : value / this.top;
    return kHeight - kMargin.bottom - share * (kHeight - kMargin.top - kMargin.bottom);
  }

  // Sets the scale, and returns the values that get a line across.
  scale() {
    const values = this.columns.flat().filter((value) => value > 0);
    if (!this.powers) {
      this.top = ceiling(Math.max(this.minimum, ...values));
      return [this.top, this.top / 2];
    }
    this.top = decade(Math.max(this.minimum, ...values), Math.ceil);
    this.bottom = Math.min(this.top / 100, decade(Math.min(this.top, ...values), Math.floor));
    const steps = Math.round(Math.log10(this.top / this.bottom));
    const every = steps > 4 ? 2 : 1;
    return Array.from({ length: Math.ceil(steps / every) }, (_, i) => this.top / 10 ** (i * every));
  }

  // Where nothing is known the line is interrupted.
  path(values) {
    const first = this.most - values.length;
    let text = "";
    let drawing = false;
    values.forEach((value, i) => {
      if (this.powers && !(value > 0)) {
        drawing = false;
        return;
      }
      text += `${drawing ? "L" : "M"}${this.x(first + i).toFixed(1)} ${this.y(value).toFixed(1)}`;
      if (!drawing && this.powers) text += "h.1";
      drawing = true;
    });
    return text;
  }

  area(values) {
    if (this.powers || values.length < 2) return "";
    const floor = kHeight - kMargin.bottom;
    const first = this.x(this.most - values.length).toFixed(1);
    return `${this.path(values)}L${this.x(this.most - 1).toFixed(1)} ${floor}L${first} ${floor}Z`;
  }

  draw() {
    if (!this.most || this.plot.clientWidth === 0) return;
    const width = this.plot.clientWidth;
    const floor = kHeight - kMargin.bottom;
    const parts = this.scale().flatMap((value) => [
      makeSvg("line", { class: "grid", x1: 0, x2: width, y1: this.y(value), y2: this.y(value) }),
      makeSvg("text", { x: 0, y: this.y(value) - 4 }, this.format(value).replace(".00", ""))]);
    parts.push(makeSvg("line", { class: "grid", x1: 0, x2: width, y1: floor, y2: floor }),
      makeSvg("text", { x: 0, y: kHeight - 4 }, `${Math.round(this.most / 60)} min ago`),
      makeSvg("text", { x: width, y: kHeight - 4, "text-anchor": "end" }, "now"));
    const main = this.lines.findIndex((line) => line.kind === "main");
    parts.unshift(makeSvg("path", { class: "area", d: this.area(this.columns[main]) }));
    this.columns.forEach((values, i) => {
      if (i !== main) parts.push(makeSvg("path", { class: "side", d: this.path(values) }));
    });
    parts.push(makeSvg("path", { class: "main", d: this.path(this.columns[main]) }));
    if (this.at !== null) {
      const x = this.x(this.at);
      parts.push(makeSvg("line", { class: "cursor", x1: x, x2: x, y1: kMargin.top - 10, y2: floor }));
    }
    this.plot.setAttribute("viewBox", `0 0 ${width} ${kHeight}`);
    this.plot.replaceChildren(...parts);
    this.tell();
  }

  // The numbers beside the title: those under the cursor, or the last.
  tell() {
    const back = this.at === null ? 0 : this.most - 1 - this.at;
    const index = this.length() - 1 - back;
    const texts = this.columns.map((values) => (values[index] === undefined ? "–" : this.format(values[index])));
    texts.forEach((text, i) => { this.values[i].textContent = text; });
    const when = back === 0 ? "now" : `${back} s ago`;
    this.plot.setAttribute("aria-label",
      `${this.title}, ${when}: ${this.lines.map((line, i) => `${line.name} ${texts[i]}`).join(", ")}. Arrow keys move in time.`);
  }
}
