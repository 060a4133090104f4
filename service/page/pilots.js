// The pilots of a router: those that are there, and those that were lost lately. A service that is no
// router has no such path, and is asked once.

import { byId, clock, count, make, time } from "./format.js";
import { ask } from "./service.js";

const kEvery = 3000; // they may be many, and what is shown of them changes slowly
const kMostShown = 50;
const kMostLost = 12;
const kStates = ["silent", "draining", "ready"]; // those that want attention come first

const rank = (pilot) => kStates.indexOf(pilot.state);

// The five cells of a row, as the table of failures has them.
const row = (first, name, by, middle, fourth, last) => make("tr", {},
  make("td", { textContent: first }),
  make("td", {}, make("span", { className: "label", textContent: name }), make("span", { className: "by", textContent: by })),
  make("td", { textContent: middle }),
  make("td", { textContent: fourth }),
  make("td", { textContent: last, title: last }));

export class Pilots {
  constructor() {
    this.next = 0;
    this.missing = false;
  }

  async look() {
    const now = performance.now();
    if (this.missing || now < this.next) return;
    this.next = now + kEvery;
    try {
      this.show(await ask("/v1/pilots"));
    } catch (error) {
      if (error.status === 404) this.missing = true;
      else if (error.status === undefined) throw error; // the statistics tell whatever else there is
    }
  }

  show(cluster) {
    byId("pilots-card").hidden = false;
    const known = [...cluster.pilots].sort((one, other) => rank(one) - rank(other));
    const states = kStates.map((state) => [known.filter((pilot) => pilot.state === state).length, state]);
    const told = states.filter(([many]) => many > 0).map(([many, state]) => `${count(many)} ${state}`);
    if (known.length > kMostShown) told.push(`${kMostShown} are shown`);
    told.push(`${count(cluster.workers)} workers`, `${count(cluster.lost)} lost with jobs, ${count(cluster.restarts)} jobs started again`);
    byId("pilots-note").textContent = told.join(" · ");
    this.fill("pilots", known.slice(0, kMostShown).map((pilot) => row(pilot.state, pilot.name,
      [`level ${pilot.level}`, pilot.engine].filter(Boolean).join(", "),
      `${count(pilot.running)} of ${count(pilot.workers)} workers busy, ${count(pilot.jobs - pilot.running)} jobs wait, ${count(pilot.ended)} ended`,
      `${time(pilot.mean_us)} a job`, pilot.address)));
    this.fill("lost", cluster.recently_lost.slice(0, kMostLost).map((loss) => row(clock(loss.time_ms), loss.name,
      loss.reason.replaceAll("_", " "), loss.message, `${count(loss.jobs)} jobs`, loss.address)));
  }

  fill(id, rows) {
    byId(id).replaceChildren(...rows);
    byId(id).closest("table").hidden = rows.length === 0;
    byId(`no-${id}`).hidden = rows.length > 0;
  }
}
