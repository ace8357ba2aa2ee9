/** The plots of one component: one per metric, with one cursor and one range for all of them. */
import uPlot from "uplot";
import { api, type Series } from "./api";
import { h, setText } from "./dom";
import { current } from "./state";
import { quantityText, ratioText, timeText, timeTicks, unitOf, zoneText } from "./words";

/** Something that is marked in all plots: the onset, the end, a note of an operator. */
export interface Mark { at: number; text: string; kind: "onset" | "end" | "note" }

const HEIGHT = 150;
const POINTS = 600;
const AT_ONCE = 4;
const PERCENTILE_BAND = "10th to 90th percentile of them";

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The current colours; canvas does not support light-dark(). */
function palette(): Record<string, string> {
  const probe = h("i", { hidden: true });
  document.body.append(probe);
  const names = ["own", "median", "band", "line", "muted", "ink", "focus", "shade", "card"];
  const found = Object.fromEntries(names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  }));
  probe.remove();
  return found;
}

/** Marks as lines across the plot, with a small flag each. A word that would lie on another one is left out. */
function drawMarks(u: uPlot, marks: Mark[], colours: Record<string, string>): void {
  const { ctx, bbox } = u, ratio = devicePixelRatio;
  let free = -Infinity;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.4 * ratio;
  for (const mark of [...marks].sort((a, b) => a.at - b.at)) {
    const x = u.valToPos(mark.at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = mark.kind === "note" ? colours.focus : colours.ink;
    ctx.fillStyle = ctx.strokeStyle;
    ctx.setLineDash(mark.kind === "note" ? [2 * ratio, 2 * ratio] : [5 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (mark.kind === "note") {
      ctx.beginPath();
      ctx.arc(x, bbox.top + 5 * ratio, 4 * ratio, 0, 7);
      ctx.fill();
    } else {
      ctx.font = `${11 * ratio}px system-ui, sans-serif`;
      const room = bbox.left + bbox.width - x > 50 * ratio, width = ctx.measureText(mark.kind).width + 8 * ratio;
      if (x - (room ? 0 : width) < free) continue;
      free = x + (room ? width : 0);
      ctx.textAlign = room ? "left" : "right";
      const at = [x + (room ? 4 : -4) * ratio, bbox.top + 11 * ratio] as const;
      ctx.setLineDash([]); // a rim, because the lines of the plot may run through the word
      ctx.strokeStyle = colours.card;
      ctx.lineJoin = "round";
      ctx.lineWidth = 4 * ratio;
      ctx.strokeText(mark.kind, ...at);
      ctx.fillText(mark.kind, ...at);
      ctx.lineWidth = 1.4 * ratio;
    }
  }
  ctx.restore();
}

class MetricPlot {
  readonly element: HTMLElement;
  private readonly values = h("span", { class: "reading" });
  private readonly box = h("div", { class: "canvas" });
  private readonly empty = h("p", { class: "hint empty" }, "Loading");
  private plot: uPlot | null = null;
  series: Series | null = null;
  loaded = "";

  constructor(readonly metric: string, private readonly owner: Plots) {
    this.element = h("figure", { class: "plot", "aria-label": `${metric} over time` },
      h("figcaption", {}, h("b", {}, metric), " ", this.values), this.box);
    this.box.append(this.empty);
  }

  /** Show the values at the cursor, or the last ones. */
  read(index: number | null | undefined): void {
    const s = this.series;
    if (!s || !s.t.length) return setText(this.values, "");
    const at = index ?? lastValue(s), own = s.value[at], median = s.median[at];
    const ratio = own !== null && median ? own / median : null;
    setText(this.values, `${quantityText(own ?? null, s.unit)}, peers ${quantityText(median ?? null, s.unit)}` +
      (ratio !== null && Number.isFinite(ratio) ? `, ${ratioText(ratio)}` : ""));
    this.box.setAttribute("aria-label", `${this.metric}: ${this.values.textContent} at ${timeText(s.t[at] * 1000, current().local)}`);
  }

  show(series: Series): void {
    this.series = series;
    const data = [series.t, series.high, series.low, series.median, series.value] as uPlot.AlignedData;
    const some = series.value.some((v) => v !== null) || series.median.some((v) => v !== null);
    this.empty.hidden = some;
    setText(this.empty, some ? "" : "There is no data in this time.");
    this.owner.began();
    if (!this.plot) this.plot = new uPlot(this.options(), data, this.box);
    else this.plot.setData(data, false);
    this.rescale();
    this.read(null);
  }

  rescale(): void {
    const [from, to] = this.owner.drawn();
    this.plot?.setScale("x", { min: from / 1000, max: to / 1000 });
  }

  fail(sentence: string): void {
    if (this.plot) return;
    this.empty.hidden = false;
    setText(this.empty, sentence);
  }

  resize(): void {
    const width = Math.floor(this.box.clientWidth);
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
  }

  redraw(): void {
    this.plot?.redraw(false, true);
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
  }

  private options(): uPlot.Options {
    const c = palette(), font = `11px ${colour("font-family") || "system-ui, sans-serif"}`;
    return {
      width: Math.max(100, Math.floor(this.box.clientWidth)), height: HEIGHT,
      legend: { show: false }, padding: [6, 8, 0, 0],
      cursor: {
        sync: { key: "limpet", setSeries: false }, points: { show: false }, y: false,
        drag: { x: true, y: false, setScale: false }, bind: { dblclick: (_u, _t, _h) => () => { this.owner.zoomOut(); return null; } },
      },
      scales: {
        x: { time: false, range: () => this.owner.drawn().map((ms) => ms / 1000) as [number, number] },
        y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
      },
      axes: [
        { stroke: c.muted, font, size: 24, gap: 4, grid: { stroke: c.line, width: 1 }, ticks: { show: false },
          splits: (u, _a, min, max) => timeTicks(min * 1000, max * 1000, u.bbox.width / devicePixelRatio, current().local).map((t) => t.at / 1000),
          values: (u, splits) => {
            const ticks = timeTicks(u.scales.x.min! * 1000, u.scales.x.max! * 1000, u.bbox.width / devicePixelRatio, current().local);
            return splits.map((s) => ticks.find((t) => t.at / 1000 === s)?.text ?? "");
          } },
        { stroke: c.muted, font, size: 66, gap: 4, grid: { stroke: c.line, width: 1 }, ticks: { show: false },
          splits: (_u, _a, _min, max) => this.yTicks(max), values: (_u, splits) => splits.map((v) => quantityText(v, this.series?.unit ?? "")) },
      ],
      series: [
        {},
        { label: "high", stroke: "transparent", points: { show: false } },
        { label: "low", stroke: "transparent", points: { show: false } },
        { label: "median", stroke: c.median, width: 1.6, points: { show: false }, spanGaps: false },
        { label: "own", stroke: c.own, width: 1.8, points: { size: 3 }, spanGaps: false },
      ],
      bands: [{ series: [1, 2], fill: c.band.replace("rgb(", "rgba(").replace(")", ", 0.4)") }],
      hooks: {
        setCursor: [(u) => this.owner.readAt(u.cursor.left !== undefined && u.cursor.left >= 0 ? u.cursor.idx ?? null : null)],
        setSelect: [(u) => {
          if (u.select.width < 4) return;
          const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          this.owner.zoom(from * 1000, to * 1000);
        }],
        draw: [(u) => drawMarks(u, this.owner.marks, c)],
      },
    };
  }

  private yTicks(max: number): number[] {
    const unit = this.series?.unit ?? "", [size] = unitOf(max, unit), least = max / size / 4;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least)! * size, ticks = [];
    for (let i = 0; i * step <= max && i < 8; i++) ticks.push(i * step);
    return ticks;
  }
}

function lastValue(s: Series): number {
  let at = s.value.length - 1;
  while (at > 0 && s.value[at] === null) at--;
  return Math.max(0, at);
}

export interface PlotsOptions {
  range(): [number, number];
  zoom(from: number, to: number): void;
  zoomOut(): void;
}

export class Plots {
  readonly element: HTMLElement;
  marks: Mark[] = [];
  private plots: MetricPlot[] = [];
  private abort = new AbortController();
  private readonly peers = h("span", {}, "median of its peers");
  private readonly when = h("span", { class: "when" });
  private readonly watcher = new ResizeObserver(() => this.plots.forEach((plot) => plot.resize()));
  private readonly seen = new IntersectionObserver((entries) => {
    for (const entry of entries) this.visible.set(entry.target, entry.isIntersecting);
    void this.load();
  }, { rootMargin: "300px" });
  private readonly visible = new Map<Element, boolean>();
  private loading = false;
  private again = false;
  private first = Infinity; /* seconds at which the earliest series begins */
  private rested = 0; /* no request before this time */

  constructor(readonly component: string, metrics: string[], private readonly options: PlotsOptions) {
    this.plots = metrics.map((metric) => new MetricPlot(metric, this));
    this.element = h("div", { class: "plots" },
      h("p", { class: "legend" }, h("span", {}, key("own"), h("bdi", { class: "name" }, component)),
        h("span", {}, key("median"), this.peers), h("span", {}, key("band"), PERCENTILE_BAND), this.when),
      ...this.plots.map((plot) => plot.element));
    this.watcher.observe(this.element);
    for (const plot of this.plots) this.seen.observe(plot.element);
  }

  range(): [number, number] {
    return this.options.range();
  }
  /** The drawn part of the range: the time before the data began is left out. */
  drawn(): [number, number] {
    const [from, to] = this.range(), first = this.first * 1000;
    if (current().range.includes("..") || !(first > from) || first >= to) return [from, to];
    return [Math.max(from, first - (to - first) * 0.04), to];
  }
  /** A series has arrived: update the time at which the earliest one begins. */
  began(): void {
    const first = Math.min(...this.plots.map((plot) => plot.series?.t[0] ?? Infinity));
    if (first === this.first) return;
    this.first = first;
    for (const plot of this.plots) plot.rescale();
  }
  zoom(from: number, to: number): void {
    this.options.zoom(from, to);
  }
  zoomOut(): void {
    this.options.zoomOut();
  }

  /** All plots show their values at the cursor. */
  readAt(index: number | null): void {
    for (const plot of this.plots) plot.read(index);
    const series = this.plots.find((plot) => plot.series)?.series, local = current().local;
    const at = index === null ? null : series?.t[index];
    if (at === null || at === undefined) return setText(this.when, "");
    const [from, to] = this.drawn(), near = (to - from) / 1000 / 80;
    const mark = this.marks.find((m) => Math.abs(m.at - at) < near);
    setText(this.when, `${mark ? `${mark.kind}: ${mark.text} · ` : ""}${timeText(at * 1000, local)} ${zoneText(at * 1000, local)}`);
  }

  /** The data has grown. If the collector answers slowly, it is asked less often. */
  follow(): void {
    if (this.loading || performance.now() < this.rested) return;
    void this.load();
  }

  /** Fetch visible plots that are missing, a few at a time; later requests come afterwards. */
  async load(): Promise<void> {
    if (this.loading) {
      this.again = true;
      return;
    }
    const start = performance.now();
    this.loading = true;
    await this.fetch();
    this.loading = false;
    this.rested = performance.now() + Math.max(1000, 4 * (performance.now() - start));
    if (this.again && !this.abort.signal.aborted) {
      this.again = false;
      void this.load();
    }
  }

  private async fetch(): Promise<void> {
    const [from, to] = this.range(), wanted = `${from} ${to}`, signal = this.abort.signal;
    const waiting = this.plots.filter((plot) => this.visible.get(plot.element) && plot.loaded !== wanted);
    for (const plot of waiting) plot.loaded = wanted;
    const next = async (): Promise<void> => {
      const plot = waiting.shift();
      if (!plot || signal.aborted) return;
      try {
        const series = await api.series({ component: this.component, metric: plot.metric,
          since: new Date(from).toISOString(), until: new Date(to).toISOString(), points: POINTS }, signal);
        if (signal.aborted) return;
        setText(this.peers, `median of its ${series.peers} peers`);
        plot.show(series);
      } catch (error) {
        plot.loaded = "";
        if (!signal.aborted) plot.fail(String((error as Error).message));
      }
      return next();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  }

  /** Colours, times or marks changed. */
  redraw(): void {
    for (const plot of this.plots) plot.redraw();
  }

  /** The colours have changed: draw the plots again from scratch. */
  recolour(): void {
    for (const plot of this.plots) {
      plot.destroy();
      if (plot.series) plot.show(plot.series);
    }
  }

  shown(): Series[] {
    return this.plots.map((plot) => plot.series).filter((series): series is Series => series !== null);
  }

  destroy(): void {
    this.abort.abort();
    this.watcher.disconnect();
    this.seen.disconnect();
    for (const plot of this.plots) plot.destroy();
  }
}

const key = (name: string) => h("i", { class: `line ${name}`, "aria-hidden": "true" });
