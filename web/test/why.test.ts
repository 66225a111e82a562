// What the page says about why: waterfalls, locks, wake-ups; and how one gets there.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import type { Page } from "playwright-core";

import { complaints, open, query, range, ready, small } from "../testing/site.ts";

/** The name of a thread; it may have ended. */
function nameOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}

/** The request that waited longest for a lock, and its thread. */
function lockedRequest(page: Page): Promise<(string | number)[]> {
  return query(
    page,
    `SELECT s.id, s.thread FROM waits w ASOF JOIN (SELECT * FROM spans WHERE kind = 'request' AND complete) s ON s.thread = w.thread AND s.begin_ns <= w.begin_ns
     WHERE w.kind = 'monitor_enter' AND s.end_ns >= w.end_ns ORDER BY w.end_ns - w.begin_ns DESC LIMIT 1`,
  );
}

describe("the page", () => {
  test("a waterfall has the spans of its request and a critical path whose steps lead to the timeline", async () => {
    const page = await open(small);
    const [id, thread] = await lockedRequest(page);
    const address = `${small.url}#req=${id}&tab=waterfall`;
    await page.goto(address);
    await page.reload();
    await ready(page);
    await page.locator(".step").first().waitFor();
    for (const label of ["request", "pool: waiting", "SELECT"]) assert.ok((await page.locator(".wf-label", { hasText: label }).count()) > 0, label);
    assert.match(await page.locator(".wf-sums").innerText(), /own thread[\s\S]*running \d+%[\s\S]*threads it waited for[\s\S]*running/);
    assert.match(await page.locator(".step.waited").allInnerTexts().then((t) => t.join()), /exec-\d+ waits for shop\.ItemCache/);
    // A state on the path is drawn in its colour: the canvas is not blank.
    const colours = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>(".wf-lanes")!;
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      let green = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i] === 0 && data[i + 1] === 158 && data[i + 2] === 115) green++;
      return green;
    });
    assert.ok(colours > 20, `${colours} pixels are of running threads on the path`);
    const step = page.locator(`.step.within[data-thread]:not([data-thread="${thread}"])`).first();
    const [other, begin, end] = await step.evaluate((e) => [e.dataset["thread"], e.dataset["begin"], e.dataset["end"]].map(Number));
    await step.click();
    const selection = await page.evaluate(() => loadline.view.state.selection!);
    assert.equal(selection.thread, other);
    assert.ok(begin! <= selection.t && selection.t <= end!);
    assert.match((await step.getAttribute("class")) ?? "", /chosen/);
    // The timeline shows the threads of the path alone, and all others again when one of them is gone to.
    await page.getByRole("button", { name: "its threads alone" }).click();
    const shown = (name: string) => page.evaluate(([id]) => loadline.timeline.locate(id!, 0) !== null, [Number(name)]);
    const [stranger] = await query(page, "SELECT id FROM threads WHERE name = 'http-nio-8443-Acceptor'");
    assert.deepEqual([await shown(String(thread)), await shown(String(other)), await shown(String(stranger))], [true, true, false]);
    await page.keyboard.press("/");
    await page.keyboard.type("acceptor");
    await page.locator(".hits [aria-selected=true]").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction((id) => loadline.timeline.locate(id, 0) !== null, Number(stranger));
    await page.close();
  });

  test("the locks have waits, convoy and what their owners did; a click leads to the longest wait", async () => {
    const page = await open(small);
    await page.getByRole("tab", { name: "Locks" }).click();
    const row = page.locator(".locks tbody tr").first();
    await row.waitFor();
    const [waits, thread, begin, end] = await query(page, "SELECT (SELECT count(*) FROM lock_waits), thread, t(begin_ns) * 1e9, t(end_ns) * 1e9 FROM lock_waits ORDER BY end_ns - begin_ns DESC LIMIT 1");
    const text = await row.innerText();
    assert.ok(text.includes("shop.ItemCache") && text.replaceAll("\u202f", "").includes(`\t${waits}\t`), text);
    assert.match(text, /\d+% (running|runnable)/);
    await row.getByRole("button", { name: "shop.ItemCache" }).click();
    const chosen = await page.evaluate(() => loadline.view.state.selection!);
    assert.equal(chosen.thread, thread);
    assert.ok(Number(begin) <= chosen.t && chosen.t <= Number(end));
    await page.getByRole("button", { name: "requests that waited" }).click();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".requests .filter")?.value === "shop.ItemCache");
    await page.waitForFunction(() => /^\d+ requests/.test(document.querySelector(".requests .controls .quiet")?.textContent ?? ""));
    await page.goBack();
    await page.getByRole("button", { name: "longest" }).click();
    assert.equal(await page.locator(".locks th[aria-sort]").innerText(), "longest");
    await page.getByRole("button", { name: "visible range" }).click();
    await page.waitForFunction(() => document.querySelector(".locks .controls .quiet")?.textContent?.includes("in the visible range"));
    await page.close();
  });

  test("an arrow leads from the waker to the chosen interval, and the chain from one to the next", async () => {
    const page = await open(small);
    const [thread, begin, end, waker, name] = await query(
      page,
      `SELECT thread, t(begin_ns) * 1e9, t(end_ns) * 1e9, waker, waker_name FROM wakings WHERE cause = 'lock' AND waker IS NOT NULL AND t(begin_ns) > 1 ORDER BY end_ns - begin_ns DESC LIMIT 1`,
    );
    const length = Number(end) - Number(begin);
    await page.evaluate((hash) => (location.hash = hash), `#r=${(Number(begin) - length) / 1e9},${(Number(end) + length) / 1e9}&at=${thread}:${(Number(begin) + length / 2) / 1e9}`);
    await page.locator(".chain li").first().waitFor();
    await page.waitForTimeout(200);
    const found = await page.evaluate(
      ([of, by, t]) => {
        const [to, from] = [loadline.timeline.locate(of!, t!)!, loadline.timeline.locate(by!, t!)!];
        const canvas = document.querySelector<HTMLCanvasElement>(".timeline canvas")!;
        const box = canvas.getBoundingClientRect();
        const context = canvas.getContext("2d")!;
        // Somewhere between the two lanes the line is there, in its own colour.
        for (let y = Math.min(to.y, from.y) + 14; y < Math.max(to.y, from.y) - 14; y++) {
          const { data } = context.getImageData(Math.round(to.x - box.left) - 2, Math.round(y - box.top), 4, 1);
          for (let i = 0; i < data.length; i += 4) if (data[i] === 122 && data[i + 1] === 31 && data[i + 2] === 162) return true;
        }
        return false;
      },
      [Number(thread), Number(waker), Number(end)],
    );
    assert.ok(found, "the arrow is drawn between the lanes");
    const link = page.locator(".chain li").first().getByRole("button").last();
    assert.ok(String(name).endsWith(await link.innerText()));
    await link.click();
    assert.equal(await page.evaluate(() => loadline.view.state.selection?.thread), waker);
    await page.close();
  });

  test("/ searches, arrows choose, Enter goes to the longest of what was found", async () => {
    const page = await open(small);
    await page.keyboard.press("/");
    await page.keyboard.type("bidsserv");
    await page.locator(".hits [aria-selected=true]").waitFor();
    assert.match(await page.locator(".hits [aria-selected=true]").innerText(), /service[\s\S]*BidsServlet/);
    await page.keyboard.press("Enter");
    const [thread, begin, end] = await query(page, "SELECT thread, t(begin_ns) * 1e9, t(end_ns) * 1e9 FROM spans WHERE name = 'BidsServlet' ORDER BY end_ns - begin_ns DESC LIMIT 1");
    const { selection } = await page.evaluate(() => loadline.view.state);
    const now = await range(page);
    assert.equal(selection?.thread, thread);
    assert.ok(now.begin < Number(begin) && Number(end) < now.end);
    await page.keyboard.press("/");
    await page.keyboard.type("exec-1");
    await page.locator(".hits li").nth(1).waitFor();
    await page.keyboard.press("ArrowDown");
    const second = await page.locator(".hits [aria-selected=true] .hit-name").innerText();
    assert.equal(await page.getByRole("combobox", { name: /Search/ }).getAttribute("aria-activedescendant"), "hit-1");
    await page.keyboard.press("Enter");
    await page.waitForFunction((text) => document.querySelector(".moment")?.textContent?.includes(text), second);
    assert.deepEqual(await range(page), now, "a thread is shown at the time that is in view");
    await page.keyboard.press("/");
    await page.keyboard.type("no such thing");
    await page.locator(".hits [aria-disabled]").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".hits").waitFor({ state: "hidden" });
    await page.close();
  });

  test("the filter of the requests is in the address and found there again", async () => {
    const page = await open(small);
    await page.getByLabel("Filter requests").fill("/user");
    await page.waitForFunction(() => [...document.querySelectorAll(".requests tbody tr td:nth-child(3)")].every((td) => td.textContent === "GET /user"));
    await page.waitForFunction(() => location.hash.includes("f=%2Fuser"));
    await page.reload();
    await ready(page);
    assert.equal(await page.getByLabel("Filter requests").inputValue(), "/user");
    assert.equal(await page.locator(".requests tbody tr td:nth-child(3)").first().innerText(), "GET /user");
    await page.close();
  });

  test("a query ends when its page goes away", async () => {
    const page = await open(small);
    const tasks = `/proc/${small.process.pid}/task`;
    const running = () => readdirSync(tasks).filter((tid) => nameOf(join(tasks, tid, "comm")) === "query-watchdog").length;
    const until = async (wanted: (n: number) => boolean, what: string) => {
      for (const began = Date.now(); !wanted(running()); await new Promise((r) => setTimeout(r, 30))) assert.ok(Date.now() - began < 5000, what);
    };
    await page.getByRole("tab", { name: "Query" }).click();
    await page.locator(".answer tbody tr").first().waitFor();
    const ask = async () => {
      await page.getByLabel("SQL").fill("SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c WHERE a.range + b.range + c.range = 7");
      await page.getByRole("button", { name: "Run" }).click();
      await until((n) => n > 0, "the query did not begin");
    };
    await ask();
    await page.getByRole("button", { name: "Stop" }).click();
    await until((n) => n === 0, "the query outlived its being stopped");
    await ask();
    await page.close();
    await until((n) => n === 0, "the query outlived its page");
  });

  test("says nothing on the console", () => {
    assert.deepEqual(complaints, []);
  });
});
