// stand_in.mjs: answers as the collector does (docs/api.md), with a fleet of any size and with any
// names. For what a real collector cannot be brought to within a test: thousands of servers, and
// names that no file system would have. Everything else is tested with the real one.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml" };
export const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const iso = (ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
const noise = (n) => { const x = Math.sin(n * 12.9898) * 43758.5453; return x - Math.floor(x); };

export class StandIn {
  constructor(pageDir, { servers = 24, groups = 3, componentsEach = 4, hostile = null } = {}) {
    this.pageDir = pageDir;
    this.now = Date.UTC(2026, 10, 17, 12, 0, 0);
    this.clients = new Set();
    this.components = componentsEach; // 0: nothing was compared yet
    this.trouble = null; // what keeps it from its work
    const name = (i) => `oss${String(i + 1).padStart(servers > 99 ? 4 : 2, "0")}`;
    this.groups = Array.from({ length: groups }, (_, g) => ({ name: hostile ?? `rack${g + 1}`, servers: [] }));
    for (let i = 0; i < servers; i++)
      this.groups[Math.floor(i * groups / servers)].servers.push({ name: hostile && i === 0 ? hostile : name(i), state: "ok", level: "ok", ratio: 0.8 + noise(i) * 0.5, worst: null });
    this.incidents = [];
    this.hostile = hostile;
  }
  get servers() { return this.groups.flatMap((g) => g.servers); }

  // Something is wrong with a server from now on; returns the incident.
  break(at, { level = "critical", ratio = 9.4, minutes = 20, ended = false, text = null, calls = null } = {}) {
    const server = this.servers[at], h = this.hostile, component = h ? `${h}/disk:${h}` : `${server.name}/disk:sdb`;
    const first = this.now - minutes * 60000;
    const incident = {
      id: this.incidents.length + 1, state: ended ? "ended" : "open", level, what: h ?? text ?? `${server.name}: disk sdb is slow, ${ratio}x its peers`,
      part: component, observer: server.name, components: [component], cause: h ?? "disk-busy", metrics: ["await", "await-peak"], ratio,
      severity: 128, confidence: 0.86, first: iso(first), first_error_s: 1, last: iso(this.now), opened: iso(first + 45000), updated: iso(this.now),
      ended: ended ? iso(this.now - 60000) : null, openings: 1, acknowledged: null, muted: null, comments: h ? [{ by: h, at: iso(this.now - 300000), text: h }] : [],
      evidence: h ? [h] : ["await 9.4x its peers (49.5 ms against 5.3 ms) in 12 of 14 windows", "load as its peers': 4.7 MB/s against 4.6 MB/s: not overload"],
      do: [{ host: server.name, commands: [h ?? "smartctl -a /dev/sdb", "dmesg -T | grep sdb"], text: h ?? "Errors there: replace it." }],
      functions: h ? [{ function: h, metric: h, unit: h, own: 2, peers: 1, share: 0.5 }] : undefined,
    };
    if (calls) incident.calls = calls;
    if (!ended) Object.assign(server, { level, ratio, worst: component });
    this.incidents.push(incident);
    this.send("incident", incident);
    this.send("fleet", { watermark: iso(this.now), servers: [server] });
    this.send("status", this.status());
    return incident;
  }
  silence(at) {
    Object.assign(this.servers[at], { state: "silent", level: "warning", ratio: null });
  }
  status() {
    const open = this.incidents.filter((i) => i.state === "open"), silent = this.servers.filter((s) => s.state === "silent").length;
    const critical = open.filter((i) => i.level === "critical").length, warning = open.length - critical;
    return { limpet: "0.1.0", now: iso(this.now), watermark: iso(this.now), data_age_s: 2, status: critical ? "critical" : warning ? "warning" : "ok", critical, warning,
      observers: { reporting: this.servers.length - silent, expected: this.servers.length, late: 0, silent }, replay: false, trouble: this.trouble, notes: this.hostile ? [this.hostile] : [] };
  }
  send(name, data) {
    for (const client of this.clients) client.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }
  componentsOf(observer) {
    const kinds = ["disk:sda", "disk:sdb", "net:eth0", "cpu:all"];
    return Array.from({ length: this.components }, (_, i) => {
      const name = `${observer}/${this.hostile ? `disk:${this.hostile}` : kinds[i] ?? `disk:sd${i}`}`, bad = this.incidents.find((x) => x.state === "open" && x.part === name);
      return { name, observer, kind: "disk", group: this.hostile ?? "disk", metrics: this.hostile ? ["await", this.hostile] : ["await", "await-peak", "rd_sec", "wr_sec", "tps", "util"], ratio: bad ? bad.ratio : 1 + noise(i) * 0.1, level: bad ? bad.level : "ok" };
    });
  }
  series(query) {
    const component = query.get("component"), metric = query.get("metric"), since = Date.parse(query.get("since")) / 1000, until = Date.parse(query.get("until")) / 1000;
    const bad = this.incidents.find((i) => i.components.includes(component)), step = Math.max(1, (until - since) / 300);
    const units = { rd_sec: "sectors/s", wr_sec: "sectors/s", tps: "1/s", util: "%" }, scale = { rd_sec: 900, wr_sec: 1800, tps: 120, util: 5, "await-peak": 2 }[metric] ?? 1;
    const t = [], value = [], median = [], low = [], high = [];
    for (let at = Math.ceil(since / step) * step; at <= Math.min(until, this.now / 1000); at += step) {
      const wave = 5 + 2 * Math.sin(at / 700), off = bad && metric.startsWith("await") && at * 1000 > Date.parse(bad.first) ? bad.ratio : 1;
      t.push(at);
      value.push(at % 3600 > 900 && at % 3600 < 960 ? null : scale * wave * off * (0.9 + noise(at) * 0.25));
      median.push(scale * wave);
      low.push(scale * wave * 0.85);
      high.push(scale * wave * 1.2);
    }
    return { component, metric, unit: this.hostile ?? units[metric] ?? "ms", group: "disk", peers: 23, step_s: step, t, value, median, low, high };
  }
  act(id, what, method, body) {
    const incident = this.incidents.find((i) => String(i.id) === id), at = iso(this.now);
    if (!incident) return null;
    if (what === "ack") incident.acknowledged = method === "DELETE" ? null : { by: body.by, at, comment: body.comment ?? "" };
    if (what === "mute") incident.muted = method === "DELETE" ? null : { by: body.by, at, until: iso(this.now + 7200000), comment: body.comment ?? "" };
    if (what === "comment") incident.comments.push({ by: body.by, at, text: body.text });
    this.send("incident", incident);
    return incident;
  }
  answer(method, url, body) {
    const path = url.pathname.replace(/^\/api\/v1\//, ""), q = url.searchParams, act = path.match(/^incidents\/([^/]+)(?:\/(ack|mute|comment))?$/);
    if (path === "status") return this.status();
    if (path === "incidents") return { incidents: this.incidents.filter((i) => q.get("state") === "all" || i.state === q.get("state")), more: false };
    if (act?.[2]) return this.act(act[1], act[2], method, body);
    if (act) return this.incidents.find((i) => String(i.id) === act[1]) ?? null;
    if (path === "fleet") return { watermark: iso(this.now), groups: this.groups };
    if (path === "components") {
      const text = q.get("q") ?? "", list = q.get("observer") ? this.componentsOf(q.get("observer"))
        : this.servers.flatMap((s) => (text.startsWith(s.name) || s.name.includes(text) ? this.componentsOf(s.name) : []));
      return { components: list.filter((c) => c.name.toLowerCase().includes(text.toLowerCase())).slice(0, Number(q.get("limit") ?? 100)), more: false };
    }
    if (path === "hosts")
      return { hosts: this.servers.map((x) => ({ name: x.name, state: x.state, last: iso(this.now), lag_s: 1, clock_skew_s: 0, frames: 10, bytes: 1000, refused: 0 })) };
    if (path === "series") return this.series(q);
    return null;
  }
  async start(port = 0) {
    this.server = createServer(async (request, response) => {
      const url = new URL(request.url, "http://x");
      if (url.pathname === "/api/v1/events") {
        response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
        response.write(": here\n\n");
        this.clients.add(response);
        request.on("close", () => this.clients.delete(response));
        return;
      }
      if (url.pathname.startsWith("/api/")) {
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString(), found = this.answer(request.method, url, text ? JSON.parse(text) : {});
        response.writeHead(found ? 200 : 404, { "Content-Type": "application/json" });
        response.end(JSON.stringify(found ?? { error: "there is no such thing" }));
        return;
      }
      const name = url.pathname === "/" ? "index.html" : url.pathname.slice(1);
      try {
        const data = readFileSync(join(this.pageDir, name.replace(/[^\w.]/g, "")));
        response.writeHead(200, { "Content-Type": TYPES[name.split(".").pop()] ?? "text/plain", "Content-Security-Policy": CSP });
        response.end(data);
      } catch {
        response.writeHead(404);
        response.end();
      }
    });
    await new Promise((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}/`;
    return this.url;
  }
  stop() {
    for (const client of this.clients) client.end();
    this.server.closeAllConnections();
    this.server.close();
  }
}
