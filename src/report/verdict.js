/* The scripts of the HTML report; words.js comes before it. */
{
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  /* The report names no address, not even that of a name space. */
  const svgSpace = make("template", { innerHTML: "<svg></svg>" }).content.firstChild.namespaceURI;
  const draw = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS(svgSpace, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
  const spanOf = (element) => [Number(element.dataset.from), Number(element.dataset.to)];
  const tip = document.getElementById("tip");
  root.classList.add("js");

  let local = false;
  const fullTime = (ms) => `${timeText(ms, local)} ${zoneText(ms, local)}`;

  /* The values next to the pointer, within the window. */
  function showTip(text, x, y) {
    tip.textContent = text;
    tip.classList.add("on");
    const box = tip.getBoundingClientRect();
    const left = x + 16 + box.width < innerWidth ? x + 16 : x - 16 - box.width;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${clamp(y + 14, 4, Math.max(4, innerHeight - box.height - 4))}px`;
  }
  const hideTip = () => tip.classList.remove("on");

  /* What is shown of the time, in all plots alike. */
  const spans = all(".area, .heat").map(spanOf);
  const whole = [Math.min(...spans.map((s) => s[0])), Math.max(...spans.map((s) => s[1]))];
  let range = [...whole];

  /* The axis below a plot, as many labels as there is room for. */
  function drawAxis(axis) {
    const [from, to] = visible(spanOf(axis)), width = axis.getBoundingClientRect().width;
    if (!width) return;
    let end = -Infinity; /* of the label before, in pixels: those at the edges move inwards */
    axis.replaceChildren(...timeTicks(from, to, width, local).flatMap(({ at, text }) => {
      const half = text.length * 3.4;
      const x = clamp((at - from) / (to - from) * width, half, Math.max(half, width - half));
      if (x - half < end + 6) return [];
      end = x + half;
      return [draw("text", { x: `${x / width * 100}%`, y: 14, "text-anchor": "middle" }, text)];
    }));
  }
  /* The part of a plot's own time that is shown; all of it where the range has none of it. */
  function visible([from, to]) {
    const low = Math.max(from, range[0]), high = Math.min(to, range[1]);
    return high > low ? [low, high] : [from, to];
  }
  function zoomSvg(svg, span, units, height) {
    const [from, to] = visible(span), scale = units / (span[1] - span[0]);
    svg.setAttribute("viewBox", `${(from - span[0]) * scale} 0 ${(to - from) * scale} ${height}`);
  }
  function drawFlags(flags) {
    const [from, to] = visible(spanOf(flags.parentElement.querySelector(".area")));
    const width = flags.getBoundingClientRect().width, texts = all("text", flags);
    if (!width) return;
    let end = -Infinity;
    for (const text of texts) {
      const at = Number(text.dataset.at), x = (at - from) / (to - from) * width;
      text.textContent = `${text.dataset.what} ${timeText(at, local).slice(11)}`;
      const length = text.textContent.length * 6.6;
      const left = clamp(x - length / 2, 0, Math.max(0, width - length));
      text.setAttribute("text-anchor", "start");
      text.setAttribute("x", left);
      text.toggleAttribute("hidden", at < from || at > to || left < end + 8);
      if (!text.hasAttribute("hidden")) end = left + length;
    }
  }
  function redraw(within = document) {
    for (const area of all(".area", within)) zoomSvg(area, spanOf(area), 2000, 440);
    for (const heat of all(".heat", within))
      for (const svg of all(".row[data-name] svg", heat)) zoomSvg(svg, spanOf(heat), Number(heat.dataset.columns), 1);
    all(".x[data-from]", within).forEach(drawAxis);
    all(".flags", within).forEach(drawFlags);
    for (const zone of all(".zone", within)) zone.textContent = zoneText(range[0], local);
    drawRange();
  }
  function setRange(from, to) {
    const least = (whole[1] - whole[0]) / 500;
    const middle = (from + to) / 2, half = Math.max(Math.abs(to - from), least) / 2;
    range = [Math.max(whole[0], middle - half), Math.min(whole[1], middle + half)];
    redraw();
  }

  /* Dragging across something that shows time chooses a range; `shown` says which time it shows. */
  function draggable(element, shown, onClick) {
    let start = null, mark = null;
    const timeAt = (event) => {
      const box = element.getBoundingClientRect(), [from, to] = shown();
      return from + clamp((event.clientX - box.left) / box.width, 0, 1) * (to - from);
    };
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = { x: event.clientX, time: timeAt(event) };
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", (event) => {
      if (!start || Math.abs(event.clientX - start.x) < 5) return;
      if (!mark) document.body.append(mark = make("div", { className: "drag" }));
      const box = element.getBoundingClientRect();
      const x = clamp(event.clientX, box.left, box.right);
      mark.style.left = `${Math.min(x, start.x)}px`;
      mark.style.width = `${Math.abs(x - start.x)}px`;
      mark.style.top = `${box.top}px`;
      mark.style.height = `${box.height}px`;
    });
    const end = (event) => {
      const from = start, dragged = mark !== null;
      start = null;
      mark?.remove();
      mark = null;
      if (!from || event.type === "pointercancel") return;
      if (dragged) setRange(Math.min(from.time, timeAt(event)), Math.max(from.time, timeAt(event)));
      else onClick?.(event, timeAt(event));
    };
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
    element.addEventListener("dblclick", () => setRange(...whole));
  }

  /* The range selector above everything: the whole time, what is shown of it, where incidents are. */
  const strip = draw("svg", { class: "strip", role: "slider", tabindex: 0,
    "aria-label": "the time that all plots show: arrow keys move it, plus and minus change it" });
  const shownText = make("span", { className: "shown" });
  function drawRange() {
    const share = (ms) => `${(ms - whole[0]) / (whole[1] - whole[0]) * 100}%`;
    const wide = (from, to) => `${(to - from) / (whole[1] - whole[0]) * 100}%`;
    const marks = all(".incident[data-first]").map((incident) => draw("rect", { class: "when", y: 6, height: 10,
      x: share(Number(incident.dataset.first)),
      width: wide(Number(incident.dataset.first), Number(incident.dataset.last)) }));
    strip.replaceChildren(draw("rect", { class: "track", width: "100%", height: 22, rx: 4 }), ...marks,
      draw("rect", { class: "brush", x: share(range[0]), width: wide(...range), height: 22, rx: 4 }));
    shownText.textContent = `${timeText(range[0], local)} to ${timeText(range[1], local).slice(11)}`;
    strip.setAttribute("aria-valuetext", shownText.textContent);
    strip.setAttribute("aria-valuenow", String(Math.round((range[0] - whole[0]) / (whole[1] - whole[0]) * 100)));
  }
  function moveRange(event) {
    const width = range[1] - range[0];
    const to = {
      ArrowLeft: () => [range[0] - width / 4, range[1] - width / 4], ArrowRight: () => [range[0] + width / 4, range[1] + width / 4],
      "+": () => [range[0] + width / 4, range[1] - width / 4], "-": () => [range[0] - width / 2, range[1] + width / 2],
      Home: () => whole, Escape: () => whole,
    }[event.key];
    if (!to) return;
    event.preventDefault();
    let [from, until] = to();
    if (from < whole[0]) [from, until] = [whole[0], Math.min(whole[1], until + whole[0] - from)];
    if (until > whole[1]) [from, until] = [Math.max(whole[0], from + whole[1] - until), whole[1]];
    setRange(from, until);
  }
  const chosenIncident = () => document.querySelector(".incident.chosen[data-first]");
  function prepareRange() {
    const bar = document.querySelector(".range");
    const onset = make("button", { type: "button", textContent: "Onset", title: "Show the time around the onset" });
    const reset = make("button", { type: "button", textContent: "All", title: "Show the whole time" });
    if (!spans.length) return;
    onset.addEventListener("click", () => {
      const at = Number(chosenIncident()?.dataset.first ?? whole[0]), half = (whole[1] - whole[0]) / 10;
      setRange(at - half, at + half);
    });
    reset.addEventListener("click", () => setRange(...whole));
    strip.addEventListener("keydown", moveRange);
    draggable(strip, () => whole);
    bar.append(strip, make("div", { className: "tools" }, shownText, reset, ...(all(".incident").length ? [onset] : [])));
    bar.hidden = false;
  }

  /* Incidents: one is shown, chosen by click or by the arrow keys. */
  const picks = all(".pick");
  function choose(pick) {
    for (const other of picks) {
      const chosen = other === pick, incident = document.getElementById(other.hash.slice(1));
      other.setAttribute("aria-current", String(chosen));
      incident.classList.toggle("chosen", chosen);
      if (chosen) redraw(incident);
    }
  }
  picks.forEach((pick, at) => {
    pick.addEventListener("click", (event) => {
      event.preventDefault();
      choose(pick);
    });
    pick.addEventListener("keydown", (event) => {
      const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: picks.length - 1 };
      const next = picks[moves[event.key]];
      if (!next) return;
      event.preventDefault();
      next.focus();
      choose(next);
    });
  });

  /* Plots: what the lines are at the pointer, or at the place that the arrow keys move. All plots
   * that are shown have one cursor. */
  const values = (text) => text.split(",").map((word) => (word === "" ? NaN : Number(word)));
  function setCursors(at) {
    for (const area of all(".area")) {
      const [from, to] = spanOf(area);
      area.classList.toggle("reading", at !== null && at >= from && at <= to);
      if (at !== null) area.querySelector(".cursor").setAttribute("transform", `translate(${(at - from) / (to - from) * 2000} 0)`);
    }
  }
  function preparePlot(area) {
    const { name, unit } = area.dataset;
    const own = values(area.dataset.own), median = values(area.dataset.median);
    const [from, to] = spanOf(area), timeOf = (point) => from + (point + 0.5) / own.length * (to - from);
    let place = own.length >> 1;

    function read(point, y) {
      const box = area.getBoundingClientRect(), [low, high] = visible([from, to]);
      const ratio = own[point] / median[point];
      place = point;
      setCursors(timeOf(point));
      showTip(`${fullTime(timeOf(point))}\n${name}: ${quantityText(own[point], unit)}` +
        `\nmedian of its peers: ${quantityText(median[point], unit)}` +
        (Number.isFinite(ratio) ? `\n${ratioText(ratio)} its peers` : ""),
        box.left + clamp((timeOf(point) - low) / (high - low), 0, 1) * box.width, y ?? box.top + 20);
    }
    function leave() {
      setCursors(null);
      hideTip();
    }
    area.addEventListener("pointermove", (event) => {
      const box = area.getBoundingClientRect(), [low, high] = visible([from, to]);
      const at = low + clamp((event.clientX - box.left) / box.width, 0, 1) * (high - low);
      read(clamp(Math.floor((at - from) / (to - from) * own.length), 0, own.length - 1), event.clientY);
    });
    area.addEventListener("pointerleave", leave);
    area.addEventListener("blur", leave);
    area.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20 };
      if (event.key === "Escape") leave();
      if (!(event.key in moves)) return;
      event.preventDefault();
      read(clamp(place + moves[event.key], 0, own.length - 1));
    });
    draggable(area, () => visible([from, to]));
  }

  /* A component that was chosen in the heat map: all of its metrics, drawn as the report itself
   * draws those of suspects. */
  function linePath(line, top) {
    let text = "", drawing = false;
    line.forEach((value, i) => {
      const x = Math.round((i + 0.5) * 2000 / line.length), y = Math.round(clamp(440 - value / top * 440, -20, 440));
      if (!Number.isNaN(value)) text += drawing ? `L${x} ${y}` : `M${x - 1} ${y}h1`;
      drawing = !Number.isNaN(value);
    });
    return text;
  }
  const sorted = (line) => line.filter((x) => Number.isFinite(x)).sort((a, b) => a - b);
  const nearlyTop = (line) => sorted(line).at(Math.floor(sorted(line).length * 0.99) - 1) ?? 0;
  function componentPlot(name, series, runs, own, heat) {
    const { unit, metric, help } = series.dataset, median = values(series.dataset.median);
    const top = 1.12 * Math.max(nearlyTop(own), nearlyTop(median)) || 1;
    const [from, to] = spanOf(series), [heatFrom, heatTo] = spanOf(heat);
    const x = (column) => (heatFrom + column / heat.dataset.columns * (heatTo - heatFrom) - from) / (to - from) * 2000;
    const ticks = valueTicks(top, unit, 5), y = (value) => 440 - value / top * 440;
    const area = draw("svg", { class: "area", viewBox: "0 0 2000 440", preserveAspectRatio: "none", role: "img", tabindex: 0,
      "aria-label": `${metric} of ${name} and the median of its peers` },
      ...runs.map(([first, last]) => draw("rect", { class: "shade", x: x(first), width: x(last + 1) - x(first), height: 440 })),
      draw("path", { class: "rules", d: ticks.map((t) => `M0 ${y(t)}H2000`).join("") }),
      draw("path", { class: "median", d: linePath(median, top) }), draw("path", { class: "own", d: linePath(own, top) }),
      draw("path", { class: "event", d: "" }), draw("path", { class: "cursor", d: "M0 0V440" }));
    Object.assign(area.dataset, { from, to, name, unit, own: own.map((v) => (Number.isNaN(v) ? "" : v)).join(","),
      median: series.dataset.median });
    const axis = draw("svg", { class: "x", width: "100%", height: 20, "aria-hidden": true });
    Object.assign(axis.dataset, { from, to });
    return make("figure", { className: "plot" },
      make("figcaption", {}, make("b", { textContent: metric }), make("span", { className: "help", textContent: help })),
      make("div", { className: "frame" },
        draw("svg", { class: "y", width: 64, height: 200, "aria-hidden": true },
          ...ticks.map((t) => draw("text", { x: 58, y: Math.min(195, Math.round(y(t) / 2.2)) }, quantityText(t, unit)))),
        area, make("span", { className: "zone" }), axis));
  }
  function showComponent(row, heat, at) {
    const panel = document.getElementById("component"), { name } = row.dataset;
    const lines = row.dataset.lines.split(";").filter(Boolean).map((text) => {
      const [id, runs, own] = text.split(":");
      return { series: heat.querySelector(`.series[data-id="${Number(id)}"]`), own: values(own),
        runs: runs.split(",").filter(Boolean).map((run) => run.split("-").map(Number)) };
    }).filter((line) => line.series);
    lines.sort((a, b) => b.runs.length - a.runs.length);
    const incident = picks.find((pick) => pick.dataset.part === name);
    const heading = make("h2", { tabIndex: -1 }, make("bdi", { className: "name", textContent: name }),
      " ", make("time", { dateTime: new Date(at).toISOString() }));
    const close = make("button", { type: "button", textContent: "Close" });
    close.addEventListener("click", () => { panel.hidden = true; });
    const tools = make("div", { className: "tools" }, close);
    if (incident) {
      const go = make("button", { type: "button", textContent: "Show its incident" });
      go.addEventListener("click", () => { choose(incident); incident.scrollIntoView({ block: "center" }); });
      tools.prepend(go);
    }
    panel.replaceChildren(heading, tools,
      make("p", { className: "legend" }, legendKey("own"), name, " ", legendKey("median"), `median of its ${lines[0]?.series.dataset.peers ?? 0} peers`),
      ...lines.map(({ series, runs, own }) => componentPlot(name, series, runs, own, heat)));
    panel.hidden = false;
    all(".area", panel).forEach(preparePlot);
    for (const area of all(".area", panel)) {
      const [from, to] = spanOf(area);
      area.querySelector(".event").setAttribute("d", `M${(at - from) / (to - from) * 2000} 0v440`);
    }
    showTimes(panel);
    redraw(panel);
    panel.scrollIntoView({ block: "start" });
    heading.focus({ preventScroll: true });
  }
  const legendKey = (name) => draw("svg", { class: "key", width: 22, height: 10, "aria-hidden": true },
    draw("path", { class: name, d: "M0 5H22" }));

  /* The heat map: read, click, filter, sort. */
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  function cellText(row, at, metrics) {
    const level = row.dataset.level[at];
    if (level === ".") return "no data";
    const metric = metrics[digits.indexOf(row.dataset.metric[at])] ?? "one metric";
    if (level === "!") return `${metric}: none where its peers have it`;
    return `${metric}: about ${ratioText(2 ** ((digits.indexOf(level) - 20) / 4))} its peers` +
      (row.dataset.bad[at] === "1" ? ", anomalous" : "");
  }
  function prepareHeat(heat) {
    const columns = Number(heat.dataset.columns), metrics = heat.dataset.metrics.split("\t");
    const span = spanOf(heat), rows = all(".row[data-name]", heat);
    const tools = heat.parentElement.querySelector(".tools");
    const filter = make("input", { type: "search", placeholder: "only components named ..." });
    const order = make("select");

    heat.addEventListener("pointermove", (event) => {
      const cells = event.target.closest?.(".row[data-name] svg");
      if (!cells) return hideTip();
      const box = cells.getBoundingClientRect(), row = cells.parentElement, [from, to] = visible(span);
      const time = from + clamp((event.clientX - box.left) / box.width, 0, 1) * (to - from);
      const at = clamp(Math.floor((time - span[0]) / (span[1] - span[0]) * columns), 0, columns - 1);
      showTip(`${row.dataset.name}\n${fullTime(time)}\n${cellText(row, at, metrics)}`, event.clientX, event.clientY);
    });
    heat.addEventListener("pointerleave", hideTip);
    for (const row of rows) {
      const label = make("button", { type: "button", className: "label", title: row.dataset.name },
        ...row.querySelector(".label").childNodes);
      label.addEventListener("click", () => showComponent(row, heat, range[0] / 2 + range[1] / 2));
      row.querySelector(".label").replaceWith(label);
      draggable(row.querySelector("svg"), () => visible(span), (event, time) => showComponent(row, heat, time));
    }
    filter.setAttribute("aria-label", "show only components whose name contains");
    filter.addEventListener("input", () => {
      const wanted = filter.value.toLowerCase();
      for (const row of rows) row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
    });
    order.setAttribute("aria-label", "order of the components");
    order.append(new Option("the worst first"), new Option("by name"));
    order.addEventListener("change", () => {
      for (const group of all(".rows", heat)) {
        const own = rows.filter((row) => group.contains(row));
        if (order.selectedIndex)
          own.sort((a, b) => a.dataset.name.localeCompare(b.dataset.name, "en", { numeric: true }));
        group.querySelector("h3").after(...own);
      }
    });
    if (rows.length) tools.append(filter, order);
  }

  /* Tables: a click on a heading sorts. */
  function prepareTable(table) {
    const headings = all("thead th", table), body = table.tBodies[0];
    headings.forEach((heading, column) => {
      const button = make("button", { type: "button", textContent: heading.textContent });
      const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = heading.getAttribute("aria-sort") === "descending";
        const sortedRows = [...body.rows].sort((a, b) =>
          (key(a) - key(b)) || String(key(a)).localeCompare(String(key(b)), "en", { numeric: true }));
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        body.append(...(up ? sortedRows : sortedRows.reverse()));
      });
    });
  }

  /* Times in UTC or in the reader's own zone. */
  function showTimes(within = document) {
    for (const time of all("time", within)) {
      time.dateTime ||= time.textContent;
      const ms = Date.parse(time.dateTime);
      if (!Number.isNaN(ms)) time.textContent = fullTime(ms);
    }
  }
  function prepareZone(tools) {
    const buttons = ["UTC", "Local"].map((text) => make("button", { type: "button", textContent: text }));
    const show = () => buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(local === Boolean(at))));
    buttons.forEach((button, at) => button.addEventListener("click", () => {
      local = Boolean(at);
      show();
      showTimes();
      redraw();
    }));
    show();
    const group = make("span", { className: "choice" }, ...buttons);
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "times in");
    tools.append(group);
  }

  /* Light or dark, other than the system says. */
  function prepareTheme(tools) {
    const theme = make("button", { type: "button", className: "theme" });
    const isDark = () => (root.dataset.theme ??
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
    theme.setAttribute("aria-label", "switch between light and dark");
    theme.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      nameTheme();
    });
    nameTheme();
    tools.append(theme);
  }

  const headTools = make("div", { className: "tools head" });
  prepareZone(headTools);
  prepareTheme(headTools);
  document.querySelector("header").prepend(headTools);
  prepareRange();
  all(".area").forEach(preparePlot);
  all(".heat").forEach(prepareHeat);
  all("table.sortable").forEach(prepareTable);
  showTimes();
  if (picks.length) choose(picks.find((pick) => pick.hash === location.hash) || picks[0]);
  redraw();
  addEventListener("resize", () => redraw());
}
