// The page's beginning: which view is shown, the service's state in the head, the token.

import { Dashboard } from "./dashboard.js";
import { byId } from "./format.js";
import { Playground } from "./playground.js";
import { setToken, token } from "./service.js";

const views = ["dashboard", "playground"];
let asksForToken = false;

function showState(text, ready) {
  byId("state").textContent = text;
  byId("state").classList.toggle("ready", ready);
}

function showTrouble(text) {
  byId("trouble").textContent = text;
  byId("trouble").hidden = text === "";
}

const told = {
  good(facts) {
    showTrouble("");
    const state = facts.state ?? "ready";
    showState(`${state} · level ${facts.level} · ${facts.version}`, state === "ready");
    byId("token-button").hidden = !asksForToken && !token();
  },
  bad(error) {
    showState(error.status === 0 ? "no answer" : "closed", false);
    if (error.status === 401) {
      asksForToken = true;
      showTrouble(token() ? "The service does not know this token." : "This service asks for a token.");
      byId("token-button").hidden = false;
      askForToken(token() ? "The service does not know the one that was given." : "");
      return;
    }
    showTrouble(error.status === 403 && token() ? "This token may not see this; the statistics want the scope metrics." : error.message);
  },
};

function askForToken(why) {
  byId("token-why").textContent = why;
  byId("token-why").hidden = why === "";
  if (!byId("token-dialog").open && !askForToken.declined) byId("token-dialog").showModal();
}

const dashboard = new Dashboard(told);
const playground = new Playground(told);

function show() {
  const wanted = location.hash.slice(1).split("/")[0];
  const view = views.includes(wanted) ? wanted : views[0];
  for (const name of views) {
    byId(name).hidden = name !== view;
    if (name === view) byId(`tab-${name}`).setAttribute("aria-current", "page");
    else byId(`tab-${name}`).removeAttribute("aria-current");
  }
  document.title = `zygo: ${view}`;
  const [shown, other] = view === "dashboard" ? [dashboard, playground] : [playground, dashboard];
  other.stop();
  shown.start();
}

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(byId("token").value.trim());
  byId("token").value = "";
  askForToken.declined = false;
  byId("token-dialog").close();
  show();
});
byId("token-forget").addEventListener("click", () => {
  setToken("");
  byId("token-dialog").close();
});
byId("token-dialog").addEventListener("cancel", () => { askForToken.declined = true; });
byId("token-button").addEventListener("click", () => {
  askForToken.declined = false;
  askForToken("");
});
window.addEventListener("hashchange", show);
show();
