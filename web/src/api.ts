/** The API of the collector: docs/api.md. */

export type Level = "ok" | "warning" | "critical";

export interface Status {
  limpet: string;
  now: string;
  watermark: string | null;
  data_age_s: number | null;
  status: Level | "unknown";
  critical: number;
  warning: number;
  /** The operator whose token the request had; events have none. */
  operator?: string | null;
  observers: { reporting: number; expected: number; late: number; silent: number };
  replay: boolean;
  /** What keeps the collector from its work, such as a full disk. */
  trouble?: string | null;
  notes: string[];
}

export interface Step { host?: string; commands?: string[]; text?: string }

/** A function in which a server differs from its peers; incidents that older collectors stored have the first keys only. */
export interface DifferentFunction {
  function: string;
  own: number | null;
  peers: number | null;
  metric?: string;
  unit?: string;
  direction?: "above" | "below";
  share?: number | null;
}

/** A system call behind an incident, as a trace logged it. */
export interface Call {
  time: string;
  server: string;
  process: string;
  pid: number;
  call: string;
  file: string | null;
  result: string;
  duration_s: number | null;
}

export interface Incident {
  id: number | string;
  state: "open" | "ended";
  level: Level;
  what: string;
  part: string;
  observer: string | null;
  components: string[];
  cause: string | null;
  metrics: string[];
  ratio: number | null;
  severity: number | null;
  confidence: number | null;
  /** When it began; null: before the data began. */
  first: string | null;
  first_error_s: number | null;
  last: string;
  opened: string;
  updated: string;
  ended: string | null;
  openings: number;
  acknowledged: null | { by: string; at: string; comment?: string };
  muted: null | { by: string; at: string; until: string | null; comment?: string };
  comments: { by: string; at: string; text: string }[];
  evidence: string[];
  functions?: DifferentFunction[];
  calls?: Call[];
  do?: (string | Step)[];
}

export interface Server { name: string; state: "ok" | "late" | "silent"; level: Level; ratio: number | null; worst: string | null }
export interface Fleet { watermark: string | null; groups: { name: string; servers: Server[] }[] }
export interface Component { name: string; observer: string; kind: string; group: string | null; metrics: string[]; ratio: number | null; level: Level }
export interface Host { name: string; state: string; last: string | null; lag_s: number | null; clock_skew_s: number | null }
export interface Series {
  component: string; metric: string; unit: string; group: string | null; peers: number; step_s: number;
  t: number[]; value: (number | null)[]; median: (number | null)[]; low: (number | null)[]; high: (number | null)[];
}

/** The collector's answer is an error; the message has its sentence. */
export class ApiError extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const answer = await fetch(`api/v1/${path}`, {
    method, signal, credentials: "same-origin",
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (answer.ok) return (text ? JSON.parse(text) : {}) as T;
  let sentence = `the collector answered ${answer.status}`;
  try {
    sentence = (JSON.parse(text) as { error?: string }).error ?? sentence;
  } catch {
    /* not JSON: the status says enough */
  }
  throw new ApiError(sentence, answer.status);
}

const query = (values: Record<string, string | number | undefined | null>) =>
  new URLSearchParams(Object.entries(values).filter(([, v]) => v !== undefined && v !== null && v !== "").map(([k, v]) => [k, String(v)])).toString();

export const api = {
  status: () => call<Status>("GET", "status"),
  incidents: (values: { state: "open" | "ended" | "all"; q?: string; since?: string; until?: string; limit?: number }) =>
    call<{ incidents: Incident[]; more: boolean }>("GET", `incidents?${query(values)}`),
  incident: (id: string) => call<Incident>("GET", `incidents/${encodeURIComponent(id)}`),
  act: (id: string, what: "ack" | "mute" | "comment", body: Record<string, string>) =>
    call<Incident>("POST", `incidents/${encodeURIComponent(id)}/${what}`, body),
  undo: (id: string, what: "ack" | "mute") => call<Incident>("DELETE", `incidents/${encodeURIComponent(id)}/${what}`),
  fleet: () => call<Fleet>("GET", "fleet"),
  components: (values: { observer?: string; q?: string; limit?: number }) =>
    call<{ components: Component[]; more: boolean }>("GET", `components?${query(values)}`),
  hosts: () => call<{ hosts: Host[] }>("GET", "hosts"),
  series: (values: { component: string; metric: string; since: string; until: string; points: number }, signal?: AbortSignal) =>
    call<Series>("GET", `series?${query(values)}`, undefined, signal),
  login: (token: string) => call<unknown>("POST", "login", { token }),
  logout: () => call<unknown>("DELETE", "login"),
};

export interface Events {
  status(status: Status): void;
  incident(incident: Incident): void;
  fleet(fleet: unknown): void;
  /** The stream is connected (again): missed changes must be fetched. */
  opened(): void;
  lost(): void;
}

const RETRY_FIRST_MS = 1000;
const RETRY_MOST_MS = 10000;

/** Follow the collector's events forever. A stream that ends is opened again, after a pause that grows. */
export function follow(events: Events): void {
  let wait = RETRY_FIRST_MS;
  const listen = () => {
    const source = new EventSource("api/v1/events", { withCredentials: false });
    const on = <T>(name: string, handle: (data: T) => void) =>
      source.addEventListener(name, (event) => handle(JSON.parse((event as MessageEvent<string>).data) as T));
    source.addEventListener("open", () => {
      wait = RETRY_FIRST_MS;
      events.opened();
    });
    source.addEventListener("error", () => {
      source.close();
      events.lost();
      setTimeout(listen, wait);
      wait = Math.min(RETRY_MOST_MS, wait * 1.6);
    });
    on("status", events.status);
    on("incident", events.incident);
    on("fleet", events.fleet);
  };
  listen();
}
