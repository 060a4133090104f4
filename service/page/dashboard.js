// The dashboard: asks for the statistics every second while it is looked at, and shows them.

import { Chart } from "./charts.js";
import { bar, byId, clock, count, duration, evidence, make, share, size, time } from "./format.js";
import { Pilots } from "./pilots.js";
import { ask } from "./service.js";

const kEvery = 1000;
const kSlowest = 8000; // between two tries when the service does not answer
const kMostOutcomes = 9;
const kMostFailures = 12;
const kLately = 10; // seconds that the tiles look back

const sum = (values) => values.reduce((all, value) => all + value, 0);

function middle(values) {
  const known = values.filter((value) => value > 0).sort((a, b) => a - b);
  return known.length ? known[Math.floor(known.length / 2)] : 0;
}

export class Dashboard {
  // told: { good(stats), bad(error) }
  constructor(told) {
    this.told = told;
    this.timer = null;
    this.wait = kEvery;
    this.pilots = new Pilots();
    this.jobs = new Chart(byId("chart-jobs"), {
      title: "Jobs per second", format: count,
      lines: [{ name: "ended", kind: "main" }, { name: "not well", kind: "side" }],
    });
    this.times = new Chart(byId("chart-time"), {
      title: "Time per job", format: time, minimum: 10_000, powers: true,
      lines: [{ name: "p50", kind: "main" }, { name: "p99", kind: "side" }],
    });
    this.queue = new Chart(byId("chart-queue"), {
      title: "Queue", format: count,
      lines: [{ name: "waiting", kind: "main" }, { name: "with the pool", kind: "side" }],
    });
    document.addEventListener("visibilitychange", () => this.look());
  }

  start() {
    this.wanted = true;
    this.look();
  }

  stop() {
    this.wanted = false;
    clearTimeout(this.timer);
  }

  async look() {
    clearTimeout(this.timer);
    if (!this.wanted || document.hidden) return;
    try {
      this.show(await ask("/v1/stats"));
      await this.pilots.look();
      this.wait = kEvery;
    } catch (error) {
      this.told.bad(error);
      this.wait = Math.min(kSlowest, this.wait * 2);
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), this.wait);
  }

  show(stats) {
    this.told.good(stats);
    const past = stats.history;
    this.showTiles(stats, past);
    this.jobs.show([past.ended, past.ended.map((ended, i) => ended - past.ok[i])], past.most);
    this.times.show([past.p50_us, past.p99_us], past.most);
    this.queue.show([past.queued, past.running], past.most);
    this.showOutcomes(stats.jobs);
    this.showStations(stats);
    this.showPool(stats);
    this.showFailures(stats.failures);
  }

  showTiles(stats, past) {
    const lately = (column) => past[column].slice(-kLately);
    const ended = lately("ended");
    const rate = ended.length ? sum(ended) / ended.length : 0;
    byId("tile-rate").textContent = rate > 0 && rate < 10 ? rate.toFixed(1) : count(rate);
    byId("tile-rate-note").textContent = `${count(stats.jobs.total)} since the start`;
    byId("tile-ok").textContent = share(stats.jobs.ok, stats.jobs.total);
    byId("tile-ok-note").textContent = `${count(stats.jobs.total - stats.jobs.ok)} did not`;
    const whole = stats.stages.find((stage) => stage.stage === "total");
    byId("tile-time").textContent = time(middle(lately("p50_us")) || whole?.p50_us);
    byId("tile-time-note").textContent = whole ? `99 % within ${time(whole.p99_us)}` : "";
    byId("tile-queue").textContent = count(stats.now.queued);
    const refused = sum(past.refused);
    byId("tile-queue-note").textContent =
      `of at most ${count(stats.now.queue_limit)}${refused ? `, ${count(refused)} refused lately` : ""}`;
  }

  showOutcomes(jobs) {
    const shown = jobs.labels.slice(0, kMostOutcomes);
    const rest = sum(jobs.labels.slice(kMostOutcomes).map((row) => row.count));
    if (rest > 0) shown.push({ label: "others", count: rest });
    const most = Math.max(1, ...shown.map((row) => row.count));
    byId("outcomes").replaceChildren(...shown.map((row) => make("tr", {},
      make("td", { textContent: row.label, title: row.label }),
      make("td", {}, bar(row.count / most, row.label === "OK")),
      make("td", { textContent: count(row.count) }))));
  }

  showStations(stats) {
    byId("stations-note").textContent = `last ${count(stats.recent)} jobs`;
    byId("stations").replaceChildren(...stats.stages.map((row) => make("tr", {},
      ...[row.stage, time(row.p50_us), time(row.p90_us), time(row.p99_us)].map((text) => make("td", { textContent: text })))));
  }

  showPool(stats) {
    const { now, since_start: since } = stats;
    const facts = [
      ["Workers", `${count(Math.min(now.running, now.workers))} of ${count(now.workers)} busy`],
      ["Cells", `${count(now.cells)} alive, ${count(since.cells_made)} made`],
      ["Templates", `${count(now.templates)} warm`],
      ["Forks", count(since.forks)],
      ["CPU of programs", time(since.job_cpu_us)],
      ["CPU of the service", time(since.own_cpu_us)],
      ["Memory of the service", size(now.resident_bytes)],
      ["Requests held", `${size(now.held_bytes)} of ${size(now.held_limit_bytes)}`],
      ["Connections", count(now.connections)],
      ["Up for", duration(stats.uptime_us)],
    ];
    byId("pool").replaceChildren(...facts.flatMap(([name, value]) =>
      [make("dt", { textContent: name }), make("dd", { textContent: value })]));
  }

  showFailures(failures) {
    const shown = failures.filter(Boolean).slice(0, kMostFailures);
    byId("no-failures").hidden = shown.length > 0;
    byId("failures").closest("table").hidden = shown.length === 0;
    byId("failures").replaceChildren(...shown.map((row) => make("tr", {},
      make("td", { textContent: clock(row.time_ms) }),
      make("td", {}, make("span", { className: "label", textContent: row.label }),
        make("span", { className: "by", textContent: `by ${row.by}` })),
      make("td", { textContent: evidence(row.detail) || "–" }),
      make("td", { textContent: `${time(row.cpu_us)} CPU, ${size(row.memory_peak_kb * 1024)}` }),
      make("td", { textContent: `${row.template} · ${row.id}`,
        title: `${row.id}, template ${row.template}, client ${row.client}, API ${row.api}` }))));
  }
}
