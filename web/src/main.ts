import "uplot/dist/uPlot.min.css";
import "./common.css";
import "./page.css";
import { api, ApiError, follow, type Incident, type Server, type Status } from "./api";
import { advance, initDetail, recolourDetail, refresh, reload, showDetail } from "./detail";
import { acknowledge, comment, dialogOpen, help, mute, signIn } from "./dialogs";
import { byId, choice, h, setText, timed, tip } from "./dom";
import { initFleet, draw, recolourFleet, serverNames, showFleet, updateServers } from "./fleet";
import { addIncident, arrange, incidentOf, initIncidents, setIncidents, shownIncidents, step, tickIncidents } from "./incidents";
import { change, current, iso, onChange, ownRange, rangeAt, rangeText } from "./state";
import { spanText, timeText, zoneText } from "./words";

const OPEN_MOST = 500;
const ENDED_MOST = 100;

let status: Status | null = null;
let received = 0; /* when the status came, by this machine's clock */
let connected = false;
let lastEnd = 0;
let problem = ""; /* of the page itself */

/* The status line. */
const chips = {
  critical: h("span", { class: "chip" }), warning: h("span", { class: "chip" }), servers: h("span", { class: "chip" }), age: h("span", { class: "chip" }),
};

/** The current age of the data: that from the collector, plus the time since then. */
function ageOf(s: Status): number | null {
  return s.data_age_s === null ? null : s.data_age_s + (s.replay ? 0 : (performance.now() - received) / 1000);
}

function showStatus(): void {
  timed("status", () => {
    if (!status) return;
    const { observers } = status, age = ageOf(status);
    setText(chips.critical, `${status.critical} critical`);
    chips.critical.className = `chip ${status.critical ? "critical" : ""}`;
    setText(chips.warning, `${status.warning} warning${status.warning === 1 ? "" : "s"}`);
    chips.warning.className = `chip ${status.warning ? "warning" : ""}`;
    setText(chips.servers, `${observers.reporting} of ${Math.max(observers.expected, observers.reporting)} servers reporting`);
    chips.servers.className = `chip ${observers.silent ? "absent" : ""}`;
    setText(chips.age, !connected ? "not connected" : age === null ? "no data yet" : `${status.replay ? "replay, " : ""}data ${spanText(age)} old`);
    chips.age.className = `chip ${!connected ? "critical" : age !== null && age > 60 && !status.replay ? "warning" : ""}`;
    document.body.className = connected ? status.status : "unknown";
    document.title = status.critical ? `(${status.critical}) limpet` : status.warning ? `(${status.warning} warning) limpet` : "limpet";
    setText(byId("foot"), `limpet ${status.limpet}${status.notes.length ? ` · ${status.notes.join(" · ")}` : ""}`);
  });
}

/** The end of the data, in milliseconds: ranges like "the last hour" are relative to it. */
const dataEnd = () => Date.parse(status?.watermark ?? status?.now ?? "") || Date.now();

function takeStatus(s: Status): void {
  status = s;
  received = performance.now();
  showStatus();
  notice(problem);
  const end = dataEnd();
  tickIncidents(end);
  if (end !== lastEnd) {
    lastEnd = end;
    advance(end);
  }
}

/** Show a problem of the page; if there is none, the trouble of the collector. */
function notice(text: string): void {
  const shown = text || (status?.trouble ? `${status.trouble[0].toUpperCase()}${status.trouble.slice(1)}.` : "");
  problem = text;
  setText(byId("notice"), shown);
  byId("notice").classList.toggle("on", shown !== "");
}

async function fetchIncidents(): Promise<void> {
  const [from, to] = rangeAt(current().range, dataEnd()), own = ownRange(current().range);
  const [open, ended] = await Promise.all([api.incidents({ state: "open", limit: OPEN_MOST }),
    api.incidents({ state: "ended", limit: ENDED_MOST, since: iso(from), until: own ? iso(to) : undefined })]);
  const chosen = incidentOf(current().incident);
  setIncidents([...open.incidents, ...ended.incidents], ended.more);
  if (chosen && !incidentOf(current().incident)) addIncident(chosen);
  if (nothingChosen()) {
    const first = shownIncidents().find((i) => i.state === "open");
    if (first) change({ incident: String(first.id) });
  }
  showDetail();
}

const operator = h("button", { type: "button", class: "operator", hidden: true }, "Sign out");

/** An operator who is signed in can sign out. */
function showOperator(name: string | null): void {
  operator.hidden = name === null;
  operator.title = name === null ? "" : `You are signed in as ${name}.`;
}

async function signOut(): Promise<void> {
  try {
    await api.logout();
    location.reload();
  } catch (error) {
    notice(`You are still signed in: ${(error as Error).message}`);
  }
}

let fetching = false, again = false;

/** Fetch everything: at the start, and when the collector is back. */
async function fetchAll(): Promise<void> {
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  try {
    const now = await api.status();
    showOperator(now.operator ?? null);
    takeStatus(now);
    await Promise.all([fetchIncidents(), api.fleet().then(showFleet)]);
    showStatus();
    notice("");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      if (await signIn()) again = true;
    } else if (error instanceof ApiError) notice(`The collector answered: ${error.message}`);
  }
  fetching = false;
  if (again) {
    again = false;
    void fetchAll();
  }
}

const nothingChosen = () => current().incident === null && current().server === null && current().component === null;

function takeIncident(incident: Incident): void {
  addIncident(incident);
  if (nothingChosen() && incident.state === "open") return change({ incident: String(incident.id) });
  showDetail(String(incident.id) === current().incident);
}

function takeFleet(data: unknown): void {
  const { servers } = data as { servers?: Server[] };
  if (!servers || !updateServers(servers)) void api.fleet().then(showFleet, () => undefined);
}

/* The controls. */
const RANGES: [string, string, string?][] = [["15m", "15 min"], ["1h", "1 h"], ["24h", "24 h"], ["own", "Own", "Choose the time yourself"]];
const from = h("input", { type: "datetime-local", step: 1, "aria-label": "from" });
const to = h("input", { type: "datetime-local", step: 1, "aria-label": "to" });
const zone = h("span", { class: "hint" });
const ownForm = h("form", { class: "own-range" }, from, "to", to, zone, h("button", { type: "submit" }, "Show"));

const localText = (ms: number) => timeText(ms, current().local).replace(" ", "T");
const localTime = (text: string) => Date.parse(current().local ? text : `${text}Z`);

function openOwn(): void {
  const [start, end] = rangeAt(current().range, dataEnd());
  from.value = localText(start);
  to.value = localText(end);
  ownForm.hidden = false;
}

const rangeChoice = choice("time range", RANGES, () => (ownRange(current().range) ? "own" : current().range), (value) => {
  if (value === "own") return ownForm.hidden ? openOwn() : void (ownForm.hidden = true);
  ownForm.hidden = true;
  change({ range: value });
});
const zoneChoice = choice("times in", [["utc", "UTC"], ["local", "Local"]], () => (current().local ? "local" : "utc"), (value) => change({ local: value === "local" }));
const search = h("input", { type: "search", placeholder: "Search  /", "aria-label": "search servers, components and incidents", role: "combobox",
  "aria-expanded": "false", "aria-controls": "results", autocomplete: "off", spellcheck: "false" });
const results = h("ul", { id: "results", role: "listbox", "aria-label": "found", hidden: true });
const theme = h("button", { type: "button", class: "theme", "aria-label": "switch between light and dark" });

const isDark = () => (current().theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
function showTheme(): void {
  if (current().theme) document.documentElement.dataset.theme = current().theme!;
  else delete document.documentElement.dataset.theme;
  setText(theme, isDark() ? "Light" : "Dark");
}

let searching = 0;
async function showResults(): Promise<void> {
  const q = search.value.trim(), mine = ++searching;
  change({ q });
  if (!q) return closeResults();
  const servers = serverNames().filter((name) => name.toLowerCase().includes(q.toLowerCase())).slice(0, 6);
  let components: string[] = [];
  try {
    components = (await api.components({ q, limit: 8 })).components.map((c) => c.name);
  } catch {
    /* servers and incidents are searched all the same */
  }
  if (mine !== searching || document.activeElement !== search) return;
  const pick = (values: { server?: string; component?: string }) => () => {
    closeResults();
    change({ incident: null, server: values.server ?? null, component: values.component ?? null, q: "" });
    search.value = "";
  };
  const option = (text: string, kind: string, run: () => void) => h("li", { role: "option", onpointerdown: run }, h("bdi", { class: "name" }, text), h("span", { class: "hint" }, kind));
  const items = [...servers.map((name) => option(name, "server", pick({ server: name }))), ...components.map((name) => option(name, "component", pick({ component: name })))];
  results.replaceChildren(...items);
  items.forEach((item, i) => (item.id = `result-${i}`));
  results.hidden = !items.length;
  search.setAttribute("aria-expanded", String(items.length > 0));
  search.removeAttribute("aria-activedescendant");
}
function closeResults(): void {
  results.hidden = true;
  search.setAttribute("aria-expanded", "false");
}
function searchKey(event: KeyboardEvent): void {
  const items = [...results.children] as HTMLElement[], at = items.findIndex((i) => i.getAttribute("aria-selected") === "true");
  if (event.key === "Escape") {
    search.value = "";
    change({ q: "" });
    closeResults();
    search.blur();
  }
  if (event.key === "Enter" && items.length && !results.hidden) items[Math.max(0, at)].dispatchEvent(new PointerEvent("pointerdown"));
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  const next = items[(at + (event.key === "ArrowDown" ? 1 : items.length - 1)) % items.length] ?? items[0];
  for (const item of items) item.setAttribute("aria-selected", String(item === next));
  if (next) search.setAttribute("aria-activedescendant", next.id);
}

function initControls(): void {
  /* The age changes every second, so screen readers must not announce it. */
  byId("status").append(h("span", { class: "chips", role: "status" }, chips.critical, chips.warning, chips.servers), chips.age);
  byId("controls").append(rangeChoice.element, zoneChoice.element, h("span", { class: "search" }, search, results), theme,
    h("button", { type: "button", "aria-label": "help", onclick: help }, "?"), operator, ownForm);
  operator.addEventListener("click", () => void signOut());
  ownForm.hidden = true;
  ownForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const a = localTime(from.value), b = localTime(to.value);
    to.setCustomValidity(b > a ? "" : "This is not after the beginning.");
    if (!to.reportValidity()) return;
    ownForm.hidden = true;
    change({ range: rangeText(a, b) });
  });
  to.addEventListener("input", () => to.setCustomValidity(""));
  search.value = current().q;
  search.addEventListener("input", () => void showResults());
  search.addEventListener("keydown", searchKey);
  search.addEventListener("blur", closeResults);
  theme.addEventListener("click", () => change({ theme: isDark() ? "light" : "dark" }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  showTheme();
}

function recolour(): void {
  showTheme();
  recolourFleet();
  recolourDetail();
}

const onChosen = (run: (incident: Incident, done: (incident: Incident) => void) => void) => {
  const incident = incidentOf(current().incident);
  if (incident && incident.state === "open") run(incident, takeIncident);
};
const KEYS: Record<string, () => void> = {
  j: () => step(1), k: () => step(-1), a: () => onChosen(acknowledge), m: () => onChosen(mute), n: () => onChosen(comment),
  "/": () => { search.focus(); search.select(); }, "?": help,
};

function initKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialogOpen()) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea")) return;
    const run = KEYS[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  });
}

function stateChanged(before: ReturnType<typeof current>): void {
  const s = current();
  tip(null);
  rangeChoice.show();
  zoneChoice.show();
  setText(zone, zoneText(dataEnd(), s.local));
  if (before.theme !== s.theme) recolour();
  arrange(before.q !== s.q);
  draw();
  showDetail();
  if (before.local !== s.local || before.range !== s.range) reload();
  if (before.range !== s.range) void fetchIncidents().catch(() => undefined);
  const chosen = before.incident !== s.incident || before.server !== s.server || before.component !== s.component;
  if (chosen && matchMedia("(max-width: 980px)").matches && document.activeElement !== document.body) byId("detail").scrollIntoView({ block: "start" });
}

initControls();
initIncidents();
initFleet();
initDetail();
initKeys();
onChange(stateChanged);
setText(zone, zoneText(Date.now(), current().local));
addEventListener("limpet-incident", (event) => takeIncident((event as CustomEvent<Incident>).detail));
showDetail();
void fetchAll();
follow({
  /* Sent at the beginning of the stream, after every verdict, and at least every 15 s. */
  status: (s) => {
    takeStatus(s);
    refresh();
  },
  incident: takeIncident,
  fleet: takeFleet,
  opened: () => {
    const back = !connected && received > 0;
    connected = true;
    showStatus();
    notice("");
    if (back) void fetchAll();
  },
  lost: () => {
    connected = false;
    showStatus();
    notice("The connection to the collector is lost. What you see may be out of date; the page tries again by itself.");
    if (!status) void fetchAll();
  },
});
setInterval(showStatus, 1000);
