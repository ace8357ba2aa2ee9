/** The details of what the user has chosen: an incident, a server or a component, with the plots that belong to it. */
import { api, type Call, type Component, type DifferentFunction, type Incident, type Step } from "./api";
import { acknowledge, comment, mute } from "./dialogs";
import { save, tableOf } from "./download";
import { byId, h, inTurn, nameOf, setText } from "./dom";
import { addIncident, incidentOf, incidentsOf } from "./incidents";
import { Plots, type Mark } from "./plots";
import { change, current, rangeAt, rangeText } from "./state";
import { quantityText, ratioText, spanText, timeText, zoneText } from "./words";

const METRICS_MOST = 40;
let plots: Plots | null = null;
let shownKey = "";
let end = Date.now();
let turn = 0;
let server: ServerView | null = null;
let seek: (() => void) | null = null; /* looks for the metrics of the component, until there are some */

const head = h("div", { class: "detail-head" });
const onset = h("button", { type: "button", onclick: () => {
  const zoomed = plots && onsetOf(plots.component);
  if (zoomed) change({ range: zoomed });
} }, "Show the onset");
const below = h("div", { class: "detail-plots" });

export function initDetail(): void {
  byId("detail").append(head, below);
}

/** A time. Its date is left out if another time beside it has the same. */
const when = (text: string, beside?: string | null) => {
  const ms = Date.parse(text), local = current().local, words = `${timeText(ms, local)} ${zoneText(ms, local)}`;
  const same = beside && timeText(Date.parse(beside), local).slice(0, 10) === words.slice(0, 10);
  return h("time", { datetime: text }, same ? words.slice(11) : words);
};

const fact = (name: string, ...value: (Node | string)[]) => h("div", {}, h("dt", {}, name), h("dd", {}, ...value));

function facts(i: Incident): HTMLElement {
  const lasted = i.ended && (Date.parse(i.ended) - Date.parse(i.first ?? i.opened)) / 1000;
  return h("dl", { class: "facts" },
    fact("since", i.first ? when(i.first) : "before the data began", i.first && i.first_error_s ? ` (±${spanText(i.first_error_s)})` : ""),
    i.ended ? fact("until", when(i.ended)) : fact("last seen", when(i.last, i.first)),
    lasted ? fact("for", spanText(Math.max(0, lasted))) : null,
    i.ratio !== null && i.ratio > 0 ? fact("against its peers", ratioText(i.ratio)) : null,
    i.confidence !== null ? fact("confidence", `${Math.round(i.confidence * 100)}%`) : null,
    fact("opened", i.openings > 1 ? `${i.openings} times` : "once"));
}

function said(i: Incident): HTMLElement | null {
  const lines = [
    i.acknowledged && h("li", {}, "Acknowledged by ", nameOf(i.acknowledged.by), " at ", when(i.acknowledged.at), i.acknowledged.comment ? `: ${i.acknowledged.comment}` : ""),
    i.muted && h("li", {}, "Muted by ", nameOf(i.muted.by), ...(i.muted.until ? [" until ", when(i.muted.until)] : []), i.muted.comment ? `: ${i.muted.comment}` : ""),
    ...i.comments.map((c) => h("li", {}, nameOf(c.by), " at ", when(c.at), `: ${c.text}`)),
  ].filter((line): line is HTMLLIElement => Boolean(line));
  return lines.length ? h("ul", { class: "said", "aria-label": "notes of operators" }, ...lines) : null;
}

function steps(i: Incident): HTMLElement | null {
  if (!i.do?.length) return null;
  const lines = i.do.map((s) => {
    /* "oss5$ smartctl -a /dev/sdb" is a command on a server, anything else a sentence. */
    const command = typeof s === "string" ? /^(\S+)\$ (.+)$/s.exec(s) : null;
    if (command) return h("li", {}, "on ", nameOf(command[1]), ": ", h("code", {}, command[2]));
    if (typeof s === "string") return h("li", {}, s);
    const { host, commands, text } = s as Step;
    return h("li", {}, host ? h("span", {}, "on ", nameOf(host), ": ") : "", ...(commands ?? []).map((c) => h("code", {}, c)), text ? h("span", {}, text) : "");
  });
  return h("div", { class: "advice" }, h("b", {}, "Do"), h("ul", {}, ...lines));
}

/** The system calls behind a finding. */
function calls(list: Call[] | undefined): HTMLElement | null {
  if (!list?.length) return null;
  const row = (c: Call) => h("tr", {}, h("td", {}, h("time", { datetime: c.time }, timeText(Date.parse(c.time), current().local))), h("td", {}, nameOf(c.server)),
    h("td", {}, `${c.process} (${c.pid})`), h("td", {}, h("code", {}, c.call)), h("td", {}, h("bdi", {}, c.file ?? "")), h("td", {}, c.result),
    h("td", { class: "number" }, c.duration_s === null ? "" : spanText(c.duration_s)));
  const heads = [`time (${zoneText(Date.parse(list[0].time), current().local)})`, "server", "process", "call", "file", "result", "duration"];
  return h("div", {}, h("h3", {}, "Calls behind it"), h("div", { class: "wide" }, h("table", { class: "calls" },
    h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...list.map(row)))));
}

/** The functions in which a server differs from its peers. */
function functions(list: DifferentFunction[] | undefined): HTMLElement | null {
  if (!list?.length) return null;
  const number = (text: string) => h("td", { class: "number" }, text);
  const quantity = (value: number | null, unit = "") => number(value === null ? "" : quantityText(value, unit));
  const share = (value: number | null | undefined) => number(value === null || value === undefined ? "" : `${Math.round(100 * value)}%`);
  const row = (f: DifferentFunction) => h("tr", {}, h("td", {}, nameOf(f.function)), h("td", {}, f.metric ?? ""), quantity(f.own, f.unit),
    quantity(f.peers, f.unit), share(f.share));
  return h("div", {}, h("h3", {}, "Functions behind it"), h("div", { class: "wide" }, h("table", { class: "functions" },
    h("thead", {}, h("tr", {}, ...["function", "metric", "here", "peers", "of the difference"].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, ...list.map(row)))));
}

function componentLinks(names: string[], chosen: string | null): HTMLElement | null {
  if (names.length < 2) return null;
  const most = 40;
  return h("p", { class: "components", role: "group", "aria-label": "components of this incident" },
    ...names.slice(0, most).map((name) => h("button", { type: "button", "aria-pressed": String(name === chosen), onclick: () => change({ component: name }) }, name)),
    names.length > most ? ` and ${names.length - most} more` : "");
}

function buttons(i: Incident): HTMLElement {
  const done = (updated: Incident) => {
    addIncident(updated);
    showDetail(true);
  };
  const copied = h("button", { type: "button" }, "Copy link");
  copied.addEventListener("click", async () => {
    const url = new URL(location.href);
    url.search = new URLSearchParams({ incident: String(i.id) }).toString();
    try {
      await navigator.clipboard.writeText(url.href);
      copied.textContent = "Copied";
    } catch {
      copied.textContent = "The address bar has it";
    }
  });
  return h("p", { class: "buttons" },
    h("button", { type: "button", class: "primary", onclick: () => acknowledge(i, done) }, i.acknowledged ? "Undo acknowledgement" : "Acknowledge"),
    h("button", { type: "button", onclick: () => mute(i, done) }, i.muted ? "Unmute" : "Mute"),
    h("button", { type: "button", onclick: () => comment(i, done) }, "Add a note"), copied);
}

function showIncident(i: Incident): void {
  const component = current().component ?? i.components[0] ?? null;
  head.replaceChildren(...[
    h("p", { class: "over" }, h("span", { class: `level ${i.state === "open" ? i.level : ""}` }, i.state === "open" ? i.level.toUpperCase() : "ended"),
      i.cause ? h("span", { class: "cause-name" }, i.cause) : null),
    h("h2", {}, i.what), facts(i), i.state === "open" ? buttons(i) : null, said(i), steps(i),
    i.evidence.length ? h("ul", { class: "evidence", "aria-label": "evidence" }, ...i.evidence.map((line) => h("li", {}, line))) : null,
    functions(i.functions), calls(i.calls), componentLinks(i.components, component),
  ].filter((part): part is HTMLElement => part !== null));
}

/** The components of a server. A verdict changes them in place, so that nothing moves under the pointer and no button loses the focus. */
class ComponentTable {
  readonly element: HTMLElement;
  private readonly hint = h("p", { class: "hint" }, "Loading its components");
  private readonly body = h("tbody", {});
  private readonly rows = new Map<string, HTMLTableRowElement>();

  constructor() {
    this.element = h("div", { class: "wide tall" }, this.hint);
  }

  show(components: Component[], more: boolean): void {
    for (const [name, row] of this.rows) {
      if (components.some((c) => c.name === name)) continue;
      row.remove();
      this.rows.delete(name);
    }
    for (const c of components) this.showRow(c);
    setText(this.hint, !components.length ? "Nothing of this server has been compared yet." : more ? "There are more; search for them by name." : "");
    this.hint.hidden = !this.hint.textContent;
    const table = this.body.parentElement ?? h("table", {}, h("thead", {}, h("tr", {},
      ...["component", "state", "against its peers", "compared with", "metrics"].map((t) => h("th", {}, t)))), this.body);
    if (!components.length) table.remove();
    else if (table.parentElement !== this.element) this.element.prepend(table);
  }

  /** The components cannot be fetched. Known ones stay. */
  fail(sentence: string): void {
    if (this.rows.size) return;
    this.hint.hidden = false;
    setText(this.hint, sentence);
  }

  private showRow(c: Component): void {
    const old = this.rows.get(c.name), row = old ??
      h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => change({ component: c.name }) }, nameOf(c.name))));
    while (row.children.length > 1) row.lastElementChild!.remove();
    row.append(h("td", {}, h("span", { class: `level ${c.level}` }, c.level)), h("td", { class: "number" }, c.ratio !== null ? ratioText(c.ratio) : "-"),
      h("td", {}, c.group ?? "nothing"), h("td", {}, c.metrics.join(", ")));
    if (old) return;
    this.rows.set(c.name, row);
    this.body.append(row);
  }
}

/** The server that is shown. */
class ServerView {
  readonly load = inTurn(() => this.fetch());
  private readonly reports = h("dl", { class: "facts" });
  private readonly table = new ComponentTable();

  constructor(readonly name: string) {
    head.replaceChildren(h("p", { class: "over" }, "Server"), h("h2", {}, nameOf(name)), this.reports, this.table.element);
  }

  private async fetch(): Promise<void> {
    try {
      const { components, more } = await api.components({ observer: this.name, limit: 500 });
      if (this !== server) return;
      const order = { critical: 0, warning: 1, ok: 2 };
      components.sort((a, b) => order[a.level] - order[b.level] || Math.abs(Math.log(b.ratio || 1)) - Math.abs(Math.log(a.ratio || 1)) || a.name.localeCompare(b.name, "en", { numeric: true }));
      this.table.show(components, more);
      void showReports(this.name, this.reports);
      const first = components.find((c) => c.level !== "ok") ?? components.find((c) => c.kind === "disk");
      if (!current().component && !plots && first) showPlots(first.name, inOrder(first.name, first.metrics));
    } catch (error) {
      this.table.fail(`Its components cannot be shown: ${(error as Error).message}`);
    }
  }
}

function showServer(name: string): void {
  if (server?.name !== name) server = new ServerView(name);
  server.load();
}

/** How a server delivers: when it last did, how late it is, and whether its clock is right. */
async function showReports(name: string, list: HTMLElement): Promise<void> {
  try {
    const host = (await api.hosts()).hosts.find((other) => other.name === name);
    if (!host) return;
    list.replaceChildren(...[fact("state", host.state), host.last ? fact("last sample", when(host.last)) : null,
      host.lag_s !== null && host.lag_s !== undefined ? fact("behind by", spanText(host.lag_s)) : null,
      host.clock_skew_s ? fact("clock is off by", `${host.clock_skew_s} s`) : null].filter((part): part is HTMLDivElement => part !== null));
  } catch {
    /* its components are shown all the same */
  }
}

/** The onset and the end of a component's trouble, and the notes of operators. */
function marksOf(component: string): Mark[] {
  const marks: Mark[] = [];
  const related = incidentsOf(component), chosen = incidentOf(current().incident);
  for (const i of chosen && !related.includes(chosen) ? [...related, chosen] : related) {
    if (i.first) marks.push({ at: Date.parse(i.first) / 1000, text: i.what, kind: "onset" });
    if (i.ended) marks.push({ at: Date.parse(i.ended) / 1000, text: i.what, kind: "end" });
    for (const c of i.comments) marks.push({ at: Date.parse(c.at) / 1000, text: c.text, kind: "note" });
    if (i.acknowledged) marks.push({ at: Date.parse(i.acknowledged.at) / 1000, text: i.acknowledged.comment ?? "acknowledged", kind: "note" });
  }
  return marks;
}

/** The metrics in which the component differs from its peers come first. */
function inOrder(component: string, metrics: string[]): string[] {
  const off = (incidentOf(current().incident) ?? incidentsOf(component)[0])?.metrics ?? [];
  return [...metrics].sort((a, b) => Number(off.includes(b)) - Number(off.includes(a)));
}

const range = () => rangeAt(current().range, end);

function showPlots(component: string, metrics: string[]): void {
  plots?.destroy();
  plots = new Plots(component, metrics.slice(0, METRICS_MOST), {
    range,
    zoom: (from, to) => change({ range: rangeText(from, Math.max(to, from + 10000)) }),
    zoomOut: () => history.back(),
  });
  const made = plots;
  below.replaceChildren(h("div", { class: "head" }, h("h3", {}, nameOf(component)),
    h("span", { class: "buttons" }, onset,
      h("button", { type: "button", onclick: () => save(`${component}.csv`, "text/csv", tableOf(made.shown())) }, "Download CSV"),
      h("button", { type: "button", onclick: () => save(`${component}.json`, "application/json", JSON.stringify({ component, series: made.shown(), incidents: incidentsOf(component) }, null, 1)) }, "JSON"))),
    plots.element);
  showMarks();
}

/** Update the marks in the plots, and the button that leads to the onset. */
function showMarks(): void {
  if (!plots) return;
  plots.marks = marksOf(plots.component);
  plots.redraw();
  onset.hidden = !onsetOf(plots.component);
}

/** Where it began: a third of the time before the onset, up to ten minutes, and twice that after it. */
function onsetOf(component: string): string | null {
  const incident = incidentOf(current().incident) ?? incidentsOf(component)[0];
  if (!incident?.first) return null;
  const first = Date.parse(incident.first), last = Date.parse(incident.ended ?? incident.last);
  const before = Math.min(600000, Math.max(30000, (last - first) / 2));
  return rangeText(first - before, first + 2 * before);
}

async function findPlots(component: string, mine: number): Promise<void> {
  if (plots || mine !== turn) return;
  const incident = incidentOf(current().incident);
  try {
    const { components } = await api.components({ q: component, limit: 20 });
    if (mine !== turn) return;
    const found = components.find((c) => c.name === component);
    const metrics = found?.metrics ?? incident?.metrics ?? [];
    if (metrics.length) showPlots(component, inOrder(component, metrics));
    else below.replaceChildren(h("p", { class: "hint" }, `There are no metrics of ${component}.`));
  } catch (error) {
    if (mine === turn) below.replaceChildren(h("p", { class: "hint" }, `Its metrics cannot be shown: ${(error as Error).message}`));
  }
}

const WELCOME = "Choose an incident or a server to see it beside its peers.";

/** Show what the state names; `again`: even if it is the same as before. */
export function showDetail(again = false): void {
  const s = current(), incident = incidentOf(s.incident);
  const component = s.component ?? (s.server === null ? incident?.components[0] ?? null : null);
  const key = JSON.stringify([s.incident, s.server, component, Boolean(incident), s.local]);
  if (key === shownKey && !again) return showMarks();
  const samePlots = plots?.component === component && component !== null;
  shownKey = key;
  if (!samePlots) {
    turn++;
    plots?.destroy();
    plots = null;
    seek = null;
    below.replaceChildren();
  }
  if (s.incident !== null || s.server === null) server = null;
  if (incident) showIncident(incident);
  else if (s.incident !== null) void fetchIncident(s.incident);
  else if (s.server !== null) showServer(s.server);
  else if (component !== null) head.replaceChildren(h("p", { class: "over" }, "Component"), h("h2", {}, nameOf(component)));
  else head.replaceChildren(h("p", { class: "welcome" }, WELCOME));
  if (component !== null && !samePlots) {
    const mine = turn;
    seek = inTurn(() => findPlots(component, mine));
    seek();
  } else showMarks();
}

async function fetchIncident(id: string): Promise<void> {
  head.replaceChildren(h("p", { class: "hint" }, "Loading"));
  try {
    addIncident(await api.incident(id));
    showDetail(true);
  } catch (error) {
    head.replaceChildren(h("p", { class: "hint" }, `Incident ${id} cannot be shown: ${(error as Error).message}`));
  }
}

/** There is a new verdict. It may have components that the last one had not; a collector that has just started has none. */
export function refresh(): void {
  server?.load();
  seek?.();
}

/** The data now reaches this time: plots of the last minutes move. */
export function advance(to: number): void {
  end = to;
  if (!current().range.includes("..")) plots?.follow();
}
export function reload(): void {
  void plots?.load();
}
export function recolourDetail(): void {
  plots?.recolour();
}
