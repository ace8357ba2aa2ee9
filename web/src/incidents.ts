/** The list of incidents: open ones, newest first, and below them those that have ended. */
import type { Incident } from "./api";
import { acknowledge, mute } from "./dialogs";
import { byId, h, setText, timed } from "./dom";
import { change, current } from "./state";
import { spanText, timeText } from "./words";

const incidents = new Map<string, Incident>();
const rows = new Map<string, Row>();
let now = Date.now();
let more = false;

const openList = h("ol", { "aria-label": "open incidents" });
const endedList = h("ol", { "aria-label": "ended incidents" });
const none = h("p", { class: "hint none" });
const endedNone = h("p", { class: "hint none" }, "None in this time.");
const heading = h("h2", {}, "Incidents");
const held = h("button", { type: "button", class: "held", onclick: () => arrange(true) });
let holding = false;

/** One incident in the list. Changes are written in place, so that nothing moves. */
class Row {
  readonly element: HTMLLIElement;
  private readonly link = h("a", { class: "pick" });
  private readonly level = h("span", { class: "level" });
  private readonly what = h("span", { class: "title" });
  private readonly when = h("span", { class: "what" });
  private readonly tags = h("span", { class: "tags" });
  private readonly ack = h("button", { type: "button", onclick: () => this.act(acknowledge) });
  private readonly mute = h("button", { type: "button", onclick: () => this.act(mute) });
  private incident!: Incident;

  constructor() {
    this.link.append(h("span", { class: "line1" }, this.level, this.when), this.what, this.tags);
    this.link.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      choose(String(this.incident.id));
    });
    this.element = h("li", {}, this.link, h("span", { class: "actions" }, this.ack, this.mute));
  }

  show(incident: Incident): void {
    this.incident = incident;
    const id = String(incident.id), chosen = current().incident === id, open = incident.state === "open";
    this.link.setAttribute("href", `?${new URLSearchParams({ incident: id })}`);
    this.link.setAttribute("aria-current", String(chosen));
    this.element.className = `${incident.level}${incident.muted ? " muted" : ""}`;
    this.level.className = `level ${open ? incident.level : ""}`;
    setText(this.level, open ? incident.level.toUpperCase() : "ended");
    setText(this.what, incident.what);
    this.tick();
    const tags = [incident.acknowledged && `acknowledged by ${incident.acknowledged.by}`, incident.muted && "muted",
      incident.openings > 1 && `opened ${incident.openings} times`].filter(Boolean).join(" · ");
    setText(this.tags, tags);
    setText(this.ack, incident.acknowledged ? "Acknowledged" : "Acknowledge");
    this.ack.setAttribute("aria-pressed", String(Boolean(incident.acknowledged)));
    this.ack.setAttribute("aria-label", `${incident.acknowledged ? "Take back the acknowledgement of" : "Acknowledge"}: ${incident.what}`);
    setText(this.mute, incident.muted ? "Muted" : "Mute");
    this.mute.setAttribute("aria-pressed", String(Boolean(incident.muted)));
    this.mute.setAttribute("aria-label", `${incident.muted ? "Unmute" : "Mute"}: ${incident.what}`);
    this.ack.hidden = this.mute.hidden = !open;
  }

  /** Update the times that depend on the current one. */
  tick(): void {
    const { first, ended, opened } = this.incident, local = current().local, begin = Date.parse(first ?? opened);
    const since = `${first ? "" : "before "}${timeText(begin, local).slice(5, 16)}`;
    setText(this.when, ended ? `${since}, for ${spanText(Math.max(0, Date.parse(ended) - begin) / 1000)}`
      : `since ${since}, ${spanText(Math.max(0, now - begin) / 1000)}`);
  }

  private act(what: (incident: Incident, done: (incident: Incident) => void) => void): void {
    what(this.incident, (incident) => {
      addIncident(incident);
      dispatchEvent(new CustomEvent("limpet-incident", { detail: incident }));
    });
  }
}

export function initIncidents(): void {
  byId("incidents").append(h("div", { class: "head" }, heading, held), none, openList,
    h("h3", {}, "Ended"), endedNone, endedList);
  held.hidden = true;
  for (const list of [openList, endedList]) {
    list.addEventListener("pointerenter", () => { holding = true; });
    list.addEventListener("pointerleave", () => {
      holding = false;
      arrange();
    });
  }
}

const matches = (incident: Incident, q: string) =>
  !q || [incident.what, incident.part, incident.cause ?? "", ...incident.components].some((text) => text.toLowerCase().includes(q));
const newest = (a: Incident, b: Incident) => Date.parse(b.opened) - Date.parse(a.opened) || String(b.id).localeCompare(String(a.id), "en", { numeric: true });

export function shownIncidents(): Incident[] {
  const q = current().q.toLowerCase(), all = [...incidents.values()].filter((i) => matches(i, q)).sort(newest);
  return [...all.filter((i) => i.state === "open"), ...all.filter((i) => i.state === "ended")];
}

function fill(list: HTMLElement, wanted: Incident[]): void {
  const elements = wanted.map((incident) => {
    const id = String(incident.id), row = rows.get(id) ?? new Row();
    rows.set(id, row);
    row.show(incident);
    return row.element;
  });
  elements.forEach((element, at) => {
    if (list.children[at] !== element) list.insertBefore(element, list.children[at] ?? null);
  });
  while (list.children.length > elements.length) list.lastElementChild!.remove();
}

/** Sort the list; while the pointer is over it, only existing entries change. */
export function arrange(force = false): void {
  timed("incidents", () => {
    const shown = shownIncidents(), open = shown.filter((i) => i.state === "open"), ended = shown.filter((i) => i.state === "ended");
    const added = open.filter((i) => !rows.has(String(i.id)) || !rows.get(String(i.id))!.element.isConnected);
    if (holding && !force && added.length && openList.children.length) {
      for (const incident of shown) rows.get(String(incident.id))?.show(incident);
      held.hidden = false;
      setText(held, `${added.length} new`);
      return;
    }
    held.hidden = true;
    fill(openList, open);
    fill(endedList, ended);
    none.hidden = open.length > 0;
    setText(none, current().q ? "No open incident matches the search." : "Nothing is wrong.");
    endedNone.hidden = ended.length > 0;
    setText(endedNone, more ? "Older ones are not shown." : "None in this time.");
    setText(heading, open.length ? `Incidents (${open.length})` : "Incidents");
  });
}

export function setIncidents(list: Incident[], thereIsMore: boolean): void {
  incidents.clear();
  more = thereIsMore;
  for (const incident of list) incidents.set(String(incident.id), incident);
  arrange(!holding);
}

export function addIncident(incident: Incident): void {
  incidents.set(String(incident.id), { ...incidents.get(String(incident.id)), ...incident });
  arrange();
}

export const incidentOf = (id: string | null) => (id === null ? undefined : incidents.get(id));

/** Incidents about a component, so that its plots can be marked. */
export const incidentsOf = (component: string) => [...incidents.values()].filter((i) => i.components.includes(component) || i.part === component);

export function tickIncidents(at: number): void {
  now = at;
  for (const row of rows.values()) if (row.element.isConnected) row.tick();
}

export function choose(id: string): void {
  change({ incident: id, component: null, server: null });
  rows.get(id)?.element.scrollIntoView({ block: "nearest" });
}

/** The next or the previous one. */
export function step(by: 1 | -1): void {
  const shown = shownIncidents(), at = shown.findIndex((i) => String(i.id) === current().incident);
  const next = shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))];
  if (next) choose(String(next.id));
}

