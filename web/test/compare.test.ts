// Two recordings beside each other, in a real browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { complaints, open, serveBoth } from "../testing/site.ts";

test("two recordings stand beside each other, and both pages show what one is asked for", async () => {
  const site = await serveBoth();
  try {
    const page = await open(site);
    assert.match(await page.locator(".changes h1").innerText(), /\w/);
    assert.match(await page.locator(".side h2").first().innerText(), /before .*seed1\.trace/);
    assert.match(await page.locator(".side h2").last().innerText(), /now .*seed2\.trace/);
    const [before, now] = ["before", "now"].map((side) => page.frames().find((f) => f.url().includes(`/${side}/`))!);
    const states = () => Promise.all([before, now].map((f) => f!.evaluate(() => loadline.view.state.tab)));
    assert.deepEqual(await states(), ["requests", "requests"]);
    // Each has its own trace behind it.
    const names = await Promise.all([before, now].map((f) => f!.evaluate(async () => (await (await fetch("api/query?sql=SELECT+count(*),sum(end_ns-begin_ns)::VARCHAR+FROM+spans")).json()).rows[0])));
    assert.notDeepEqual(names[0], names[1]);

    await now!.getByRole("tab", { name: "Locks" }).click();
    assert.deepEqual(await states(), ["locks", "locks"]);

    const details = page.locator(".changes details > summary");
    if (await details.count()) await details.click();
    const endpoint = page.locator(".changes tr", { hasText: "endpoint" }).first().locator("button");
    const name = (await endpoint.innerText()).split("#")[0]!;
    await endpoint.click();
    await page.waitForFunction(() => [...document.querySelectorAll("iframe")].every((f) => (f.contentWindow as unknown as { loadline: typeof loadline }).loadline.view.state.tab === "requests"));
    for (const frame of [before, now]) assert.equal(await frame!.locator("input[type=search]").evaluateAll((all, text) => all.some((i) => (i as HTMLInputElement).value === text), name), true);
    await page.close();
    assert.deepEqual(complaints, []);
  } finally {
    site.process.stdin?.end();
  }
});
