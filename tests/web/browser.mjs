// browser.mjs: shared by the tests in Chromium: test cases, pages, TAP. $CHROMIUM is the browser.
import { existsSync } from "node:fs";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
  // A name that is not this machine's own, for what a browser elsewhere sees.
  "--host-resolver-rules=MAP collector.example 127.0.0.1"];
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const tests = [];

export const test = (title, run) => tests.push({ title, run });
export function assert(condition, message) {
  if (!condition) throw new Error(message);
}
export function equal(actual, expected, what) {
  assert(actual === expected, `${what}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
}

// Open a page. Everything that it may not do is collected in page.wrong: errors, dialogs, requests of
// another place than its own.
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage(), origin = new URL(url).origin;
  page.wrong = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && page.wrong.push(`${m.text()} (${m.location().url})`));
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("dialog", (dialog) => { page.wrong.push("a dialog"); dialog.dismiss(); });
  page.on("request", (r) => r.url() !== url && (origin === "null" || new URL(r.url()).origin !== origin) &&
    !r.url().startsWith("blob:") && page.wrong.push(`request of ${r.url()}`));
  await page.goto(url);
  return page;
}

// Wait until a function says so in the page. (Playwright's own way evaluates text there, which the
// policy of our pages forbids.)
export async function until(page, predicate, timeout = 20000) {
  for (const end = Date.now() + timeout; !(await page.evaluate(predicate));) {
    assert(Date.now() < end, `waited in vain for ${predicate}`);
    await page.waitForTimeout(50);
  }
}

// What lies over another text of its axis, or sticks out of the window; what scrolls may.
export const misplaced = (page) => page.evaluate(() => {
  const wrong = [], width = document.documentElement.clientWidth;
  const shown = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility === "visible";
  for (const svg of document.querySelectorAll("svg")) {
    const boxes = [...svg.querySelectorAll("text:not([hidden])")].filter(shown).map((e) => [e.getBoundingClientRect(), e.textContent]);
    const gap = svg.classList.contains("x") ? 4 : 0; // times that touch look like one
    boxes.forEach(([a, text], i) => {
      for (const [b, other] of boxes.slice(i + 1))
        if (a.left < b.right + gap && b.left < a.right + gap && a.top < b.bottom && b.top < a.bottom) wrong.push(`"${text}" lies on "${other}"`);
    });
  }
  for (const e of document.querySelectorAll("body *")) {
    if (!shown(e) || e.closest(".wide, svg.area, .row[data-name] svg")) continue;
    const box = e.getBoundingClientRect();
    if (box.right > width + 1 || box.left < -1) wrong.push(`${e.tagName}.${e.getAttribute("class")} sticks out`);
  }
  if (document.documentElement.scrollWidth > width) wrong.push(`${document.documentElement.scrollWidth} pixels are needed`);
  return wrong.slice(0, 6);
});

// Run all test cases; returns the exit status.
export async function runTests({ before = () => {}, after = () => {} } = {}) {
  let failed = 0;
  try {
    if (!existsSync(browserPath)) throw new Error(`there is no ${browserPath}: run scripts/deps.sh`);
    const { chromium } = await import("playwright-core");
    await before();
    // A new browser has a new, empty profile.
    const browser = await chromium.launch({ executablePath: browserPath, args: FLAGS });
    console.log(`1..${tests.length}`);
    for (const [at, { title, run }] of tests.entries()) {
      try {
        await run(browser);
        console.log(`ok ${at + 1} - ${title}`);
      } catch (error) {
        failed++;
        console.log(`not ok ${at + 1} - ${title}\n# ${String(error.message).replace(/\n/g, "\n# ")}`);
      }
      for (const context of browser.contexts()) await context.close();
    }
    await after(browser);
    await browser.close();
  } catch (error) {
    console.log(`1..1\nnot ok 1 - the browser test can run\n# ${String(error.message).replace(/\n/g, "\n# ")}`);
    failed++;
  }
  return failed ? 1 : 0;
}
