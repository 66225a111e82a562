// The page in a real browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import type { Page } from "playwright-core";

import { browser, complaints, fixture, open, query, range, ready, ROOT, scratch, serve, small } from "../testing/site.ts";

/** Colours of the pixels of the canvas around a moment of a lane. */
async function colourAt(page: Page, thread: number, t: number): Promise<number[]> {
  return page.evaluate(
    ([id, at]) => {
      const place = loadline.timeline.locate(id!, at!)!;
      const canvas = document.querySelector<HTMLCanvasElement>(".timeline canvas")!;
      const box = canvas.getBoundingClientRect();
      const data = canvas.getContext("2d")!.getImageData(Math.round(place.x - box.left), Math.round(place.y - box.top), 1, 1).data;
      return [...data.slice(0, 3)];
    },
    [thread, t],
  );
}

describe("the page", () => {
  test("tells at once what the trace is, and shows its slowest request", async () => {
    const page = await open(small);
    assert.match(await page.locator("header").innerText(), /shop[\s\S]*Tomcat\/11\.0\.9[\s\S]*nothing lost[\s\S]*requests\/s[\s\S]*p95/);
    const [slowest, thread, begin, end] = await query(
      page,
      "SELECT (end_ns - begin_ns) / 1e6, thread, t(begin_ns) * 1e9, t(end_ns) * 1e9 FROM spans WHERE kind = 'request' AND complete AND t(begin_ns) >= 1.5 ORDER BY 1 DESC LIMIT 1",
    );
    const first = await page.locator(".requests tr.chosen").innerText();
    assert.ok(Math.abs(Number.parseFloat(first) - Number(slowest)) < 1, `${first} is not ${slowest} ms`);
    const { begin: from, end: to } = await range(page);
    assert.ok(from < Number(begin) && Number(end) < to);
    assert.equal(await page.evaluate(() => loadline.view.state.selection?.thread), thread);
    assert.match(await page.locator(".moment").innerText(), /thread[\s\S]*http-nio-8443-exec-/);
    await page.close();
  });

  test("draws a state in its colour where it lies", async () => {
    const page = await open(small);
    for (const [state, colour] of [["running", [0, 158, 115]], ["runnable", [230, 159, 0]]] as const) {
      const [thread, begin, end] = await query(
        page,
        `SELECT thread, t(begin_ns) * 1e9, t(end_ns) * 1e9 FROM states WHERE state = '${state}' AND end_ns - begin_ns > 1000000
           AND thread IN (SELECT id FROM threads WHERE name = 'http-nio-8443-exec-3') ORDER BY begin_ns LIMIT 1`,
      );
      const margin = 2e6;
      await page.goto(`${small.url}#r=${(Number(begin) - margin) / 1e9},${(Number(end) + margin) / 1e9}`);
      await page.reload();
      await ready(page);
      await page.evaluate(() => (document.querySelector(".timeline")!.scrollTop = 0));
      await page.waitForTimeout(200);
      assert.deepEqual(await colourAt(page, Number(thread), (Number(begin) + Number(end)) / 2), colour);
    }
    await page.close();
  });

  test("draws counters above the threads, and tells what a request cost", async () => {
    const page = await open(small);
    await page.waitForSelector(".cost dd");
    assert.match(await page.locator(".cost").innerText(), /cpu time\s+[\d.]+ (ms|µs)[\s\S]*minor faults\s+~ [\d.]+/);
    await page.keyboard.press("f");
    await page.evaluate(() => (document.querySelector(".timeline")!.scrollTop = 0));
    await page.waitForTimeout(200);
    const colour = await page.evaluate(() => {
      const place = loadline.timeline.locateCounter("cpu_ns", loadline.view.range.end / 2)!;
      const canvas = document.querySelector<HTMLCanvasElement>(".timeline canvas")!;
      const box = canvas.getBoundingClientRect();
      return [...canvas.getContext("2d")!.getImageData(Math.round(place.x - box.left), Math.round(place.y - box.top), 1, 1).data.slice(0, 3)];
    });
    assert.deepEqual(colour, [0, 158, 115]);
    await page.close();
  });

  test("W and S zoom, A and D pan, F fits, and the wheel zooms at the pointer", async () => {
    const page = await open(small, "#r=9,11");
    await page.keyboard.press("w");
    let now = await range(page);
    assert.deepEqual(now, { begin: 9.3e9, end: 10.7e9 });
    await page.keyboard.press("d");
    now = await range(page);
    assert.deepEqual(now, { begin: 9.58e9, end: 10.98e9 });
    await page.keyboard.press("a");
    await page.keyboard.press("s");
    now = await range(page);
    assert.ok(Math.abs(now.begin - 9e9) < 10 && Math.abs(now.end - 11e9) < 10);
    const box = (await page.locator(".timeline").boundingBox())!;
    await page.mouse.move(box.x + 216 + (box.width - 216) / 4, box.y + 80);
    await page.mouse.wheel(0, -300);
    await page.waitForFunction((end) => loadline.view.range.end !== end, now.end);
    const zoomed = await range(page);
    assert.ok(zoomed.end - zoomed.begin < 1.2e9);
    assert.ok(Math.abs((9.5e9 - zoomed.begin) / (zoomed.end - zoomed.begin) - 0.25) < 0.01, "what is below the pointer stays");
    await page.keyboard.press("f");
    assert.deepEqual(await range(page), { begin: 0, end: 20e9 });
    await page.close();
  });

  test("dragging pans, and the address follows and leads back", async () => {
    const page = await open(small, "#r=9,11&tab=matrix");
    const box = (await page.locator(".timeline").boundingBox())!;
    await page.mouse.move(box.x + 900, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 100, { steps: 4 });
    await page.mouse.up();
    const moved = await range(page);
    assert.ok(moved.begin > 9.4e9 && Math.abs(moved.end - moved.begin - 2e9) < 10);
    await page.waitForFunction(() => {
      const [begin, end] = new URLSearchParams(location.hash.slice(1)).get("r")!.split(",").map((s) => Math.round(Number(s) * 1e9));
      return begin === loadline.view.range.begin && end === loadline.view.range.end;
    });
    const address = page.url();
    await page.close();
    const again = await open(small, address.slice(small.url.length));
    assert.deepEqual(await range(again), moved);
    assert.equal(await again.evaluate(() => loadline.view.state.tab), "matrix");
    await again.close();
  });

  test("the overview chooses a range by dragging", async () => {
    const page = await open(small, "#r=0,20");
    const box = (await page.locator(".overview canvas").boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 5 });
    await page.mouse.up();
    const now = await range(page);
    assert.ok(Math.abs(now.begin - 5e9) < 4e7 && Math.abs(now.end - 10e9) < 4e7, JSON.stringify(now));
    await page.close();
  });

  test("a tooltip tells state, time, lock, owner and waker of what is below the pointer", async () => {
    const page = await open(small);
    const [thread, begin, end, owner] = await query(
      page,
      `SELECT s.thread, t(s.begin_ns) * 1e9, t(s.end_ns) * 1e9, o.name FROM states s JOIN waits w ON w.id = s.wait JOIN threads o ON o.id = w.owner
       WHERE s.cause = 'lock' AND s.thread IN (SELECT id FROM threads WHERE name LIKE '%-exec-2') ORDER BY s.end_ns - s.begin_ns DESC LIMIT 1`,
    );
    const length = Number(end) - Number(begin);
    await page.evaluate((hash) => (location.hash = hash), `#r=${(Number(begin) - length) / 1e9},${(Number(end) + length) / 1e9}`);
    await page.evaluate(() => (document.querySelector(".timeline")!.scrollTop = 0));
    await page.waitForTimeout(300);
    const place = await page.evaluate(([id, t]) => loadline.timeline.locate(id!, t!), [Number(thread), Number(begin) + length / 2]);
    await page.mouse.move(place!.x, place!.y);
    await page.locator(".tooltip").waitFor({ state: "visible" });
    const text = await page.locator(".tooltip").innerText();
    assert.match(text, /blocked on a lock/);
    assert.match(text, /monitor of shop\.ItemCache/);
    assert.ok(text.includes(String(owner)), `${text} does not name ${owner}`);
    assert.ok(text.includes(`${(length / 1e6).toPrecision(3)} ms`), text);
    assert.match(text, /GET \/|Servlet/);
    await page.mouse.click(place!.x, place!.y);
    await page.waitForFunction(() => document.querySelector(".moment")?.textContent?.includes("blocked on a lock"));
    await page.locator(".moment summary", { hasText: "shop.ItemCache.get:31" }).click();
    assert.equal(await page.locator(".moment .frames").innerText(), "shop.ItemCache.get:31\nshop.ItemService.show:52\njava.lang.Thread.run:840");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction((t) => (loadline.view.state.selection?.t ?? 0) >= t, Number(end));
    await page.close();
  });

  test("a request of the table leads to its place in the timeline and to its waterfall, and Back to the table", async () => {
    const page = await open(small);
    const row = page.locator(".requests tbody tr").nth(5);
    const at = Number.parseFloat((await row.locator("td").nth(1).innerText()).replace(" s", "")) * 1e9;
    await row.click();
    const now = await range(page);
    assert.ok(now.begin < at + 1e6 && now.end > at);
    await page.locator(".wf-head").waitFor();
    assert.equal(await page.evaluate(() => loadline.view.state.tab), "waterfall");
    await page.goBack();
    await page.waitForFunction(() => loadline.view.state.tab === "requests");
    assert.notDeepEqual(await range(page), now);
    await page.goForward();
    await page.waitForFunction(() => loadline.view.state.tab === "waterfall");
    assert.deepEqual(await range(page), now);
    await page.getByRole("tab", { name: "Requests" }).click();
    assert.match((await row.getAttribute("class")) ?? "", /chosen/);
    await page.getByRole("button", { name: "request", exact: true }).click();
    await page.waitForFunction(() => document.querySelector("th[aria-sort]")?.textContent === "request");
    await page.close();
  });

  test("the matrix has a row per phase with its causes", async () => {
    const page = await open(small);
    await page.getByRole("tab", { name: "Matrix" }).click();
    await page.locator(".matrix tbody tr").first().waitFor();
    const text = await page.locator(".matrix").innerText();
    for (const word of ["TLS handshake, full", "TLS handshake, resumed", "service", "waiting for the pool", "SQL", "running", "runnable", "lock", "socket"]) {
      assert.ok(text.includes(word), word);
    }
    await page.close();
  });

  test("the diagnosis has a verdict and a row per hypothesis, and its queries run", async () => {
    const page = await open(small);
    await page.getByRole("tab", { name: "Diagnosis" }).click();
    await page.locator(".diagnosis tbody tr").first().waitFor();
    assert.match(await page.locator(".diagnosis .verdict").innerText(), /^verdict .+\.$/s);
    assert.ok((await page.locator(".diagnosis tbody tr").count()) > 15);
    await page.locator(".diagnosis tbody button").last().click();
    await page.waitForFunction(() => loadline.view.state.tab === "query");
    await page.locator(".answer table").waitFor();
    await page.close();
  });

  test("the query tab answers at once, answers what is asked, and shows errors as text", async () => {
    const page = await open(small);
    await page.getByRole("tab", { name: "Query" }).click();
    await page.locator(".answer tbody tr").first().waitFor();
    await page.getByLabel("SQL").fill("SELECT 6 * 7 AS answer, '<b>text</b>' AS markup");
    await page.getByLabel("SQL").press("Control+Enter");
    await page.waitForFunction(() => document.querySelector(".answer td")?.textContent === "42");
    assert.equal(await page.locator(".answer td").nth(1).innerText(), "<b>text</b>");
    await page.getByLabel("SQL").fill("SELECT nothing FROM states");
    const before = complaints.length;
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".answer .error").waitFor();
    assert.match(await page.locator(".answer .error").innerText(), /nothing/);
    // The browser itself logs the refusal, which is meant here.
    complaints.splice(before);
    await page.close();
  });

  test("help lists the keys and closes again", async () => {
    const page = await open(small);
    await page.keyboard.press("?");
    assert.match(await page.locator("dialog").innerText(), /fit the whole trace[\s\S]*woken, waiting for a CPU/);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "hidden" });
    await page.close();
  });

  test("it follows the system into dark, and fits a narrow window", async () => {
    const page = await open(small, "", { colorScheme: "dark", viewport: { width: 1000, height: 700 } });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 24, 29)");
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction(() => getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)");
    await page.getByRole("tab", { name: "Moment" }).click();
    await page.locator(".moment-head").waitFor({ state: "visible" });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    // The reader's own choice comes before the system's, and is kept.
    await page.getByRole("button", { name: "colours as the system" }).click();
    await page.getByRole("button", { name: "light colours" }).click();
    await page.waitForFunction(() => getComputedStyle(document.body).backgroundColor === "rgb(20, 24, 29)");
    await page.reload();
    await ready(page);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 24, 29)");
    await page.close();
  });

  test("says nothing on the console", () => {
    assert.deepEqual(complaints, []);
  });
});

test("a picture of the page is taken without a screen, and without a browser the remedy is named", () => {
  const png = join(scratch, "page.png");
  const args = ["shot", join(scratch, "small.trace"), join(ROOT, "web/dist"), png];
  execFileSync(fixture, args);
  const header = readFileSync(png).subarray(0, 24);
  assert.equal(header.toString("latin1", 1, 4), "PNG");
  assert.deepEqual([header.readUInt32BE(16), header.readUInt32BE(20)], [1600, 1000]);
  assert.throws(() => execFileSync(fixture, args, { env: { PATH: scratch }, stdio: "pipe" }), /install chromium/);
});

test("when the server has ended, the page says so and what to do", async () => {
  const site = await serve("small");
  const page = await browser.newPage();
  await page.goto(site.url);
  await ready(page);
  site.process.stdin?.end();
  await new Promise((ended) => site.process.on("exit", ended));
  await page.keyboard.press("f");
  await page.locator(".trouble").waitFor({ state: "visible" });
  assert.match(await page.locator(".trouble").innerText(), /run `loadline open` again/);
  await page.close();
});

test("a frame of two million states and two hundred threads is drawn within 50 ms", async () => {
  const large = await serve("large");
  try {
    const page = await open(large, "#r=0,125");
    const answers: number[] = [];
    page.on("requestfinished", (request) => {
      const { responseEnd, requestStart } = request.timing();
      if (request.url().includes("/api/lanes")) answers.push(responseEnd - requestStart);
    });
    await page.evaluate(() => (loadline.timeline.frames.length = 0));
    for (const key of ["w", "w", "d", "w", "a", "w", "w", "w", "d", "s", "s", "f", "w", "d"]) {
      await page.keyboard.press(key);
      await page.waitForTimeout(60);
    }
    const frames = (await page.evaluate(() => loadline.timeline.frames)).toSorted((a, b) => a - b);
    const median = frames[Math.floor(frames.length / 2)] ?? 0;
    const p90 = frames[Math.floor(frames.length * 0.9)] ?? 0;
    console.log(`frames: median ${median.toFixed(1)} ms, p90 ${p90.toFixed(1)} ms of ${frames.length}; answers: slowest ${Math.max(...answers).toFixed(0)} ms`);
    assert.ok(frames.length >= 14);
    assert.ok(p90 < 50, `nine of ten frames should take under 50 ms, not ${p90} ms`);
    await page.close();
  } finally {
    large.process.stdin?.end();
  }
});
