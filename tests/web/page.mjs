// page.mjs: the page of limpet serve in Chromium, as an operator uses it; speaks TAP. $BUILD has the
// program and the page that is embedded in it. With $SCREENSHOTS (a directory) pictures are kept there.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Collector } from "./collector.mjs";
import { assert, equal, misplaced, openPage, runTests, test, until } from "./browser.mjs";
import { StandIn } from "./stand_in.mjs";

const DIST = join(process.env.BUILD, "src/serve/page/dist");
const HOSTILE = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;

// Run with a stand-in for the collector.
async function standing(options, run) {
  const stand = new StandIn(DIST, options);
  const url = await stand.start();
  try {
    await run(stand, url);
  } finally {
    stand.stop();
  }
}
const ready = async (page, text = "reporting") => {
  await page.locator("#status .chip", { hasText: text }).first().waitFor();
  await page.locator("#fleet canvas[aria-label]").waitFor();
};
const plotted = (page) => until(page, () => {
  const all = [...document.querySelectorAll(".plots .reading")];
  return all.length > 1 && all.slice(0, 2).every((e) => e.textContent.includes("peers"));
});

test("is small", async () => {
  const sizes = readdirSync(DIST).map((name) => [name, gzipSync(readFileSync(join(DIST, name)), { level: 9 }).length]);
  const sum = sizes.reduce((n, [, size]) => n + size, 0);
  console.log(`# compressed: ${sizes.map((s) => s.join(" ")).join(", ")}, together ${sum} bytes`);
  assert(sum < 200000, `${sum} bytes`);
});

test("shows the state of the fleet, its incidents and the suspect beside its peers", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  stand.break(2, { ended: true, minutes: 50 });
  stand.silence(20);
  const page = await openPage(browser, url);
  await ready(page);
  equal((await page.locator("#status .chip").allInnerTexts()).slice(0, 3).join("|"), "1 critical|0 warnings|23 of 24 servers reporting", "status");
  equal(await page.locator("[aria-label='open incidents'] .title").innerText(), "oss06: disk sdb is slow, 9.4x its peers", "the incident");
  equal(await page.locator("[aria-label='ended incidents'] .title").count(), 1, "ended ones");
  equal(await page.locator("#detail h2").innerText(), "oss06: disk sdb is slow, 9.4x its peers", "the newest is chosen");
  const facts = (await page.locator("#detail .facts dt").allInnerTexts()).join();
  assert(facts.startsWith("since,last seen,against"), `an open incident has no length of its own: ${facts}`);
  await plotted(page);
  equal((await page.locator(".plots figcaption b").allInnerTexts()).slice(0, 2).join(), "await,await-peak", "what is off comes first");
  assert((await page.locator(".plots .legend").innerText()).includes("median of its 23 peers"), "the legend");
  equal(page.wrong.join("; "), "", "wrong");
}));

test("takes in what happens, without moving what is there", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  const page = await openPage(browser, url);
  await ready(page);
  await plotted(page);
  await page.evaluate(() => {
    window.shifts = 0;
    new PerformanceObserver((list) => { for (const e of list.getEntries()) window.shifts += e.value; }).observe({ type: "layout-shift" });
  });
  for (let i = 0; i < 4; i++) {
    stand.now += 15000;
    stand.send("status", stand.status());
    stand.send("incident", { ...stand.incidents[0], ratio: 9 + i, updated: new Date(stand.now).toISOString() });
    await page.waitForTimeout(150);
  }
  assert((await page.evaluate(() => window.shifts)) < 0.001, `the layout shifted by ${await page.evaluate(() => window.shifts)}`);
  stand.break(9, { minutes: 0, level: "warning", ratio: 1.7 });
  await page.locator("[aria-label='open incidents'] .title", { hasText: "oss10" }).waitFor();
  equal(await page.locator("[aria-label='open incidents'] .title").first().innerText(), "oss10: disk sdb is slow, 1.7x its peers", "the newest first");
  equal(await page.locator("#status .chip").nth(1).innerText(), "1 warning", "status");
  equal(await page.locator("#detail h2").innerText(), "oss06: disk sdb is slow, 9.4x its peers", "what was chosen stays");
  equal(page.wrong.join("; "), "", "wrong");
}));

test("acknowledges, mutes and takes notes, by mouse and by keyboard", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  stand.break(8, { minutes: 30 });
  const page = await openPage(browser, url);
  await ready(page);
  await page.locator(".actions button", { hasText: "Acknowledge" }).first().click();
  await page.locator("dialog [name=by]").fill("ana");
  await page.locator("dialog [name=comment]").fill("on it");
  await page.locator("dialog button", { hasText: "Acknowledge" }).click();
  await page.locator("#incidents .tags", { hasText: "acknowledged by ana" }).waitFor();
  equal(stand.incidents[0].acknowledged.comment, "on it", "the comment");
  await page.keyboard.press("a");
  await until(page, () => !document.querySelector("#incidents .tags").textContent.includes("acknowledged"));
  equal(stand.incidents[0].acknowledged, null, "taken back");
  await page.keyboard.press("j");
  await page.locator("#detail h2", { hasText: "oss09" }).waitFor();
  await page.keyboard.press("m");
  await page.keyboard.press("Tab");
  await page.locator("dialog button", { hasText: "Mute" }).click();
  await page.locator("#incidents .tags", { hasText: "muted" }).waitFor();
  equal(stand.incidents[1].muted.by, "ana", "who muted: the page remembers the name");
  await page.keyboard.press("k");
  await page.locator("#detail h2", { hasText: "oss06" }).waitFor();
  await page.locator("#detail button", { hasText: "Add a note" }).click();
  await page.locator("dialog [name=text]").fill("cable replaced");
  await page.locator("dialog button", { hasText: /^Add$/ }).click();
  await page.locator(".said", { hasText: "cable replaced" }).waitFor();
  await page.keyboard.press("?");
  const help = await page.locator("dialog[open]").boundingBox(), seen = page.viewportSize();
  assert(Math.abs(help.y + help.height / 2 - seen.height / 2) < 20, `a dialog is not in the middle: ${JSON.stringify(help)}`);
  assert(await page.locator("dialog kbd").count() >= 7, "no help");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert(await page.evaluate(() => document.activeElement.type === "search"), "the search has no focus");
  equal(page.wrong.join("; "), "", "wrong");
}));

test("is what its address says, also after back and reload", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  stand.break(8, { minutes: 30 });
  const page = await openPage(browser, `${url}?incident=2&range=15m&zone=local&theme=dark&q=oss`, { timezoneId: "Asia/Tokyo" });
  await ready(page);
  await page.locator("#detail h2", { hasText: "oss09" }).waitFor();
  assert((await page.locator("#detail .facts time").first().innerText()).endsWith("20:30:00 UTC+09:00"), "local time");
  equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark", "theme");
  equal(await page.locator("[aria-label='time range'] [aria-pressed=true]").innerText(), "15 min", "range");
  await page.locator("[aria-label='time range'] button", { hasText: "24 h" }).click();
  await page.keyboard.press("k");
  await until(page, () => location.search.includes("incident=1") && location.search.includes("range=24h"));
  await page.goBack();
  await page.locator("#detail h2", { hasText: "oss09" }).waitFor();
  await page.reload();
  await page.locator("#detail h2", { hasText: "oss09" }).waitFor();
  await page.locator("[aria-label='time range'] button", { hasText: "Own" }).click();
  await page.locator("[aria-label=from]").fill("2026-11-17T20:40:10");
  await page.locator("[aria-label=to]").fill("2026-11-17T20:50:10");
  await page.locator(".own-range button").click();
  await until(page, () => location.search.includes("range=2026-11-17T11%3A40%3A10Z..2026-11-17T11%3A50%3A10Z"));
  equal(page.wrong.join("; "), "", "wrong");
}));

test("zooms by dragging, and a double click leads back", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  const page = await openPage(browser, url);
  await ready(page);
  await plotted(page);
  await page.locator(".u-over").first().scrollIntoViewIfNeeded();
  const box = await page.locator(".u-over").first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 45, { steps: 5 });
  await page.mouse.up();
  await until(page, () => location.search.includes("range="));
  const [from, to] = new URL(page.url()).searchParams.get("range").split("..").map((t) => Date.parse(t));
  assert(Math.abs(to - from - 225000) < 15000, `${(to - from) / 1000} s instead of a quarter of 15 minutes`);
  await page.mouse.dblclick(box.x + box.width * 0.5, box.y + 40);
  await until(page, () => !location.search.includes("range="));
  equal(page.wrong.join("; "), "", "wrong");
}));

test("leads from a server to its components, and finds things by name", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  const page = await openPage(browser, url);
  await ready(page);
  await page.locator("#fleet canvas").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.locator("#detail h2", { hasText: "oss02" }).waitFor();
  await page.locator("#detail tbody tr").first().waitFor();
  equal(await page.locator("#detail tbody tr").count(), 4, "its components");
  await page.locator("#detail tbody button", { hasText: "net:eth0" }).click();
  await page.locator(".detail-plots h3", { hasText: "oss02/net:eth0" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("oss17");
  await page.locator("#results li").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator("#detail h2", { hasText: "oss17" }).waitFor();
  equal(page.wrong.join("; "), "", "wrong");
}));

test("shows a server and a component as soon as they are compared, and keeps the focus after that", (browser) => standing({ componentsEach: 0 }, async (stand, url) => {
  const server = await openPage(browser, `${url}?server=oss02`), component = await openPage(browser, `${url}?component=oss02/net:eth0`);
  await server.locator("#detail", { hasText: "Nothing of this server has been compared yet." }).waitFor();
  await component.locator("#detail", { hasText: "There are no metrics of oss02/net:eth0." }).waitFor();
  while (stand.clients.size < 2) await server.waitForTimeout(20);
  stand.components = 3;
  stand.send("status", stand.status());
  await plotted(server);
  await plotted(component);
  equal(await server.locator("#detail tbody tr").count(), 3, "its components");
  await server.locator("#detail tbody button", { hasText: "disk:sdb" }).focus();
  stand.components = 4;
  stand.break(1);
  await server.locator("#detail tbody tr", { hasText: "disk:sdb" }).locator(".critical").waitFor();
  equal(await server.locator("#detail tbody tr").count(), 4, "its components");
  equal(await server.evaluate(() => document.activeElement.textContent), "oss02/disk:sdb", "the focus");
  equal([...server.wrong, ...component.wrong].join("; "), "", "wrong");
}));

// The colour of note marks, and in how many pixels of the column at a time of a plot it is.
const noteAt = (page, seconds, [from, to]) => page.evaluate(([at, start, end]) => {
  const probe = document.createElement("i");
  probe.style.color = "var(--focus)";
  document.body.append(probe);
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  const canvas = document.querySelector(".plots canvas"), over = document.querySelector(".plots .u-over");
  const c = canvas.getBoundingClientRect(), o = over.getBoundingClientRect(), scale = canvas.width / c.width;
  const x = Math.round((o.left - c.left + o.width * (at - start) / (end - start)) * scale);
  const data = canvas.getContext("2d").getImageData(x - 3, 0, 7, canvas.height).data;
  let n = 0;
  for (let i = 0; i < data.length; i += 4)
    n += Math.abs(data[i] - r) < 40 && Math.abs(data[i + 1] - g) < 40 && Math.abs(data[i + 2] - b) < 40 && data[i + 3] > 128;
  return n;
}, [seconds, from, to]);

test("marks the notes of operators in the plots", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  const range = [stand.now / 1000 - 900, stand.now / 1000], noted = stand.now / 1000 - 300;
  const page = await openPage(browser, `${url}?range=${new Date(range[0] * 1000).toISOString()}..${new Date(range[1] * 1000).toISOString()}`);
  await ready(page);
  await plotted(page);
  const before = await noteAt(page, noted, range);
  stand.now -= 300000;
  stand.act("1", "comment", "POST", { by: "ana", text: "cable replaced" });
  stand.now += 300000;
  await page.locator(".said", { hasText: "cable replaced" }).waitFor();
  for (let i = 0; i < 100 && (await noteAt(page, noted, range)) < before + 20; i++) await page.waitForTimeout(50);
  assert((await noteAt(page, noted, range)) >= before + 20, `no mark: ${before} pixels before, ${await noteAt(page, noted, range)} after`);
  const box = await page.locator(".u-over").first().boundingBox();
  await page.mouse.move(box.x + box.width * 2 / 3, box.y + 60);
  await page.locator(".detail-plots", { hasText: "note: cable replaced" }).waitFor();
  await page.mouse.move(box.x + box.width / 3, box.y + 60);
  await until(page, () => !document.querySelector(".detail-plots").textContent.includes("note: cable replaced"));
  // Only this test reads pixels.
  equal(page.wrong.filter((text) => !text.includes("willReadFrequently")).join("; "), "", "wrong");
}));

test("marks the onset of a server's suspect when its incident comes, and leads there", (browser) => standing({}, async (stand, url) => {
  const page = await openPage(browser, `${url}?server=oss06`), onset = page.locator(".detail-plots button", { hasText: "Show the onset" });
  await plotted(page);
  assert(!(await onset.isVisible()), "an onset of nothing");
  while (!stand.clients.size) await page.waitForTimeout(20);
  const shown = (await page.locator(".detail-plots h3").innerText()).replace("/disk:sda", "/disk:sdb");
  await page.locator("#detail tbody button", { hasText: shown }).click();
  await plotted(page);
  stand.break(5, { minutes: 5 });
  await onset.click();
  await until(page, () => location.search.includes("range="));
  const [from, to] = new URL(page.url()).searchParams.get("range").split("..").map((t) => Date.parse(t)), first = stand.now - 300000;
  assert(from < first && first < to, `the onset is not in ${page.url()}`);
  equal(page.wrong.join("; "), "", "wrong");
}));

test("says that the collector cannot work, and that its data gets older", (browser) => standing({}, async (stand, url) => {
  const page = await openPage(browser, url), age = page.locator("#status .chip").nth(3);
  await ready(page);
  while (!stand.clients.size) await page.waitForTimeout(20);
  stand.trouble = "the collector cannot write to its disk";
  stand.send("status", stand.status());
  await page.locator("#notice", { hasText: "The collector cannot write to its disk." }).waitFor();
  const seconds = async () => Number((await age.innerText()).match(/\d+/)[0]), before = await seconds();
  for (const end = Date.now() + 20000; (await seconds()) <= before && Date.now() < end;) await page.waitForTimeout(100);
  assert((await seconds()) > before, `it is still ${await age.innerText()}`);
  stand.trouble = null;
  stand.send("status", stand.status());
  await until(page, () => document.getElementById("notice").textContent === "");
  equal(page.wrong.join("; "), "", "wrong");
}));

test("lists the system calls behind a finding", (browser) => standing({}, async (stand, url) => {
  stand.break(5, { text: "oss06: glusterfsd returns errors", calls: [
    { time: "2026-11-17T11:41:00.250Z", server: "oss06", process: "glusterfsd", pid: 812, call: "pwrite64", file: "/data/brick/x", result: "ENOSPC", duration_s: null },
    { time: "2026-11-17T11:42:00Z", server: HOSTILE, process: HOSTILE, pid: 7, call: "fsync", file: null, result: "not returned", duration_s: 95 }] });
  const page = await openPage(browser, url);
  await ready(page);
  const rows = page.locator("#detail table.calls tbody tr");
  equal(await rows.count(), 2, "rows");
  equal((await rows.nth(0).locator("td").allInnerTexts()).join("|"), "2026-11-17 11:41:00|oss06|glusterfsd (812)|pwrite64|/data/brick/x|ENOSPC|", "a call that failed");
  equal((await rows.nth(1).locator("td").allInnerTexts()).slice(1).join("|"), `${HOSTILE}|${HOSTILE} (7)|fsync||not returned|1m35s`, "a call that hangs");
  equal((await misplaced(page)).join("; "), "", "misplaced");
  equal(page.wrong.join("; "), "", "wrong");
}));

test("saves what it shows as CSV and JSON", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  const page = await openPage(browser, url);
  await ready(page);
  await plotted(page);
  const saved = async (text) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".detail-plots button", { hasText: text }).click()]);
    return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
  };
  const [name, csv] = await saved("CSV");
  equal(name, "oss06_disk_sdb.csv", "name");
  equal(csv.split("\n")[0], "time,component,metric,value,unit,peers_median,peers_low,peers_high", "header");
  assert(csv.includes(",oss06/disk:sdb,await,"), "rows");
  const [, json] = await saved("JSON");
  equal(JSON.parse(json).series[0].metric, "await", "series");
}));

test("shows hostile names as text, wherever they stand", (browser) => standing({ hostile: HOSTILE, servers: 3, groups: 1 }, async (stand, url) => {
  stand.break(0);
  stand.act("1", "ack", "POST", { by: HOSTILE, comment: HOSTILE });
  stand.act("1", "mute", "POST", { by: HOSTILE, comment: HOSTILE });
  const page = await openPage(browser, url);
  await ready(page);
  equal(await page.locator("#detail h2").innerText(), HOSTILE, "the incident");
  equal(await page.locator("#incidents .title").innerText(), HOSTILE, "the list");
  equal((await page.locator("#detail table.functions td").allInnerTexts()).slice(0, 2).join("|"), `${HOSTILE}|${HOSTILE}`, "a function");
  await until(page, () => [...document.querySelectorAll(".plots figcaption b")].length === 2);
  equal(await page.locator(".plots figcaption b").nth(1).innerText(), HOSTILE, "a metric");
  await page.locator("#fleet canvas").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.locator("#detail tbody tr").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("<img");
  await page.locator("#results li").first().waitFor();
  await page.goto(`${url}?component=${encodeURIComponent(HOSTILE)}&server=${encodeURIComponent(HOSTILE)}&incident=${encodeURIComponent(HOSTILE)}&q=${encodeURIComponent(HOSTILE)}&range=${encodeURIComponent(HOSTILE)}`);
  await ready(page);
  await page.waitForTimeout(300);
  equal(await page.locator("main img, main script").count(), 0, "elements that a name made");
  equal(page.wrong.filter((text) => !text.includes("404")).join("; "), "", "wrong");
}));

test("runs no script but its own, and asks nobody else", (browser) => standing({}, async (stand, url) => {
  const page = await openPage(browser, url);
  await ready(page);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.smuggled = true";
    document.body.append(script);
  });
  equal(await page.evaluate(() => window.smuggled), undefined, "a script that came in");
  assert(page.wrong.some((text) => text.includes("Content Security Policy")), "nobody objected");
}));

// Keys of a legend whose words are on another line, in the page.
const keysApart = () => [...document.querySelectorAll(".plots .legend i.line")].filter((key) => {
  const words = document.createRange(), box = key.getBoundingClientRect();
  words.selectNodeContents(key.parentElement);
  words.setStartAfter(key);
  const line = words.getClientRects()[0];
  return line && (box.bottom < line.top || box.top > line.bottom);
}).length;

test("has no overlap and no overflow in any width and colour", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  stand.break(14, { level: "warning", ratio: 1.6, minutes: 8, text: "oss15: packets between oss15 and its clients are lost, which slows everybody down" });
  stand.break(2, { ended: true, minutes: 50 });
  for (const width of [1400, 800, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await openPage(browser, url, { colorScheme, viewport: { width, height: 900 } });
      await ready(page);
      await page.locator("#detail h2").waitFor();
      equal((await misplaced(page)).join("; "), "", `${width} pixels, ${colorScheme}`);
      equal(await page.evaluate(keysApart), 0, `keys of the legend on another line than their words, ${width} pixels`);
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
      assert(colorScheme === "dark" ? paper < 150 : paper > 600, `the paper is ${paper}`);
      if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `page-${width}-${colorScheme}.png`), fullPage: true });
      await page.context().close();
    }
  }
}));

test("labels what it draws", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  const page = await openPage(browser, url);
  await ready(page);
  await plotted(page);
  const unlabelled = await page.evaluate(() => [...document.querySelectorAll("input, select, section, [role=img], button, figure")]
    .filter((e) => !e.getAttribute("aria-label") && !e.textContent.trim() && !e.closest("label, [hidden]") && !e.closest("[aria-hidden]"))
    .map((e) => e.outerHTML.slice(0, 80)));
  equal(unlabelled.join("; "), "", "without a label");
  equal(await page.locator("h1").count(), 1, "main headings");
  assert((await page.locator("#fleet canvas").getAttribute("aria-label")).startsWith("24 servers, 1 critical"), "the fleet");
}));

test("stays fluid with 2,000 servers of 50 components", (browser) => standing({ servers: 2000, groups: 40, componentsEach: 50 }, async (stand, url) => {
  stand.break(777);
  const page = await openPage(browser, url);
  await ready(page, "2000 of 2000");
  await page.locator("#detail h2", { hasText: "oss0778" }).waitFor();
  for (let i = 0; i < 20; i++) {
    const changed = stand.servers.slice(i * 100, i * 100 + 100);
    for (const server of changed) server.ratio = 0.7 + ((i * 37) % 11) / 10;
    stand.now += 1000;
    stand.send("fleet", { watermark: new Date(stand.now).toISOString(), servers: changed });
    stand.send("status", stand.status());
    await page.waitForTimeout(30);
  }
  const times = await page.evaluate(() => {
    const worst = {};
    for (const m of performance.getEntriesByType("measure")) worst[m.name] = Math.max(worst[m.name] ?? 0, m.duration);
    return worst;
  });
  console.log(`# main thread, longest of each: ${Object.entries(times).map(([what, ms]) => `${what} ${ms.toFixed(1)} ms`).join(", ")}`);
  const first = await page.evaluate(() => performance.getEntriesByType("paint").map((p) => `${p.name} ${p.startTime.toFixed(0)} ms`).join(", "));
  const whole = await page.evaluate(() => performance.getEntriesByName("limpet fleet")[0]);
  console.log(`# ${first}, all servers ${(whole.startTime + whole.duration).toFixed(0)} ms after the request`);
  assert("limpet fleet update" in times, "no update was seen");
  assert(await page.locator("#fleet canvas").evaluate((e) => e.clientHeight) < 700, "the fleet is too tall");
  assert(await page.locator("body *").count() < 600, `${await page.locator("body *").count()} elements`);
  equal(page.wrong.join("; "), "", "wrong");
}));

test("says that the collector is away, and goes on when it is back", (browser) => standing({}, async (stand, url) => {
  stand.break(5);
  const page = await openPage(browser, url);
  await ready(page);
  const port = stand.server.address().port;
  stand.stop();
  await page.locator("#notice", { hasText: "connection to the collector is lost" }).waitFor();
  equal(await page.locator("#status .chip").nth(3).innerText(), "not connected", "status");
  assert(await page.locator("#incidents .title").isVisible(), "what was known is gone");
  const again = new StandIn(DIST);
  again.break(11);
  await again.start(port);
  try {
    await page.locator("#incidents .title", { hasText: "oss12" }).waitFor({ timeout: 30000 });
    equal(await page.locator("#notice").innerText(), "", "the notice");
    assert(page.wrong.every((text) => text.includes("ERR_") || text.includes("Failed to load")), page.wrong.join("; "));
  } finally {
    again.stop();
  }
}));

// The real collector plays an experiment of the lab: the disk of s5 gets slow.
const SICK = join(process.env.SOURCE, "recordings/ddr-disk-busy-1");
async function collecting(args, run) {
  const collector = await Collector.start(args);
  try {
    await run(collector);
  } finally {
    await collector.stop();
  }
}
const openTitle = (page, text) => page.locator("[aria-label='open incidents'] .title", { hasText: text });

test("shows a fault as a real collector finds it; acknowledges and mutes there", (browser) => collecting(["--replay", SICK, "--speed", "12"], async (collector) => {
  const page = await openPage(browser, collector.url);
  await ready(page, "servers reporting");
  await openTitle(page, "s5: disk").waitFor({ timeout: 90000 });
  await page.locator("#status .chip", { hasText: "1 critical" }).waitFor();
  await openTitle(page, "s5: disk").click();
  await plotted(page);
  assert((await page.locator(".plots figure").first().innerText()).startsWith("await"), "what is off is not plotted first");
  assert((await page.locator("#detail .evidence").innerText()).includes("await"), "no evidence");
  const id = new URL(page.url()).searchParams.get("incident");
  await page.keyboard.press("a");
  await page.locator("dialog [name=by]").fill("ana");
  await page.locator("dialog [name=comment]").fill("<b>on it</b>");
  await page.keyboard.press("Enter");
  await page.locator("#incidents .tags", { hasText: "acknowledged by ana" }).waitFor();
  equal((await collector.get(`incidents/${id}`)).acknowledged.comment, "<b>on it</b>", "acknowledged there");
  await page.keyboard.press("m");
  await page.locator("dialog button", { hasText: "Mute" }).click();
  await page.locator("#incidents .tags", { hasText: "muted" }).waitFor();
  equal((await collector.get(`incidents/${id}`)).muted.by, "ana", "muted there");
  const other = await openPage(browser, `${collector.url}?incident=${id}`);
  await other.locator(".said", { hasText: "<b>on it</b>" }).waitFor();
  await other.locator("#detail button", { hasText: "Unmute" }).click();
  await until(page, () => !document.querySelector("#incidents .tags").textContent.includes("muted"));
  equal((await collector.get(`incidents/${id}`)).muted, null, "unmuted there, and told to everybody");
  await page.locator("#detail button", { hasText: "Add a note" }).click();
  await page.locator("dialog [name=text]").fill("cable replaced");
  await page.keyboard.press("Enter");
  await other.locator(".said", { hasText: "cable replaced" }).waitFor();
  equal([...page.wrong, ...other.wrong].join("; "), "", "wrong");
}));

test("leads from a real server to its components and their plots", (browser) => collecting(["--replay", SICK, "--speed", "200"], async (collector) => {
  const page = await openPage(browser, `${collector.url}?server=s2`);
  await page.locator("#detail tbody tr").first().waitFor({ timeout: 60000 });
  await page.locator("#detail tbody button", { hasText: "s2/disk:" }).first().click();
  await plotted(page);
  assert((await page.locator(".legend").innerText()).includes("median of its 5 peers"), await page.locator(".legend").innerText());
  assert(/ms, peers .* ms/.test(await page.locator("figure", { hasText: "await" }).first().innerText()), "no unit");
  equal(page.wrong.join("; "), "", "wrong");
}));

// A program that reads beside the file system: its functions are beside the disk, in the same incident.
const HOG = join(process.env.SOURCE, "recordings-behaviour/ddw-disk-hog-2");

test("lists the functions behind an incident, and no options of the command line", (browser) => collecting(["--replay", HOG, "--speed", "60"], async (collector) => {
  for (const width of [1400, 390]) {
    const page = await openPage(browser, collector.url, { viewport: { width, height: 900 } }), table = page.locator("#detail table.functions");
    await openTitle(page, "s5: disk").waitFor({ timeout: 90000 });
    // What `limpet diagnose` says about the end of the data.
    await page.locator("#foot", { hasText: "too small" }).waitFor({ timeout: 90000 });
    assert(!(await page.locator("#foot").innerText()).includes("--"), await page.locator("#foot").innerText());
    await table.locator("tbody tr:first-child", { hasText: "limpet-lab:kernel:" }).waitFor();
    equal((await table.locator("thead th").allInnerTexts()).join("|"), "function|metric|here|peers|of the difference", "head");
    const row = (await table.locator("tbody tr").first().locator("td").allInnerTexts()).join("|");
    assert(/^limpet-lab:kernel:[^|]+\|samples\|[\d.]+\/s\|(0|[\d.]+\/s)\|\d+%$/.test(row), row);
    equal((await misplaced(page)).join("; "), "", `${width} pixels`);
    const right = await table.locator("tbody tr").evaluateAll((rows) => Math.max(...rows.map((r) => r.children[2].getBoundingClientRect().right)));
    assert(right <= width, `names push the numbers out of the window: ${right} of ${width} pixels`);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `functions-${width}.png`), fullPage: true });
    equal(page.wrong.join("; "), "", "wrong");
  }
}));

test("asks for an operator's token where one is needed, refuses a wrong one, and signs out", async (browser) => {
  const data = mkdtempSync(join(tmpdir(), "limpet-page-")), token = Collector.enroll(data, "anna");
  const collector = await Collector.start(["--data", data]);
  try {
    const page = await openPage(browser, collector.url.replace("127.0.0.1", "collector.example"));
    const form = page.locator("dialog", { hasText: "Sign in" }), wrong = form.locator("[role=alert]");
    await form.waitFor();
    equal(await page.locator("#incidents .title").count(), 0, "incidents that a stranger sees");
    await form.locator("[name=token]").fill("not-a-token");
    await form.locator("button", { hasText: "Sign in" }).click();
    await until(page, () => document.querySelector("dialog [role=alert]").textContent !== "");
    equal(await wrong.innerText(), "the token is not one of this collector's operators", "a wrong token");
    assert(await form.isVisible(), "a wrong token opens the page");
    await form.locator("[name=token]").fill(token);
    await form.locator("button", { hasText: "Sign in" }).click();
    const out = page.locator("#controls button", { hasText: "Sign out" });
    await out.waitFor();
    equal(await out.getAttribute("title"), "You are signed in as anna.", "who");
    equal(await page.evaluate(() => document.cookie), "", "what scripts see of the token");
    await page.reload();
    await out.waitFor();
    assert(!(await form.isVisible()), "it asks again");
    await out.click();
    await form.waitFor();
    equal((await page.context().cookies()).length, 0, "cookies");
    assert(!(await out.isVisible()), "still signed in");
    assert(page.wrong.every((text) => text.includes("401")), page.wrong.join("; "));
    const own = await openPage(browser, collector.url);
    await until(own, () => document.getElementById("status").textContent.includes("servers"));
    assert(!(await own.locator("#controls button", { hasText: "Sign out" }).isVisible()), "on this machine nobody has to sign in");
  } finally {
    await collector.stop();
    rmSync(data, { recursive: true, force: true });
  }
});

test("finds its way back when the real collector was killed", async (browser) => {
  const args = ["--replay", SICK, "--speed", "12"], first = await Collector.start(args);
  let second = null;
  try {
    const page = await openPage(browser, first.url);
    await openTitle(page, "s5: disk").waitFor({ timeout: 90000 });
    await first.stop("SIGKILL");
    await page.locator("#notice", { hasText: "connection to the collector is lost" }).waitFor();
    assert(await openTitle(page, "s5: disk").isVisible(), "what was known is gone");
    second = await Collector.start(args, first.port);
    await until(page, () => document.getElementById("notice").textContent === "", 30000);
    await until(page, () => !document.getElementById("status").textContent.includes("not connected"));
    await openTitle(page, "s5: disk").waitFor({ timeout: 90000 });
  } finally {
    await first.stop("SIGKILL");
    await second?.stop();
  }
});

test("shows hostile names of a real collector as text", async (browser) => {
  const dir = mkdtempSync(join(tmpdir(), "limpet-page-")), rows = ["time,component,metric,value"];
  for (let at = 0; at < 400; at++) {
    for (let i = 0; i < 8; i++) {
      const observer = i === 3 ? "<img src=x onerror=alert(1)>" : `oss${i}`;
      rows.push(`${1300000000 + at},${observer}/disk:<script>alert(${i})<\\script>,await,${((i === 3 && at > 150 ? 9 : 1) * (5 + ((i * 7919 + at * 104729) % 1000) / 1000)).toFixed(3)}`);
    }
  }
  writeFileSync(join(dir, "hostile.csv"), rows.join("\n"));
  try {
    await collecting(["--replay", join(dir, "hostile.csv"), "--speed", "30"], async (collector) => {
      const page = await openPage(browser, collector.url);
      await openTitle(page, "<img src=x").waitFor({ timeout: 90000 });
      await openTitle(page, "<img src=x").click();
      await page.locator(".detail-plots h3", { hasText: "<script>" }).waitFor();
      equal(await page.locator("main img, main script").count(), 0, "elements that a name made");
      equal(page.wrong.join("; "), "", "wrong");
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

if (!existsSync(DIST)) {
  console.log("1..0 # SKIP this build has no page (npm was not there, or could not install it)");
} else {
  process.exit(await runTests());
}
