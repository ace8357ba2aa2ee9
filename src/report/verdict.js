
"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);
  const tip = document.getElementById("tip");
  root.classList.add("js");

  /* The read-out, beside the pointer and within the window. */
  function showTip(text, x, y) {
    tip.textContent = text;
    tip.classList.add("on");
    const box = tip.getBoundingClientRect();
    const left = x + 16 + box.width < innerWidth ? x + 16 : x - 16 - box.width;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - box.height - 4))}px`;
  }
  const hideTip = () => tip.classList.remove("on");

  const timeText = (ms) => new Date(ms).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
  function numberText(value) {
    const suffixes = ["", "k", "M", "G", "T", "P"];
    let at = 0;
    for (; Math.abs(value) >= (at ? 999.5 : 9999.5) && at + 1 < suffixes.length; at++) value /= 1000;
    return Number(value.toPrecision(3)) + suffixes[at];
  }

  /* Incidents: one is shown, chosen by click or by the arrow keys. */
  const picks = all(".pick");
  function choose(pick) {
    for (const other of picks) {
      const chosen = other === pick;
      other.setAttribute("aria-current", String(chosen));
      document.getElementById(other.hash.slice(1)).classList.toggle("chosen", chosen);
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
  if (picks.length) choose(picks.find((pick) => pick.hash === location.hash) || picks[0]);

  /* Plots: what the lines are at the pointer, or at the place that the arrow keys move. */
  const values = (text) => text.split(",").map((word) => (word === "" ? NaN : Number(word)));
  function preparePlot(area) {
    const { name, unit } = area.dataset;
    const own = values(area.dataset.own), median = values(area.dataset.median);
    const from = Number(area.dataset.from), to = Number(area.dataset.to);
    const cursor = area.querySelector(".cursor");
    const quantity = (value) => (Number.isNaN(value) ? "no data" : `${numberText(value)} ${unit}`);
    let place = own.length >> 1;

    function read(point, y) {
      const box = area.getBoundingClientRect();
      const share = own.length > 1 ? point / (own.length - 1) : 0.5;
      const ratio = own[point] / median[point];
      place = point;
      cursor.setAttribute("transform", `translate(${share * 2000} 0)`);
      area.classList.add("reading");
      showTip(`${timeText(from + share * (to - from))}\n${name}: ${quantity(own[point])}` +
        `\nmedian of its peers: ${quantity(median[point])}` +
        (Number.isFinite(ratio) ? `\n${Number(ratio.toPrecision(2))}x its peers` : ""),
        box.left + share * box.width, y ?? box.top + 20);
    }
    function leave() {
      area.classList.remove("reading");
      hideTip();
    }
    area.addEventListener("pointermove", (event) => {
      const box = area.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      read(Math.round(share * (own.length - 1)), event.clientY);
    });
    area.addEventListener("pointerleave", leave);
    area.addEventListener("blur", leave);
    area.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20 };
      if (event.key === "Escape") leave();
      if (!(event.key in moves)) return;
      event.preventDefault();
      read(Math.min(own.length - 1, Math.max(0, place + moves[event.key])));
    });
  }
  all(".area").forEach(preparePlot);

  /* The heat map: read, filter, sort. */
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  function cellText(row, at, metrics) {
    const level = row.dataset.level[at];
    if (level === ".") return "no data";
    const metric = metrics[digits.indexOf(row.dataset.metric[at])] ?? "one metric";
    if (level === "!") return `${metric}: none where its peers have it`;
    const ratio = 2 ** ((digits.indexOf(level) - 20) / 4);
    return `${metric}: about ${Number(ratio.toPrecision(2))}x its peers` +
      (row.dataset.bad[at] === "1" ? ", anomalous" : "");
  }
  function prepareHeat(heat) {
    const columns = Number(heat.dataset.columns), metrics = heat.dataset.metrics.split("\t");
    const from = Number(heat.dataset.from), to = Number(heat.dataset.to);
    const rows = all(".row[data-name]", heat);
    const tools = heat.parentElement.querySelector(".tools");
    const filter = make("input", { type: "search", placeholder: "only components named ..." });
    const order = make("select");

    heat.addEventListener("pointermove", (event) => {
      const cells = event.target.closest(".row[data-name] svg");
      if (!cells) return hideTip();
      const box = cells.getBoundingClientRect(), row = cells.parentElement;
      const at = Math.min(columns - 1, Math.max(0,
        Math.floor((event.clientX - box.left) / box.width * columns)));
      showTip(`${row.dataset.name}\n${timeText(from + (at + 0.5) / columns * (to - from))}\n` +
        cellText(row, at, metrics), event.clientX, event.clientY);
    });
    heat.addEventListener("pointerleave", hideTip);
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
        group.append(...own);
      }
    });
    tools.append(filter, order);
  }
  all(".heat").forEach(prepareHeat);

  /* Tables: a click on a heading sorts. */
  function prepareTable(table) {
    const headings = all("thead th", table), body = table.tBodies[0];
    headings.forEach((heading, column) => {
      const button = make("button", { type: "button", textContent: heading.textContent });
      const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = heading.getAttribute("aria-sort") === "descending";
        const sorted = [...body.rows].sort((a, b) =>
          (key(a) - key(b)) || String(key(a)).localeCompare(String(key(b)), "en", { numeric: true }));
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        body.append(...(up ? sorted : sorted.reverse()));
      });
    });
  }
  all("table.sortable").forEach(prepareTable);

  /* Light or dark, other than the system says. */
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
  document.querySelector("header").append(theme);
})();
