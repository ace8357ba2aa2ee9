/* Numbers and times as people write them. The page imports this file, the HTML report embeds it as
 * it is: plain JavaScript, and nothing imported. src/model/quantity.c does the same in C. */

const BYTES = [[1e15, 1e15, " PB"], [1e12, 1e12, " TB"], [1e9, 1e9, " GB"], [1e6, 1e6, " MB"], [1e3, 1e3, " kB"], [0, 1, " B"]];
const TIMES = [[172800, 86400, " days"], [3600, 3600, " h"], [60, 60, " min"], [1, 1, " s"], [1e-3, 1e-3, " ms"], [1e-6, 1e-6, " us"], [0, 1e-9, " ns"]];
/** @type {Record<string, [typeof BYTES, number, string]>} */
const SCALES = {
  "bytes": [BYTES, 1, ""], "bytes/s": [BYTES, 1, "/s"], "B": [BYTES, 1, ""], "B/s": [BYTES, 1, "/s"],
  "kB": [BYTES, 1e3, ""], "kB/s": [BYTES, 1e3, "/s"], "MB": [BYTES, 1e6, ""], "MB/s": [BYTES, 1e6, "/s"],
  "sectors": [BYTES, 512, ""], "sectors/s": [BYTES, 512, "/s"],
  "ns": [TIMES, 1e-9, ""], "us": [TIMES, 1e-6, ""], "ms": [TIMES, 1e-3, ""], "s": [TIMES, 1, ""],
};

/**
 * The divisor for values of about this size, and the unit after them.
 * @param {number} value @param {string} unit @returns {[number, string]}
 */
export function unitOf(value, unit) {
  const scale = Object.hasOwn(SCALES, unit) ? SCALES[unit] : undefined;
  if (scale) {
    const [steps, factor, per] = scale;
    const step = steps.find(([from]) => Math.abs(value) * factor >= Number(from) * 0.9995) ?? steps[steps.length - 1];
    return [Number(step[1]) / factor, step[2] + per];
  }
  if (unit.startsWith("1/")) return [1, unit.slice(1)];
  return [1, unit === "%" || unit.startsWith("/") || !unit ? unit : ` ${unit}`];
}

/** @param {number} value @returns {string} three digits at least */
export function numberText(value) {
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(2);
  return String(size >= 99.95 ? Math.round(value) : Number(value.toPrecision(3)));
}

/** @param {number | null} value @param {string} unit */
export function quantityText(value, unit) {
  if (value === null || Number.isNaN(value)) return "no data";
  if (value === 0) return "0";
  const [size, suffix] = unitOf(value, unit);
  return numberText(value / size) + suffix;
}

/** @param {number} ratio */
export function ratioText(ratio) {
  return `${numberText(Number(ratio.toPrecision(2)))}x`;
}

/** @param {number} seconds @returns {string} "2 s", "1m19s", "37 min", "2h30m", "3 days" */
export function spanText(seconds) {
  const s = Math.round(seconds), min = Math.round(seconds / 60), h = Math.round(seconds / 3600);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  if (s < 60) return `${s} s`;
  if (s < 600) return s % 60 ? `${Math.floor(s / 60)}m${two(s % 60)}s` : `${s / 60} min`;
  if (min < 60) return `${min} min`;
  if (h < 48) return min % 60 ? `${Math.floor(min / 60)}h${two(min % 60)}m` : `${min / 60} h`;
  return `${Math.round(h / 24)} days`;
}

/** Milliseconds to add to UTC at that time. @param {number} ms @param {boolean} local */
const offsetOf = (ms, local) => (local ? -new Date(ms).getTimezoneOffset() * 60000 : 0);

/** @param {number} ms @param {boolean} local @returns {string} "2026-11-17 12:34:21" */
export function timeText(ms, local) {
  const shifted = new Date(ms + offsetOf(ms, local));
  return Number.isNaN(shifted.getTime()) ? "unknown" : shifted.toISOString().slice(0, 19).replace("T", " ");
}

/** "UTC", or how far local time is from it: "UTC+01:00". @param {number} ms @param {boolean} local */
export function zoneText(ms, local) {
  const minutes = offsetOf(ms, local) / 60000, size = Math.abs(minutes);
  if (!local) return "UTC";
  return `UTC${minutes < 0 ? "-" : "+"}${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`;
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
  172800, 604800, 1209600, 2419200];

/**
 * Labels of a time axis with this many pixels: as many as fit without touching each other.
 * @param {number} from @param {number} to @param {number} width @param {boolean} local
 * @returns {{at: number, text: string}[]}
 */
export function timeTicks(from, to, width, local) {
  const range = to - from, offset = offsetOf(from, local), ticks = [];
  if (!(range > 0) || !(width > 0)) return [];
  const step = 1000 * (TIME_STEPS.find((s) => (s * 1000 / range) * width >= (s < 60 ? 74 : 58)) ??
    Math.ceil((range / 1000 * 58) / width / 86400) * 86400);
  for (let at = Math.ceil((from + offset) / step) * step - offset; at <= to && ticks.length < 40; at += step) {
    const text = timeText(at, local);
    const midnight = text.endsWith("00:00:00");
    const day = new Date(at + offset).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
    ticks.push({ at, text: midnight ? day : text.slice(11, step < 60000 ? 19 : 16) });
  }
  return ticks;
}

/**
 * Round values from 0 on, about n of them, for an axis up to `top` of a unit.
 * @param {number} top @param {string} unit @param {number} n @returns {number[]}
 */
export function valueTicks(top, unit, n) {
  const [size] = unitOf(top, unit), least = top / size / n;
  const power = 10 ** Math.floor(Math.log10(least)), ticks = [];
  const step = (least <= power ? power : least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power) * size;
  if (!(step > 0) || !Number.isFinite(step)) return [0];
  for (let i = 0; i * step <= top && i <= n; i++) ticks.push(i * step);
  return ticks;
}
