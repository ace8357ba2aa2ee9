
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const tip = byId("tip");

  /* Elements: el("td", {class: "left"}, "text", other). Texts are never markup. */
  function el(tag, attributes = {}, ...children) {
    const svg = ["svg", "g", "rect", "line", "text"].includes(tag);
    const e = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    for (const child of children) e.append(child);
    return e;
  }
  const clear = (e) => { e.replaceChildren(); return e; };

  function scaled(value, units, base) {
    let at = 0;
    while (at + 1 < units.length && Math.abs(value) >= base) { value /= base; at++; }
    return `${Number(value.toPrecision(3))} ${units[at]}`;
  }
  const timeText = (ns) => (Math.abs(ns) >= 1e9 ? `${Number((ns / 1e9).toPrecision(3))} s` : scaled(ns, ["ns", "us", "ms", "s"], 1000));
  const bytesText = (bytes) => scaled(bytes, ["B", "kB", "MB", "GB", "TB", "PB"], 1000);
  const rateText = (rate) => `${bytesText(rate)}/s`;
  const wattText = (watts) => `${Number(watts.toPrecision(3))} W`;
  const fill = (e, layer) => { e.style.fill = `var(--l${layer})`; return e; };

  function showTip(text, event) {
    tip.textContent = text;
    tip.classList.add("on");
    const box = tip.getBoundingClientRect();
    const left = event.clientX + 16 + box.width < innerWidth ? event.clientX + 16 : event.clientX - 16 - box.width;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4))}px`;
  }
  const hideTip = () => tip.classList.remove("on");
  function readOut(e, text) {
    e.addEventListener("pointermove", (event) => showTip(text, event));
    e.addEventListener("pointerleave", hideTip);
    e.setAttribute("aria-label", text);
  }

  const name = (call) => `${call.rank}:${call.number}`;
  const what = (call) => data.texts[call.function] + (call.size ? ` ${bytesText(call.size)}` : "") +
    (call.object >= 0 ? ` of ${data.texts[call.object]}` : "");
  function describe(call) {
    const lines = [`call ${name(call)}: ${timeText(call.ns)}`, what(call)];
    for (const [layer, ns] of call.layers) lines.push(`${data.layers[layer].name} ${timeText(ns)}`);
    if (call.waiting) lines.push(`between layers ${timeText(call.waiting)}`);
    if (call.communicating) lines.push(`communicating ${timeText(call.communicating)}${call.late ? `, ${timeText(call.late)} of it for late ranks` : ""}`);
    for (const s of call.servers) {
      lines.push(`${data.servers[s.server].name}: ${timeText(s.ns)}, disk ${timeText(s.disk_ns)}, ${s.accesses} accesses` +
        (s.watts ? `, ${wattText(s.watts)}` : ""));
    }
    return lines.join("\n");
  }

  /* Ticks of an axis from 0: a handful of round numbers. */
  function ticks(most) {
    const raw = most / 4 || 1, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((k) => k * power >= raw) * power;
    const list = [];
    for (let at = 0; at <= most * 1.0001; at += step) list.push(at);
    return list;
  }

  /* A chart of bars. `groups`: one per place of the x axis, {label, bars: [{call, parts: [[layer, value]], text}]}. */
  function chart(id, groups, format) {
    const box = clear(byId(id));
    const bars = groups.reduce((sum, g) => sum + g.bars.length, 0);
    if (!bars) { box.append(el("p", { class: "hint" }, "There is nothing to show.")); return; }
    const LEFT = 74, HEIGHT = 220, TOP = 10, ROOM = Math.max(300, (box.clientWidth || 1200) - LEFT - 12);
    const gap = groups.length < 120 ? 0.35 : 0.12;
    const unit = Math.max(groups.length < 400 ? 2 : 1, Math.min(26, ROOM / (bars + groups.length * gap)));
    const width = LEFT + (bars + groups.length * gap) * unit + 12;
    const most = Math.max(...groups.flatMap((g) => g.bars.map((b) => b.parts.reduce((sum, p) => sum + p[1], 0)))) || 1;
    const svg = el("svg", { class: "bars", width: Math.ceil(width), height: HEIGHT + TOP + 24, role: "img" });
    const y = (value) => TOP + HEIGHT * (1 - value / (most * 1.04));
    for (const tick of ticks(most)) {
      svg.append(el("line", { class: "rule", x1: LEFT, x2: width, y1: y(tick), y2: y(tick) }));
      svg.append(el("text", { x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, format(tick)));
    }
    let x = LEFT, labelled = -1e9;
    for (const g of groups) {
      const from = x;
      for (const bar of g.bars) {
        const box2 = el("g", { class: "call", tabindex: -1 });
        box2.dataset.call = bar.call.at;
        let sum = 0;
        for (const [layer, value] of bar.parts) {
          if (value <= 0) continue;
          const top = y(sum + value), bottom = y(sum);
          box2.append(fill(el("rect", { x, y: top, width: Math.max(0.8, unit * 0.9), height: Math.max(0.5, bottom - top) }), layer));
          sum += value;
        }
        box2.append(el("rect", { x, y: TOP, width: unit, height: HEIGHT, fill: "transparent" }));
        readOut(box2, bar.text);
        box2.addEventListener("click", () => choose(bar.call));
        svg.append(box2);
        x += unit;
      }
      const middle = (from + x) / 2;
      if (middle - labelled > 30) {
        svg.append(el("text", { x: middle, y: HEIGHT + TOP + 18, "text-anchor": "middle" }, g.label));
        labelled = middle;
      }
      x += unit * gap;
    }
    box.append(svg);
  }

  function legend(id, layers) {
    const list = clear(byId(id));
    for (const [layer, text] of layers) {
      const square = fill(el("rect", { width: 11, height: 11, rx: 2 }), layer);
      list.append(el("li", {}, el("svg", { width: 11, height: 11, "aria-hidden": "true" }, square), text));
    }
  }

  /* Layers, as numbers of colours. What is no layer has the last colour. */
  const REST = 11;
  const serverLayer = data.layers.findIndex((l) => l.name === "server"), diskLayer = data.layers.findIndex((l) => l.name === "block");
  const SERVER = serverLayer < 0 ? 8 : serverLayer, DISK = diskLayer < 0 ? 10 : diskLayer;
  const ranks = [...new Set(data.calls.map((c) => c.rank))].sort((a, b) => a - b);
  const rankName = (rank) => (rank < data.ranks ? `rank ${rank}` : `process ${rank}`);

  function drawClient() {
    const rank = Number(byId("rank").value);
    const beside = data.servers.length && data.servers.length <= 6;
    const groups = data.calls.filter((c) => c.rank === rank).map((call) => {
      const bars = [{ call, parts: call.layers, text: describe(call) }];
      if (beside) {
        for (const s of call.servers) {
          bars.push({ call, parts: [[DISK, s.disk_ns], [SERVER, s.ns - s.disk_ns]],
            text: `call ${name(call)} at ${data.servers[s.server].name}\n${timeText(s.ns)}, of which its disk ${timeText(s.disk_ns)}` });
        }
      }
      return { label: String(call.number), bars };
    });
    chart("client-bars", groups, timeText);
    const used = new Set(groups.flatMap((g) => g.bars[0].parts.map((p) => p[0])));
    if (beside) { used.add(SERVER); used.add(DISK); }
    legend("client-legend", [...used].sort((a, b) => a - b).map((l) => [l, data.layers[l] ? data.layers[l].name : ""]));
  }

  /* The calls that a server had to do with, by their number, those of the ranks beside each other. */
  function ofServer(server, make) {
    const groups = new Map();
    for (const call of data.calls) {
      const share = call.servers.find((s) => s.server === server);
      if (!share) continue;
      if (!groups.has(call.number)) groups.set(call.number, []);
      groups.get(call.number).push(make(call, share));
    }
    return [...groups].sort((a, b) => a[0] - b[0]).map(([number, bars]) =>
      ({ label: String(number), bars: bars.sort((a, b) => a.call.rank - b.call.rank) }));
  }
  function drawServer() {
    const server = Number(byId("server").value), title = data.servers[server].name;
    chart("server-bars", ofServer(server, (call, s) => ({ call,
      parts: [[DISK, s.disk_ns], [SERVER, s.ns - s.disk_ns], [REST, Math.max(0, call.ns - s.ns)]],
      text: `call ${name(call)}: ${timeText(call.ns)}\n${title} ${timeText(s.ns)}, its disk ${timeText(s.disk_ns)}` })), timeText);
    legend("server-legend", [[DISK, "disk"], [SERVER, "server"], [REST, "client, network and other servers"]]);
    chart("rate-bars", ofServer(server, (call, s) => ({ call, parts: [[DISK, s.busy ? s.disk_bytes / s.busy * 1e9 : 0]],
      text: `call ${name(call)}\n${bytesText(s.disk_bytes)} in ${s.accesses} accesses, ${rateText(s.busy ? s.disk_bytes / s.busy * 1e9 : 0)}` })), rateText);
    if (data.drive) {
      chart("power-bars", ofServer(server, (call, s) => ({ call, parts: [[7, s.watts]],
        text: `call ${name(call)}\n${wattText(s.watts)}, ${Number(s.joules.toPrecision(3))} J above idle` })), wattText);
    }
  }

  function drawHeat() {
    const box = clear(byId("heat"));
    const calls = data.calls.filter((c) => c.servers.length);
    const LEFT = Math.min(220, 20 + 7.5 * Math.max(...data.servers.map((s) => s.name.length)));
    const width = Math.max(2, Math.min(18, ((box.clientWidth || 1200) - LEFT - 8) / calls.length)), height = 18;
    const most = Math.max(...calls.flatMap((c) => c.servers.map((s) => s.ns))) || 1;
    const svg = el("svg", { class: "heat", width: Math.ceil(LEFT + width * calls.length + 8), height: height * data.servers.length + 24, role: "img" });
    data.servers.forEach((s, i) => {
      svg.append(el("text", { x: LEFT - 8, y: height * i + 13, "text-anchor": "end" }, s.name.length > 26 ? `${s.name.slice(0, 25)}…` : s.name));
    });
    calls.forEach((call, at) => {
      for (const s of call.servers) {
        const cell = el("rect", { x: LEFT + at * width, y: s.server * height + 1, width: Math.max(1, width - 1), height: height - 2 });
        cell.style.fill = `var(--h${s.ns ? 1 + Math.min(4, Math.floor(5 * Math.sqrt(s.ns / most) - 1e-9)) : 0})`;
        cell.dataset.call = call.at;
        readOut(cell, `call ${name(call)} at ${data.servers[s.server].name}: ${timeText(s.ns)}, its disk ${timeText(s.disk_ns)}`);
        cell.addEventListener("click", () => choose(call));
        svg.append(cell);
      }
    });
    let labelled = -1e9;
    calls.forEach((call, at) => {
      const x = LEFT + (at + 0.5) * width;
      if (x - labelled < 44) return;
      labelled = x;
      svg.append(el("text", { x, y: height * data.servers.length + 16, "text-anchor": "middle" }, name(call)));
    });
    box.append(svg);
  }

  function drawLayers() {
    const body = byId("layers");
    for (const l of data.layers) {
      if (!l.calls) continue;
      body.append(el("tr", {}, el("td", {}, l.name), ...[l.calls, bytesText(l.bytes), timeText(l.inclusive / l.calls), timeText(l.longest),
        timeText(l.exclusive), l.waiting ? timeText(l.waiting) : "-", rateText(l.rate), l.errors].map((v) => el("td", {}, String(v)))));
    }
    const servers = byId("servers");
    for (const s of data.servers) {
      servers.append(el("tr", {}, el("td", {}, s.name), ...[s.calls, timeText(s.calls ? s.ns / s.calls : 0), timeText(s.calls ? s.disk_ns / s.calls : 0),
        timeText(s.longest), s.accesses, bytesText(s.disk_bytes), rateText(s.busy ? s.disk_bytes / s.busy * 1e9 : 0),
        data.drive ? `${Number(s.joules.toPrecision(3))} J` : "-"].map((v) => el("td", {}, String(v)))));
    }
  }

  function drawSlowest() {
    const body = byId("slowest");
    for (const call of [...data.calls].sort((a, b) => b.ns - a.ns).slice(0, 10)) {
      const open = el("button", { type: "button" }, name(call));
      open.addEventListener("click", () => choose(call));
      const worst = [...call.servers].sort((a, b) => b.ns - a.ns)[0];
      body.append(el("tr", {}, el("td", {}, open), el("td", {}, timeText(call.ns)), el("td", { class: "left wide" }, what(call)),
        el("td", { class: "left wide" }, call.layers.map(([layer, ns]) => `${data.layers[layer].name} ${timeText(ns)}`).join(", ")),
        el("td", { class: "left" }, worst ? `${data.servers[worst.server].name} ${timeText(worst.ns)}` : "-")));
    }
  }

  /* The waterfall of one call. */
  let chosen = null;
  function choose(call) {
    chosen = call;
    hideTip();
    for (const e of document.querySelectorAll(".chosen")) e.classList.remove("chosen");
    for (const e of document.querySelectorAll(`[data-call="${call.at}"]`)) e.classList.add("chosen");
    byId("fall-title").textContent = `Call ${name(call)}: ${what(call)}, ${timeText(call.ns)}`;
    byId("fall-text").textContent = describe(call).split("\n").slice(2).join("; ");
    const body = clear(byId("fall"));
    const parts = call.parts || [];
    for (const p of parts) {
      const [depth, start, ns, layer, host, fn, object, offset, size, result, open] = p;
      const bar = el("svg", { preserveAspectRatio: "none", viewBox: "0 0 1000 15", "aria-hidden": "true" });
      const from = Math.max(0, Math.min(998, 1000 * start / (call.ns || 1)));
      bar.append(fill(el("rect", { x: from, y: 2, width: Math.max(2, Math.min(1000 - from, 1000 * ns / (call.ns || 1))), height: 11 }), layer));
      const indent = el("span", { class: "indent" });
      indent.style.width = `${Math.min(12, depth) * 14}px`;
      const text = el("td", { class: "left what" }, indent);
      if (data.hosts.length > 1) text.append(el("span", { class: "host" }, data.hosts[host]), " ");
      text.append(el("span", { class: "layer" }, data.layers[layer] ? data.layers[layer].name : "?"),
        ` ${data.texts[fn]}${size ? ` ${bytesText(size)}` : ""}${offset >= 0 ? ` at ${offset}` : ""}` +
        `${object >= 0 && object !== call.object ? ` of ${data.texts[object]}` : ""}${open ? ", never ended" : ""}${result < 0 ? `, error ${-result}` : ""}`);
      body.append(el("tr", {}, text, el("td", {}, timeText(start)), el("td", {}, timeText(ns)), el("td", { class: "bar" }, bar)));
    }
    byId("fall-more").textContent = call.left_out
      ? `${call.left_out} more parts are not in this page; 'limpet stack show --call ${name(call)}' prints all of them.` : "";
    const same = data.calls.filter((c) => c.rank === call.rank);
    byId("before").disabled = same[0] === call;
    byId("after").disabled = same[same.length - 1] === call;
  }
  function move(by) {
    const same = data.calls.filter((c) => c.rank === chosen.rank), next = same[same.indexOf(chosen) + by];
    if (next) choose(next);
  }

  function fillChoice(id, items, draw) {
    const select = byId(id);
    for (const [value, text] of items) select.append(el("option", { value }, text));
    select.addEventListener("change", draw);
  }

  data.calls.forEach((call, at) => { call.at = at; });
  const slowest = data.calls.reduce((a, b) => (b.ns > a.ns ? b : a), data.calls[0]);
  drawLayers();
  drawSlowest();
  fillChoice("rank", ranks.map((r) => [r, rankName(r)]), drawClient);
  fillChoice("server", data.servers.map((s, i) => [i, s.name]), drawServer);
  if (data.servers.length) {
    const worst = slowest && [...slowest.servers].sort((a, b) => b.ns - a.ns)[0];
    if (worst) byId("server").value = worst.server;
  }
  function drawAll() {
    drawClient();
    if (data.servers.length) { drawServer(); drawHeat(); }
    if (chosen) choose(chosen);
  }
  byId("before").addEventListener("click", () => move(-1));
  byId("after").addEventListener("click", () => move(1));
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawAll, 150); });
  if (slowest) { byId("rank").value = slowest.rank; chosen = slowest; }
  drawAll();
})();
