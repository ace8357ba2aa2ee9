// stack.mjs: open the page of `limpet stack show --html` in Chromium; speaks TAP.
// $BUILD has tests/web/make_stack, which writes the pages. With
// $SCREENSHOTS (a directory) pictures are kept there.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assert, equal, openPage, runTests, test } from "./browser.mjs";

const RANKS = 4, CALLS = 18, SERVERS = 3, SLOW = 12;

const scratch = mkdtempSync(join(tmpdir(), "limpet-web-"));
const open = (browser, file, options = {}) => openPage(browser, pathToFileURL(join(scratch, file)).href, options);

test("says what the slowest call waited for, without an error or a request", async (browser) => {
  const page = await open(browser, "stack.html");
  const title = await page.locator("h1").innerText();
  assert(/call 12 of rank \d waited .* s for s3's disk/.test(title), title);
  await page.waitForTimeout(200);
  equal(page.wrong.join("; "), "", "wrong");
});

test("draws a bar per call, and beside it one per server", async (browser) => {
  const page = await open(browser, "stack.html");
  equal(await page.locator("#client-bars g.call").count(), CALLS * (1 + SERVERS), "bars of a client");
  equal(await page.locator("#rank option").count(), RANKS, "clients");
  await page.selectOption("#rank", "1");
  equal(await page.locator("#client-bars g.call").count(), CALLS * (1 + SERVERS), "bars of another client");
  const slow = page.locator("#client-bars g.call").nth(SLOW * (1 + SERVERS));
  const heights = await page.locator("#client-bars g.call").evaluateAll((all) => all.map((g) =>
    [...g.querySelectorAll("rect")].slice(0, -1).reduce((sum, r) => sum + Number(r.getAttribute("height")), 0)));
  equal(heights.indexOf(Math.max(...heights)), SLOW * (1 + SERVERS), "the highest bar");
  await slow.hover();
  assert((await page.locator("#tip").innerText()).startsWith("call 1:12"), await page.locator("#tip").innerText());
});

test("draws latency, throughput and power of a server", async (browser) => {
  const page = await open(browser, "stack.html");
  equal(await page.locator("#server").inputValue(), "2", "the server of the slowest call is chosen");
  for (const id of ["server-bars", "rate-bars", "power-bars"])
    equal(await page.locator(`#${id} g.call`).count(), CALLS * RANKS, id);
  await page.selectOption("#server", "0");
  equal(await page.locator("#server-bars g.call").count(), CALLS * RANKS, "another server");
  equal(await page.locator("#heat rect").count(), CALLS * RANKS * SERVERS, "cells of the heat map");
});

test("opens the waterfall of a call", async (browser) => {
  const page = await open(browser, "stack.html");
  await page.locator("#heat rect").first().click();
  assert((await page.locator("#fall-title").innerText()).startsWith("Call 0:0: ncmpi_put_vara_double_all"), "title");
  equal(await page.locator("#fall tr").count(), 3 + SERVERS * 4, "parts");
  assert((await page.locator("#fall").innerText()).includes("s3 block write 32.8 kB"), "hosts and layers");
  assert(await page.locator("#before").isDisabled(), "there is one before the first");
  await page.locator("#after").click();
  assert((await page.locator("#fall-title").innerText()).startsWith("Call 0:1:"), "the next one");
  await page.locator("#slowest button").first().click();
  assert(/^Call \d:12:/.test(await page.locator("#fall-title").innerText()), "by the table");
});

test("shows names as they are", async (browser) => {
  const page = await open(browser, "stack.html");
  await page.selectOption("#rank", "3");
  await page.locator("#client-bars g.call").first().click();
  assert((await page.locator("#fall").innerText()).includes("<img src=x onerror=alert(1)>"), "a hostile name");
  equal(await page.locator("img").count(), 0, "images");
  equal(page.wrong.join("; "), "", "wrong");
});

test("has no charts of servers where there are none", async (browser) => {
  const page = await open(browser, "local.html");
  equal(await page.locator("#client-bars g.call").count(), CALLS, "bars");
  assert(await page.locator("#heat").isHidden() && await page.locator("#server-bars").isHidden(), "hidden");
  assert(/spent .* in posix/.test(await page.locator("h1").innerText()), "headline");
  equal(page.wrong.join("; "), "", "wrong");
});

test("overlaps nothing and is not wider than the window", async (browser) => {
  for (const width of [1280, 800, 400]) {
    const page = await open(browser, "stack.html", { viewport: { width, height: 900 } });
    const found = await page.evaluate(() => {
      const wrong = [];
      if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
      const cards = [...document.querySelectorAll(".card:not([hidden])")].map((e) => e.getBoundingClientRect());
      cards.forEach((a, i) => cards.slice(i + 1).forEach((b) => {
        if (a.bottom > b.top + 1 && b.bottom > a.top + 1) wrong.push("two cards overlap");
      }));
      for (const svg of document.querySelectorAll("svg.bars, svg.heat")) {
        const texts = [...svg.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
        texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
          if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom) wrong.push(`'${one}' is over '${other}'`);
        }));
      }
      return wrong;
    });
    equal(found.join("; "), "", `at ${width}`);
  }
});

test("is one file that names no address", async () => {
  const text = readFileSync(join(scratch, "stack.html"), "utf8");
  assert(!/(https?:)?\/\/[a-z]/i.test(text.replace("http://www.w3.org/2000/svg", "")), "an address");
});

async function takePictures(browser, dir) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 600]) {
      const page = await open(browser, "stack.html", { colorScheme, viewport: { width, height: 900 } });
      await page.screenshot({ path: join(dir, `stack-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
}

process.exitCode = await runTests({
  before: () => execFileSync(join(process.env.BUILD, "tests/web/make_stack"), [scratch], { stdio: "inherit" }),
  after: async (browser) => {
    if (process.env.SCREENSHOTS) await takePictures(browser, process.env.SCREENSHOTS);
  },
});
rmSync(scratch, { recursive: true, force: true });
