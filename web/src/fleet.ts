/** The fleet: a cell per server on a canvas, so that thousands of servers stay cheap. */
import type { Fleet, Server } from "./api";
import { byId, h, setText, timed, tip } from "./dom";
import { change, current } from "./state";
import { ratioText } from "./words";

interface Cell { server: Server; x: number; y: number }
interface Label { text: string; x: number; y: number }

const GAP = 3;
const EDGE = 2; /* borders of the outermost cells need room */
const LABEL = 20;
const SIZES = [46, 34, 26, 20, 16, 13, 11, 9, 7];
const HEIGHT_MOST = 420;
const NAME_FROM = 46; /* cells of this size have room for a name */
const STEPS = [0, 2, 4, 6, 9, 12]; /* quarters of a doubling at which the next colour begins */

let groups: Fleet["groups"] = [];
let cells: Cell[] = [];
let labels: Label[] = [];
let byName = new Map<string, Cell>();
let size = SIZES[0];
let cursor = -1;
let colours: Record<string, string> = {};

const canvas = h("canvas", { tabindex: 0, role: "img" });
const summary = h("p", { class: "hint" });
const spoken = h("p", { class: "visually-hidden", "aria-live": "polite" });

/** The colour of a cell: by how far its worst component is from its peers. */
function colourName(server: Server): string {
  if (server.state === "silent") return "absent";
  const r = server.ratio;
  if (r === null || !(r > 0)) return server.level === "critical" ? "a4" : server.level === "warning" ? "a2" : "a0";
  const level = Math.abs(Math.log2(r) * 4), at = STEPS.findLastIndex((from) => level >= from);
  if (server.level === "ok" && at > 1) return r > 1 ? "a1" : "b1";
  return at <= 0 ? (server.level === "ok" ? "a0" : "a2") : `${r > 1 ? "a" : "b"}${at}`;
}

function readColours(): void {
  const probe = h("i", { hidden: true });
  document.body.append(probe);
  const names = ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "b3", "b4", "b5", "absent", "paper", "line", "ink", "muted", "card", "critical", "focus"];
  colours = Object.fromEntries(names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  }));
  colours.a0 = colours.paper;
  probe.remove();
}

/** Place cells of a size; returns the height that they take. */
function place(width: number, cellSize: number): number {
  const step = cellSize + GAP, some = groups.length > 1;
  let x = EDGE, y = EDGE, rowHeight = 0;
  cells = [];
  labels = [];
  for (const group of groups) {
    const n = group.servers.length, labelled = some && group.name !== "";
    const most = Math.max(1, Math.floor((width + GAP - 2 * EDGE) / step));
    const columns = Math.min(n, most, Math.max(Math.ceil(Math.sqrt(n * 2.2)), labelled ? Math.ceil(90 / step) : 1));
    const groupWidth = Math.max(columns * step, labelled ? Math.min(width, 96) : 0) + 12;
    if (x > EDGE && x + groupWidth - 12 > width) {
      x = EDGE;
      y += rowHeight;
      rowHeight = 0;
    }
    if (labelled) labels.push({ text: group.name, x, y: y + 13 });
    group.servers.forEach((server, i) => cells.push({ server, x: x + (i % columns) * step, y: y + (labelled ? LABEL : 0) + Math.floor(i / columns) * step }));
    rowHeight = Math.max(rowHeight, Math.ceil(n / columns) * step + (labelled ? LABEL : 0) + 8);
    x += groupWidth;
  }
  return y + rowHeight;
}

function layout(): void {
  const width = Math.floor(canvas.parentElement?.clientWidth ?? 0);
  if (!width) return;
  let height = 0;
  for (size of SIZES) {
    height = place(width, size);
    if (height <= HEIGHT_MOST) break;
  }
  byName = new Map(cells.map((cell) => [cell.server.name, cell]));
  const ratio = devicePixelRatio, h1 = Math.max(20, height);
  canvas.width = width * ratio;
  canvas.height = h1 * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${h1}px`;
  draw();
}

function drawCell(ctx: CanvasRenderingContext2D, cell: Cell): void {
  const { server, x, y } = cell, q = current().q.toLowerCase();
  const silent = server.state === "silent", name = colourName(server);
  ctx.clearRect(x - 2, y - 2, size + 4, size + 4);
  ctx.globalAlpha = q && !server.name.toLowerCase().includes(q) ? 0.22 : 1;
  ctx.fillStyle = silent ? colours.card : colours[name];
  ctx.beginPath();
  ctx.roundRect(x, y, size, size, Math.min(6, size / 5));
  ctx.fill();
  ctx.lineWidth = server.level === "critical" ? 2 : 1;
  ctx.strokeStyle = silent ? colours.absent : server.level === "critical" ? colours.critical : colours.line;
  ctx.stroke();
  if (silent) {
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(x + size * 0.25, y + size * 0.25);
    ctx.lineTo(x + size * 0.75, y + size * 0.75);
    ctx.moveTo(x + size * 0.75, y + size * 0.25);
    ctx.lineTo(x + size * 0.25, y + size * 0.75);
    ctx.stroke();
  } else if (server.state === "late") {
    ctx.fillStyle = colours.absent;
    ctx.beginPath();
    ctx.arc(x + size - Math.max(3, size / 6), y + Math.max(3, size / 6), Math.max(2, size / 9), 0, 7);
    ctx.fill();
  }
  if (size >= NAME_FROM && !silent) {
    ctx.fillStyle = /[ab][45]/.test(name) ? colours.card : colours.ink;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.fillText(shortened(ctx, server.name, size - 6), x + size / 2, y + size / 2 + 4);
  }
  if (server.name === current().server || cells[cursor] === cell) {
    ctx.globalAlpha = 1;
    ctx.strokeStyle = colours.focus;
    ctx.lineWidth = 2;
    ctx.strokeRect(x - 1, y - 1, size + 2, size + 2);
  }
  ctx.globalAlpha = 1;
}

function shortened(ctx: CanvasRenderingContext2D, text: string, width: number): string {
  if (ctx.measureText(text).width <= width) return text;
  for (let n = text.length - 1; n > 1; n--) {
    const short = `…${text.slice(text.length - n)}`;
    if (ctx.measureText(short).width <= width) return short;
  }
  return "";
}

function context(): CanvasRenderingContext2D {
  const ctx = canvas.getContext("2d")!;
  ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  return ctx;
}

export function draw(): void {
  const ctx = context();
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  for (const cell of cells) drawCell(ctx, cell);
  ctx.fillStyle = colours.muted;
  ctx.font = "12px system-ui, sans-serif";
  ctx.textAlign = "left";
  for (const label of labels) ctx.fillText(shortened(ctx, label.text, 110) || label.text, label.x, label.y);
}

const words = (server: Server) => {
  const off = server.ratio !== null && server.level !== "ok" ? `, ${ratioText(server.ratio)} its peers` : "";
  return `${server.name}: ${server.state === "ok" ? server.level : server.state}${off}${server.worst && server.level !== "ok" ? `\n${server.worst}` : ""}`;
};

function describe(): void {
  const all = groups.flatMap((g) => g.servers), count = (test: (s: Server) => boolean) => all.filter(test).length;
  const parts = [`${all.length} server${all.length === 1 ? "" : "s"}`, ...([["critical", count((s) => s.level === "critical")],
    ["with warnings", count((s) => s.level === "warning")], ["late", count((s) => s.state === "late")],
    ["silent", count((s) => s.state === "silent")]] as [string, number][]).filter(([, n]) => n).map(([what, n]) => `${n} ${what}`)];
  setText(summary, all.length ? `${parts.join(", ")}. Each cell is a server, coloured by its component that is furthest from its peers.` : "No server has reported yet.");
  canvas.setAttribute("aria-label", `${parts.join(", ")}. Arrow keys move from server to server, Enter shows one.`);
}

const cellAt = (event: MouseEvent) => {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  return cells.find((cell) => x >= cell.x - 1 && x <= cell.x + size + 1 && y >= cell.y - 1 && y <= cell.y + size + 1);
};

function moveCursor(event: KeyboardEvent): void {
  const from = cells[cursor];
  if (event.key === "Enter" && from) return change({ server: from.server.name, component: null, incident: null });
  const nearest = (dx: number, dy: number) => {
    if (!from) return 0;
    const ahead = cells.map((cell, i) => ({ i, along: (cell.x - from.x) * dx + (cell.y - from.y) * dy,
      aside: Math.abs((cell.x - from.x) * dy + (cell.y - from.y) * dx) })).filter((c) => c.along > 0);
    ahead.sort((a, b) => a.along + 3 * a.aside - b.along - 3 * b.aside);
    return ahead[0]?.i ?? cursor;
  };
  const moves: Record<string, [number, number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  const move = moves[event.key];
  if (!move || !cells.length) return;
  event.preventDefault();
  cursor = nearest(...move);
  setText(spoken, words(cells[cursor].server));
  draw();
}

export function initFleet(): void {
  const scale = h("p", { class: "scale", "aria-hidden": "true" }, h("span", {}, "below its peers"),
    ...["b4", "b3", "b2", "a0", "a2", "a3", "a4", "a5"].map((name) => h("i", { class: `swatch ${name}` })),
    h("span", {}, "above them"), h("i", { class: "swatch silent" }), h("span", {}, "silent"));
  byId("fleet").append(h("div", { class: "head" }, h("h2", {}, "Fleet"), scale), summary, h("div", { class: "map" }, canvas), spoken);
  readColours();
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    canvas.style.cursor = cell ? "pointer" : "";
    tip(cell ? words(cell.server) : null, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", () => tip(null));
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (cell) change({ server: cell.server.name, component: null, incident: null });
  });
  canvas.addEventListener("keydown", moveCursor);
  canvas.addEventListener("blur", () => {
    cursor = -1;
    draw();
  });
  new ResizeObserver(() => layout()).observe(canvas.parentElement!);
}

export function recolourFleet(): void {
  readColours();
  draw();
}

export const serverNames = () => cells.map((cell) => cell.server.name);

export function showFleet(fleet: Fleet): void {
  timed("fleet", () => {
    groups = fleet.groups;
    layout();
    describe();
  });
}

/** Update some servers. False: one of them is new, so the whole fleet must be fetched. */
export function updateServers(servers: Server[]): boolean {
  return timed("fleet update", () => {
    const ctx = context();
    for (const server of servers) {
      const cell = byName.get(server.name);
      if (!cell) return false;
      Object.assign(cell.server, server);
      drawCell(ctx, cell);
    }
    describe();
    return true;
  });
}
