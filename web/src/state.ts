/** The state of the page. It is in the address, so every state can be shared by a link. */

export interface State {
  incident: string | null;
  server: string | null;
  component: string | null;
  /** "15m", "1h", "24h", or "FROM..TO" in ISO 8601. */
  range: string;
  local: boolean;
  q: string;
  theme: "light" | "dark" | null;
}

const SPANS: Record<string, number> = { "15m": 900, "1h": 3600, "24h": 86400 };
const DEFAULT_RANGE = "15m";

let state: State = read();
const listeners: ((before: State) => void)[] = [];

function read(): State {
  const values = new URLSearchParams(location.search);
  const range = values.get("range") ?? DEFAULT_RANGE, theme = values.get("theme");
  return {
    incident: values.get("incident"),
    server: values.get("server"),
    component: values.get("component"),
    range: range in SPANS || ownRange(range) ? range : DEFAULT_RANGE,
    local: values.get("zone") === "local",
    q: values.get("q") ?? "",
    theme: theme === "light" || theme === "dark" ? theme : null,
  };
}

function address(s: State): string {
  const values = new URLSearchParams();
  if (s.incident !== null) values.set("incident", s.incident);
  if (s.server !== null) values.set("server", s.server);
  if (s.component !== null) values.set("component", s.component);
  if (s.range !== DEFAULT_RANGE) values.set("range", s.range);
  if (s.local) values.set("zone", "local");
  if (s.q) values.set("q", s.q);
  if (s.theme) values.set("theme", s.theme);
  const text = values.toString();
  return location.pathname + (text ? `?${text}` : "");
}

export const current = (): Readonly<State> => state;

/** Change the state and the address. Choosing something else adds an entry to the history; other changes replace the current one. */
export function change(values: Partial<State>): void {
  const before = state;
  state = { ...state, ...values };
  const step = before.incident !== state.incident || before.server !== state.server || before.component !== state.component ||
    before.range !== state.range;
  if (address(before) !== address(state)) history[step ? "pushState" : "replaceState"](null, "", address(state));
  for (const listener of listeners) listener(before);
}

export const onChange = (listener: (before: State) => void) => listeners.push(listener);

addEventListener("popstate", () => {
  const before = state;
  state = read();
  for (const listener of listeners) listener(before);
});

/** The two ends of a range of the user's own, in milliseconds. */
export function ownRange(range: string): [number, number] | null {
  const [from, to] = range.split("..").map((text) => Date.parse(text));
  return Number.isFinite(from) && Number.isFinite(to) && to > from ? [from, to] : null;
}

/** The two ends of a range if the data ends at `end`, in milliseconds. */
export function rangeAt(range: string, end: number): [number, number] {
  return ownRange(range) ?? [end - (SPANS[range] ?? 3600) * 1000, end];
}

export const rangeText = (from: number, to: number) => `${iso(from)}..${iso(to)}`;
export const iso = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
