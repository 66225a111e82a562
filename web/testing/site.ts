// A real browser, and a synthetic trace served as `loadline open` serves it: what the tests of the page share. Who imports
// this has both before the first test, and neither after the last.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";

import { type Browser, chromium, type Page } from "playwright-core";

export const ROOT = join(import.meta.dirname, "../../../../..");
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export interface Site {
  url: string;
  process: ChildProcess;
}

export const scratch = mkdtempSync(join(tmpdir(), "loadline-page-"));
export const fixture = join(ROOT, "target/release/examples/fixture");
export const complaints: string[] = [];
export let browser: Browser;
export let small: Site;

/** Serves a synthetic trace until its standard input closes, which it does when this process ends. */
export async function serve(size: "small" | "large"): Promise<Site> {
  const dir = join(scratch, `${size}.trace`);
  execFileSync(fixture, ["write", dir, size]);
  return served("serve", dir);
}

/** Two synthetic traces beside each other, as `loadline diff --open` serves them. */
export async function serveBoth(): Promise<Site> {
  const dirs = [1, 2].map((seed) => {
    const dir = join(scratch, `seed${seed}.trace`);
    execFileSync(fixture, ["write", dir, "small", String(seed)]);
    return dir;
  });
  return served("compare", ...dirs);
}

async function served(...what: string[]): Promise<Site> {
  const server = spawn(fixture, [...what, join(ROOT, "web/dist")], { stdio: ["pipe", "pipe", "inherit"] });
  for await (const line of createInterface({ input: server.stdout })) return { url: line, process: server };
  throw new Error("the server said no address");
}

export async function open(site: Site, hash = "", options: Parameters<Browser["newPage"]>[0] = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, ...options });
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(site.url + hash);
  await ready(page);
  return page;
}

export async function ready(page: Page): Promise<void> {
  await page.waitForFunction(() => document.documentElement.dataset["ready"] === "yes", null, { timeout: 20_000 });
}

declare global {
  /** Runs in the page: what the page shows for those who ask. */
  const loadline: {
    view: { range: { begin: number; end: number }; state: { selection: { thread: number; t: number } | null; tab: string; request: number | null } };
    timeline: {
      frames: number[];
      isReady: boolean;
      locate(thread: number, t: number): { x: number; y: number } | null;
      locateCounter(name: string, t: number): { x: number; y: number } | null;
    };
  };
}

export const range = (page: Page) => page.evaluate(() => loadline.view.range);

export async function query(page: Page, sql: string): Promise<(string | number)[]> {
  const answer = await page.evaluate(async (text) => (await fetch(`/api/query?sql=${encodeURIComponent(text)}`)).json(), sql);
  return answer.rows[0];
}

before(async () => {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing: apt-get install chromium, or set CHROMIUM`);
  execFileSync("cargo", ["build", "--release", "--quiet", "--workspace", "--example", "fixture"], { cwd: ROOT, stdio: "inherit" });
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  small = await serve("small");
});

after(async () => {
  await browser?.close();
  small?.process.stdin?.end();
  rmSync(scratch, { recursive: true, force: true });
});
