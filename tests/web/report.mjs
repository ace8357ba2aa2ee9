// report.mjs: open the HTML report in Chromium, as an operator would; speaks TAP.
// $BUILD has tests/web/make_report, which writes the report. With $SCREENSHOTS (a directory)
// pictures are kept there.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assert, equal, misplaced, openPage, runTests, test } from "./browser.mjs";

const SLOW = "fs2/disk:sdd";
const HOSTILE = "fs3/disk:<img src=x onerror=alert(1)>";

const scratch = mkdtempSync(join(tmpdir(), "limpet-web-"));
const open = (browser, file, options = {}) => openPage(browser, pathToFileURL(join(scratch, file)).href, options);

const colourOf = (page, selector, property) =>
  page.locator(selector).first().evaluate((e, name) => getComputedStyle(e)[name], property);
const boxOf = (locator) => locator.first().evaluate((e) => {
  const { x, y, width, height } = e.getBBox();
  return { x, y, width, height };
});
const variable = (page, name) => page.evaluate((n) => {
  const probe = document.createElement("i");
  probe.style.color = `var(${n})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}, name);

test("says who limps, without an error or a request", async (browser) => {
  const page = await open(browser, "sick.html");
  equal((await page.locator("h1").innerText()).includes("fs2: disk sdd"), true, "the headline names the suspect");
  assert(await page.locator("#incident-1 h2").isVisible(), "the worst incident is not shown");
  await page.waitForTimeout(200);
  equal(page.wrong.join("; "), "", "wrong");
});

test("draws the suspect in its colour, the peers as a band, the median bold", async (browser) => {
  const page = await open(browser, "sick.html");
  const plot = "#incident-1 .area";
  equal(await colourOf(page, `${plot} .own`, "stroke"), await variable(page, "--own"), "own line");
  equal(await colourOf(page, `${plot} .peers`, "fill"), await variable(page, "--band"), "peers");
  equal(await page.locator(`${plot} .median`).count(), 1, "medians");
  assert(parseFloat(await colourOf(page, `${plot} .median`, "strokeWidth")) > 1.9, "the median is not bold");
  const box = await boxOf(page.locator(`${plot} .own`));
  assert(box.width > 1900 && box.height > 100, `the line is ${box.width} x ${box.height}`);
});

test("shades the anomalous windows where they are", async (browser) => {
  const page = await open(browser, "sick.html");
  const shades = page.locator("#incident-1 .area .shade");
  equal(await shades.count(), 1, "stretches of the slow disk");
  const box = await boxOf(shades);
  // From 03:52:30 to 12:00 of twelve hours.
  assert(Math.abs(box.x - 2000 * 3.875 / 12) < 3, `it begins at ${box.x}`);
  assert(Math.abs(box.x + box.width - 2000) < 3, `it ends at ${box.x + box.width}`);
  equal(await page.locator("#incident-3 .area .shade").count(), 2, "stretches of the stuttering one");
  assert(await page.locator("#incident-2 .area .shade.absent").count() > 0, "no lost work is shown");
});

test("marks the onset in the plot", async (browser) => {
  const page = await open(browser, "sick.html");
  equal(await page.locator("#incident-1 .flags text").innerHTML(), "onset 03:52:30", "the flag");
  const line = await boxOf(page.locator("#incident-1 .area .event"));
  assert(Math.abs(line.x - 2000 * 3.875 / 12) < 3, `the line is at ${line.x}`);
  equal(await page.locator("#incident-3 .area .event").count(), 2, "onset and end of what is over");
});

test("has a heat map: who was off, and some of the others", async (browser) => {
  const page = await open(browser, "sick.html");
  equal(await page.locator(".heat .row[data-name]").count(), 5 + 12, "rows");
  equal(await page.locator(".heat .row.suspect").count(), 3, "rows of suspects");
  equal(await page.locator(".heat .row[data-name]").first().getAttribute("data-name"), SLOW, "the worst first");
  equal(await page.locator(".more").innerText(), "7 more, all normal", "the rest");
  const hot = page.locator(`.heat .row[data-name="${SLOW}"] rect.a3`);
  assert(await hot.count() > 0, "the slow disk is not hot");
  equal(await page.locator('.heat .row[data-name="fs3/disk:sdc"] rect.x').count() > 0, true, "absent");
});

test("filters and sorts the heat map", async (browser) => {
  const page = await open(browser, "sick.html");
  const visible = page.locator(".heat .row[data-name]:visible");
  const tools = page.locator("#heat .tools");
  await tools.locator("input").fill("FS2/");
  const rows = await visible.count();
  assert(rows > 1 && rows < 9, `${rows} disks of fs2`);
  await tools.locator("input").fill("");
  await tools.locator("select").selectOption({ index: 1 });
  equal(await visible.first().getAttribute("data-name"), "fs1/disk:sda", "first by name");
  await tools.locator("select").selectOption({ index: 0 });
  equal(await visible.first().getAttribute("data-name"), SLOW, "first by severity");
});

test("leads from a cell to the component, its window and all of its metrics", async (browser) => {
  const page = await open(browser, "sick.html");
  await page.locator(`.heat .row[data-name="${SLOW}"] svg`).click({ position: { x: 500, y: 8 } });
  const panel = page.locator("#component");
  assert(await panel.isVisible(), "nothing is shown");
  equal(await panel.locator("h2 .name").innerText(), SLOW, "the component");
  assert((await panel.locator("h2 time").innerText()).startsWith("2011-04-17 "), "the time");
  equal((await panel.locator("figcaption b").allInnerTexts()).join(), "await,rd_sec", "metrics");
  assert((await panel.locator(".area .shade").count()) > 0, "anomalous windows are not shaded");
  await panel.locator("button", { hasText: "Close" }).click();
  assert(!await panel.isVisible(), "it stays");
  await page.locator('.heat .row[data-name="fs1/disk:sda"] .label').click();
  equal(await panel.locator("h2 .name").innerText(), "fs1/disk:sda", "by its name");
  equal(page.wrong.join("; "), "", "wrong");
});

test("zooms all plots by dragging, and back", async (browser) => {
  const page = await open(browser, "sick.html");
  const box = (selector) => page.locator(selector).first().getAttribute("viewBox");
  const area = await page.locator("#incident-1 .area").boundingBox();
  await page.mouse.move(area.x + area.width * 0.25, area.y + 50);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width * 0.5, area.y + 60, { steps: 4 });
  await page.mouse.up();
  const [x, , width] = (await box("#incident-1 .area")).split(" ").map(Number);
  assert(Math.abs(x - 500) < 10 && Math.abs(width - 500) < 10, `it shows ${x} and ${width} from there`);
  assert((await box(".heat .row svg")) !== "0 0 95 1", "the heat map is not zoomed");
  const shown = await page.locator(".shown").innerText();
  assert(/^2011-04-17 0(2:59|3:00).* to 0(5:59|6:00)/.test(shown), shown);
  await page.locator(".range button", { hasText: "All" }).click();
  equal((await box("#incident-1 .area")).split(" ").map(Number).join(" "), "0 0 2000 440", "all of it");
  await page.locator(".strip").focus();
  await page.keyboard.press("+");
  assert((await box("#incident-1 .area")) !== "0 0 2000 440", "no zoom by keyboard");
});

test("shows times in UTC or in the reader's zone", async (browser) => {
  const page = await open(browser, "sick.html", { timezoneId: "America/New_York" });
  const since = page.locator("#incident-1 .facts time").first();
  equal(await since.innerText(), "2011-04-17 03:52:30 UTC", "at first");
  await page.locator("header button", { hasText: "Local" }).click();
  equal(await since.innerText(), "2011-04-16 23:52:30 UTC-04:00", "local");
  equal(await page.locator("#incident-1 .flags text").innerHTML(), "onset 23:52:30", "the flag");
  assert((await page.locator("#incident-1 .x text").allTextContents()).includes("21:00"), "the axis");
  await page.locator("header button", { hasText: "UTC" }).click();
  equal(await since.innerText(), "2011-04-17 03:52:30 UTC", "and back");
});

test("shows a hostile name as text", async (browser) => {
  const page = await open(browser, "sick.html");
  equal(await page.locator("img").count(), 0, "images");
  await page.locator(".pick").nth(2).click();
  assert((await page.locator("#incident-3 h2").innerText()).includes("<img src=x onerror=alert(1)>"), "the name");
  equal(await page.locator("#incident-3 .area").getAttribute("data-name"), HOSTILE, "in the plot");
  equal(page.wrong.join("; "), "", "wrong");
});

test("chooses incidents by keyboard", async (browser) => {
  const page = await open(browser, "sick.html");
  await page.locator(".pick").first().focus();
  await page.keyboard.press("ArrowDown");
  assert(await page.locator("#incident-2").isVisible(), "the second is not shown");
  assert(!await page.locator("#incident-1").isVisible(), "the first is still shown");
  equal(await page.locator('.pick[aria-current="true"] .rank').innerText(), "2", "chosen");
  await page.keyboard.press("End");
  assert(await page.locator("#incident-3").isVisible(), "the last is not shown");
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  assert(await page.locator("#incident-1").isVisible(), "the first is not shown");
});

test("reads out values under the pointer and by keyboard", async (browser) => {
  const page = await open(browser, "sick.html");
  const area = page.locator("#incident-1 .area"), tip = page.locator("#tip");
  await area.hover({ position: { x: 500, y: 100 } });
  const text = await tip.innerText();
  assert(text.includes(`${SLOW}: `) && / ms\n/.test(text) && text.includes(" UTC"), text);
  assert(/[345](\.\d)?x its peers/.test(text), text);
  await page.mouse.move(5, 5);
  assert(!await tip.isVisible(), "the read-out stays");
  await area.focus();
  await page.keyboard.press("ArrowRight");
  assert(await tip.isVisible(), "no read-out by keyboard");
  await page.keyboard.press("Escape");
  assert(!await tip.isVisible(), "Escape does not close it");
  await page.locator(".heat .row svg").first().hover({ position: { x: 600, y: 6 } });
  assert((await tip.innerText()).includes("await: about"), await tip.innerText());
});

test("sorts the table of suspects", async (browser) => {
  const page = await open(browser, "sick.html");
  const first = () => page.locator("#suspects tbody tr").first().locator(".name").innerText();
  const persistence = page.locator("#suspects thead button", { hasText: "persistence" });
  equal(await first(), SLOW, "at first");
  await persistence.click();
  equal(await first(), SLOW, "the most persistent");
  await persistence.click();
  equal(await first(), HOSTILE, "the least persistent");
});

test("is dark where the system is, and can be switched", async (browser) => {
  const light = await open(browser, "sick.html", { colorScheme: "light" });
  const dark = await open(browser, "sick.html", { colorScheme: "dark" });
  const paper = await colourOf(light, "body", "backgroundColor");
  const night = await colourOf(dark, "body", "backgroundColor");
  const brightness = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0);
  assert(brightness(paper) > 600 && brightness(night) < 150, `${paper}, ${night}`);
  equal(await colourOf(dark, "#incident-1 .own", "stroke"), await variable(dark, "--own"), "own line");
  await dark.locator(".theme").click();
  equal(await colourOf(dark, "body", "backgroundColor"), paper, "switched to light");
  await light.locator(".theme").click();
  equal(await colourOf(light, "body", "backgroundColor"), night, "switched to dark");
});

test("has no overlap and no overflow in any width and colour", async (browser) => {
  for (const width of [1400, 800, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      for (const file of ["sick.html", "well.html"]) {
        const page = await open(browser, file, { colorScheme, viewport: { width, height: 900 } });
        if (file === "sick.html") await page.locator(".heat .row .label").first().click();
        equal((await misplaced(page)).join("; "), "", `${file} at ${width} pixels, ${colorScheme}`);
        await page.locator("header button", { hasText: "Local" }).click();
        equal((await misplaced(page)).join("; "), "", `${file} at ${width} pixels, local time`);
        await page.context().close();
      }
    }
  }
});

test("keeps the labels of times apart without a script, too", async (browser) => {
  for (const width of [1400, 800, 390]) {
    const page = await open(browser, "sick.html", { javaScriptEnabled: false, viewport: { width, height: 900 } });
    equal((await misplaced(page)).join("; "), "", `at ${width} pixels`);
  }
});

test("folds 2,400 healthy disks into a line, and stays below 1 MB for an hour of them", async (browser) => {
  const rows = ["time,component,metric,value"];
  for (let at = 0; at < 240; at++) {
    for (let disk = 0; disk < 2400; disk++) {
      const slow = disk === 777 && at > 80 ? 9 : 1, noise = ((disk * 7919 + at * 104729) % 1000) / 1000;
      rows.push(`${1300000000 + at * 15},fs${disk % 200}/disk:sd${Math.floor(disk / 200)},await,${(slow * (5 + noise)).toFixed(2)}`);
    }
  }
  writeFileSync(join(scratch, "many.csv"), rows.join("\n"));
  const limpet = join(process.env.BUILD, "src/cli/limpet");
  spawnSync(limpet, ["diagnose", "--html", join(scratch, "many.html"), join(scratch, "many.csv")]);
  const text = readFileSync(join(scratch, "many.html"), "utf8");
  console.log(`# 2,400 disks and an hour: ${text.length} bytes`);
  assert(text.length < 1000000, `${text.length} bytes`);
  const page = await open(browser, "many.html");
  const shown = await page.locator(".heat .row[data-name]").count();
  assert(shown > 0 && shown < 60, `${shown} rows`);
  equal(await page.locator(".heat .row[data-name]").first().getAttribute("data-name"), "fs177/disk:sd3", "first");
  equal((await misplaced(page)).join("; "), "", "misplaced");
});

test("says it all without a script, and on paper", async (browser) => {
  const plain = await open(browser, "sick.html", { javaScriptEnabled: false });
  for (const at of [1, 2, 3])
    assert(await plain.locator(`#incident-${at} .area .own`).first().isVisible(), `no plot ${at}`);
  const paper = await open(browser, "sick.html", { colorScheme: "dark" });
  await paper.emulateMedia({ media: "print" });
  for (const at of [1, 2, 3])
    assert(await paper.locator(`#incident-${at}`).isVisible(), `incident ${at} is not printed`);
  assert(!await paper.locator(".theme").isVisible(), "a button is printed");
  equal(await variable(paper, "--card"), "rgb(255, 255, 255)", "paper");
});

test("runs no script but its own", async (browser) => {
  const page = await open(browser, "sick.html");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.smuggled = true";
    document.body.append(script);
  });
  equal(await page.evaluate(() => window.smuggled), undefined, "a script that came in");
  assert(page.wrong.some((text) => text.includes("Content Security Policy")), "nobody objected");
});

test("labels what it draws", async (browser) => {
  const page = await open(browser, "sick.html");
  const unlabelled = await page.evaluate(() => [...document.querySelectorAll(
    "svg:not([aria-hidden]), input, select, nav, [role=img]")]
    .filter((e) => !e.getAttribute("aria-label")).map((e) => e.outerHTML.slice(0, 80)));
  equal(unlabelled.join("; "), "", "without a label");
  equal(await page.locator("h1").count(), 1, "main headings");
  equal(await page.evaluate(() => document.documentElement.lang), "en", "language");
});

test("says in one line that all is well", async (browser) => {
  const page = await open(browser, "well.html");
  assert((await page.locator("h1").innerText()).startsWith("All is well: nothing is slow"), "headline");
  equal(await page.locator(".incident, nav").count(), 0, "incidents");
  equal(page.wrong.join("; "), "", "wrong");
});

test("is one file of reasonable size that names no address", async () => {
  const text = readFileSync(join(scratch, "sick.html"), "utf8");
  assert(text.length < 600000, `${text.length} bytes`);
  assert(!/(https?:)?\/\/[a-z]/i.test(text.replace(/<svg[^>]*>/g, "")), "an address");
});

async function takePictures(browser, dir) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1400, 800, 390]) {
      const page = await open(browser, "sick.html", { colorScheme, viewport: { width, height: 900 } });
      await page.screenshot({ path: join(dir, `report-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
}

process.exitCode = await runTests({
  before: () => execFileSync(join(process.env.BUILD, "tests/web/make_report"), [scratch], { stdio: "inherit" }),
  after: async (browser) => {
    if (process.env.SCREENSHOTS) await takePictures(browser, process.env.SCREENSHOTS);
  },
});
rmSync(scratch, { recursive: true, force: true });
