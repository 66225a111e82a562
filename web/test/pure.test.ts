// What is decided without a browser: words for numbers, ranges, addresses, lanes, pixels.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { abbreviate } from "../src/abbreviate.ts";
import type { Link, Step, Thread } from "../src/api.ts";
import { bytes, decimals, digits, duration, grouped, moment, percent, tickStep } from "../src/format.ts";
import { GC_LANE } from "../src/api.ts";
import { foldShort, shares, shortThread, stretches } from "../src/path.ts";
import { arrowsOf, strength } from "../src/timeline/arrows.ts";
import { decodeLanes, decodeSpans, pack, paint, runs, thinColumn } from "../src/timeline/columns.ts";
import { counterLanes, intervalAt, rateText, tell } from "../src/timeline/counters.ts";
import { commonPrefix, COUNTER_GROUP, IDLE_GROUP, isWanted, itemAt, layout, type LayoutOptions } from "../src/timeline/layout.ts";
import { clampRange, fromHash, panRange, toHash, zoomRange } from "../src/view.ts";

test("durations are told in the unit that fits, never as raw nanoseconds", () => {
  assert.deepEqual(
    [0, 420, 1_530, 999_999, 1_500_000, 22_400_000, 512_000_000, 61_000_000_000].map(duration),
    ["0", "0.42 µs", "1.53 µs", "1.00 ms", "1.50 ms", "22.4 ms", "512 ms", "61.0 s"],
  );
});

test("numbers keep three digits and group thousands", () => {
  assert.deepEqual([0.5, 9.999, 12.34, 412.4, 12345].map(digits), ["0.50", "10.0", "12.3", "412", "12\u202f345"]);
  assert.equal(grouped(2_413_882), "2\u202f413\u202f882");
  assert.deepEqual([0, 0.004, 0.41, 1].map(percent), ["0%", "<1%", "41%", "100%"]);
  assert.deepEqual([512, 1536, 96 * 2 ** 20].map(bytes), ["512 B", "1.50 KB", "96.0 MB"]);
});

test("a moment is as exact as the distance to its neighbours needs", () => {
  assert.equal(moment(9_204_123_456, 1e6), "9.204 s");
  assert.equal(moment(9_204_123_456, 1), "9.204123456 s");
  assert.deepEqual([1e9, 5e8, 1e8, 2e7, 1].map(decimals), [0, 1, 1, 2, 9]);
  assert.deepEqual([1, 3, 6, 11, 490].map(tickStep), [1, 5, 10, 20, 500]);
});

test("a zoom keeps what is below the pointer in its place", () => {
  const range = { begin: 2e9, end: 4e9 };
  const zoomed = zoomRange(range, 0.5, 2.5e9, 20e9);
  assert.deepEqual(zoomed, { begin: 2.25e9, end: 3.25e9 });
  assert.deepEqual(zoomRange(zoomed, 2, 2.5e9, 20e9), range);
});

test("no range leaves the trace or becomes too narrow", () => {
  assert.deepEqual(panRange({ begin: 0, end: 10 }, -1, 100), { begin: 0, end: 10 });
  assert.deepEqual(panRange({ begin: 80, end: 100 }, 1, 100), { begin: 80, end: 100 });
  assert.deepEqual(zoomRange({ begin: 0, end: 50e6 }, 100, 25e6, 100e6), { begin: 0, end: 100e6 });
  assert.deepEqual(clampRange(5_000, 5_001, 1e6), { begin: 4_501, end: 5_501 });
  assert.deepEqual(clampRange(-1e9, 5e9, 2e9), { begin: 0, end: 2e9 });
});

test("an address holds range, selection, request, tab and filter, and what is wrong in it is left out", () => {
  const state = { range: { begin: 9_200_000_000, end: 9_500_000_001 }, selection: { thread: 16, t: 9_310_000_000 }, tab: "matrix", request: 17, filter: "GET /a&b", lanes: "exec-1$" } as const;
  assert.equal(toHash(state), "#r=9.2,9.500000001&at=16:9.31&req=17&tab=matrix&f=GET%20%2Fa%26b&lanes=exec-1%24");
  assert.equal(toHash({ ...state, selection: null, request: null, filter: "", lanes: "" }), "#r=9.2,9.500000001&tab=matrix");
  assert.deepEqual(fromHash(toHash(state), 20e9), state);
  assert.deepEqual(fromHash("#t=9.2s", 20e9), { range: { begin: 9.15e9, end: 9.25e9 } });
  assert.deepEqual(fromHash("#r=5,2&at=x:1&tab=nothing&req=1.5", 20e9), {});
  assert.deepEqual(fromHash("", 20e9), {});
});

function thread(id: number, role: number, times: Partial<Record<number, number>>, depth = 0, requests = 0): Thread {
  const all = Array.from({ length: 12 }, (_, i) => times[i] ?? 0);
  return { id, name: `t${id}`, kind: "platform", tid: null, role, requests, states: 1, depth, times: all };
}

const OPTIONS: LayoutOptions = { sort: "name", tall: false, folded: new Set([IDLE_GROUP]), selected: null, hasPauses: true, lanes: "", counters: [] };

test("lanes stand by role, what did nothing comes last and folded", () => {
  const threads = [thread(1, 0, { 0: 5e6, 9: 1e9 }, 2, 1), thread(2, 0, { 9: 1e9 }), thread(3, 0, { 0: 9e6, 9: 1e9 }, 2, 9), thread(4, 1, { 0: 1e8 })];
  const titles = (options: LayoutOptions) => layout(threads, ["Workers", "Poller"], options).items.map((i) => i.title);
  assert.deepEqual(titles(OPTIONS), ["GC pauses", "Workers", "t1", "t3", "Poller", "t4", "Did nothing"]);
  assert.deepEqual(titles({ ...OPTIONS, sort: "requests", hasPauses: false }).slice(0, 3), ["Workers", "t3", "t1"]);
  assert.deepEqual(titles({ ...OPTIONS, folded: new Set([0]) }).slice(-2), ["Did nothing", "t2"]);
  assert.deepEqual(titles({ ...OPTIONS, lanes: "T2, 4$" }), ["GC pauses", "Poller", "t4", "Did nothing", "t2"], "who asks for some sees them");
  assert.deepEqual(["exec-1", "exec-12"].map((name) => isWanted(name, "exec-1$")), [true, false]);
});

test("what all names of a group begin with is said once", () => {
  assert.equal(commonPrefix(["http-nio-8443-exec-1", "http-nio-8443-exec-12"]), "http-nio-8443-");
  assert.equal(commonPrefix(["http-nio-8443-exec-1", "http-nio-8443-exec-1"]), "http-nio-8443-");
  assert.equal(commonPrefix(["GC Thread#0", "GC Thread#1"]), "");
  assert.equal(commonPrefix(["https-a-Poller"]), "");
  assert.equal(commonPrefix(["alpha", "beta"]), "");
  assert.equal(commonPrefix([]), "");
});

test("items lie one below the other without gaps, and each height finds its item", () => {
  const whole = layout([thread(1, 0, { 0: 1 }, 3), thread(2, 0, { 0: 1 }, 1)], ["Workers"], { ...OPTIONS, selected: 2 });
  for (const [i, item] of whole.items.entries()) {
    const next = whole.items[i + 1];
    if (next) assert.equal(item.y + item.height, next.y);
    assert.equal(itemAt(whole, item.y)?.id, item.id);
    assert.equal(itemAt(whole, item.y + item.height - 0.5)?.id, item.id);
  }
  assert.equal(whole.items[0]?.id, GC_LANE);
  assert.equal(itemAt(whole, whole.height + 1), undefined);
});

/** Columns as the server encodes them: three of class 3, one half 0 and half 9. */
const COLUMNS = [3, 3, 0, 255, 1, 0, 2, 0, 128, 9, 127];

test("lanes are taken apart as the server puts them together", () => {
  const buffer = new ArrayBuffer(4 + 96 + 4 + COLUMNS.length);
  const data = new DataView(buffer);
  data.setInt32(0, -1, true);
  data.setFloat64(4 + 3 * 8, 42, true);
  data.setUint32(100, COLUMNS.length, true);
  new Uint8Array(buffer, 104).set(COLUMNS);
  const [lane] = decodeLanes(buffer);
  assert.equal(lane?.thread, -1);
  assert.equal(lane?.times[3], 42);
  assert.deepEqual([...(lane?.bytes ?? [])], COLUMNS);
  assert.deepEqual([...runs(Uint8Array.from(COLUMNS))], [
    { tag: 3, from: 0, count: 3 },
    { tag: 255, from: 3, count: 1 },
  ]);
});

test("an answer of /api/spans is taken apart, whatever the length of its text", () => {
  for (const name of ["GET /", "GET /a", "GET /é", "GET /abc"]) {
    const rows = [{ bars: [1, 5, 3, 0, 77], thin: 0 }, { bars: [], thin: 2 }];
    const text = new TextEncoder().encode(JSON.stringify({ names: [name], lanes: [{ thread: 14, rows }, { thread: 15, rows: [{ bars: [], thin: 1 }] }] }));
    const begin = 4 * Math.ceil((4 + text.length) / 4);
    const buffer = new ArrayBuffer(begin + 12);
    const data = new DataView(buffer);
    data.setUint32(0, text.length, true);
    new Uint8Array(buffer, 4).set(text);
    [[700, 3, 255], [701, 11, 1], [1599, 0, 128]].forEach(([column, kind, coverage], i) => {
      data.setUint16(begin + 4 * i, column!, true);
      data.setUint8(begin + 4 * i + 2, kind!);
      data.setUint8(begin + 4 * i + 3, coverage!);
    });
    const spans = decodeSpans(buffer);
    assert.deepEqual(spans.names, [name]);
    assert.deepEqual(spans.lanes.map((lane) => lane.thread), [14, 15]);
    assert.deepEqual(spans.lanes[0]?.rows[0]?.bars, [1, 5, 3, 0, 77]);
    assert.deepEqual(spans.lanes.map((lane) => lane.rows.map((row) => [...row.thin].map(thinColumn))), [
      [[], [{ column: 700, kind: 3, coverage: 255 }, { column: 701, kind: 11, coverage: 1 }]],
      [[{ column: 1599, kind: 0, coverage: 128 }]],
    ]);
  }
});

test("a mixture fills its column by shares, the first class from below", () => {
  const colours = pack(Array.from({ length: 12 }, (_, i) => [i, i, i]));
  const pixels = new Uint32Array(4 * 10);
  paint(Uint8Array.from(COLUMNS), pixels, 4, 0, 10, colours);
  const column = (x: number) => Array.from({ length: 10 }, (_, y) => pixels[y * 4 + x]! & 255);
  assert.deepEqual(column(0), Array(10).fill(3));
  assert.deepEqual(column(3).slice(0, 4), Array(4).fill(9));
  assert.deepEqual(column(3).slice(5), Array(5).fill(0));
});

test("every mixture fills all of its column, whatever its shares", () => {
  const colours = pack(Array.from({ length: 12 }, () => [7, 7, 7]));
  for (let a = 1; a < 255; a += 3) {
    for (let b = 1; a + b < 255; b += 11) {
      const pixels = new Uint32Array(13);
      paint(Uint8Array.from([255, 1, 0, 3, 0, a, 5, b, 9, 255 - a - b]), pixels, 1, 0, 13, colours);
      assert.ok(pixels.every((p) => p === ((255 << 24) | 0x070707) >>> 0), `${a} ${b}`);
    }
  }
});

const ANSWER = {
  roles: ["workers", "gc"],
  times: [0, 1e9, 3e9],
  lanes: [
    { name: "minor_faults", grown: [[10, 40], [0, 0]] },
    { name: "cpu_ns", grown: [[5e8, 2e9], [1e8, -1e6]] },
    { name: "user_ns", grown: [[5e8, 2e9], [1e8, 0]] },
  ],
};

test("counters become rates: times of CPUs, all others per second", () => {
  const { lanes } = counterLanes(ANSWER);
  assert.deepEqual(lanes.map((l) => [l.title, l.unit]), [["CPU time", "CPUs"], ["minor faults", "/s"]]);
  assert.deepEqual(lanes[0]!.rates, [[0.5, 1], [0.1, 0]]);
  assert.deepEqual(lanes[1]!.rates[0], [10, 20]);
  assert.equal(lanes[0]!.most, 1);
});

test("a moment's interval is found, and told by role", () => {
  const counters = counterLanes(ANSWER);
  assert.deepEqual([-1, 0, 1e9, 2.9e9, 3e9].map((t) => intervalAt(counters.times, t)), [-1, 0, 1, 1, -1]);
  assert.equal(tell(counters, counters.lanes[0]!, 5e8), "workers 0.50 CPUs   gc 0.10 CPUs");
  assert.equal(tell(counters, counters.lanes[1]!, 2e9), "workers 20.0/s");
  assert.equal(tell(counters, counters.lanes[0]!, 9e9), "");
  assert.deepEqual([1.5, 12_345, 2.1e6, 3.2e9].map((v) => rateText(v, "/s")), ["1.50/s", "12.3 k/s", "2.10 M/s", "3.20 G/s"]);
});

test("counters stand above the threads, and fold", () => {
  const kinds = (folded: number[]) =>
    layout([thread(1, 0, { 0: 1e8 })], ["Workers"], { ...OPTIONS, counters: ["CPU time", "faults"], folded: new Set(folded) }).items.map((i) => i.kind);
  assert.deepEqual(kinds([]), ["lane", "header", "counter", "counter", "header", "lane"]);
  assert.deepEqual(kinds([COUNTER_GROUP]), ["lane", "header", "header", "lane"]);
});

test("class names are abbreviated as in the report", () => {
  // The same names as in the test of crates/analyze/src/report/table.rs.
  const file = join(import.meta.dirname, "../../../../../crates/analyze/tests/data/abbreviated.json");
  const names = JSON.parse(readFileSync(file, "utf8")) as [string, number, string][];
  assert.ok(names.length > 5);
  for (const [name, width, short] of names) assert.equal(abbreviate(name, width), short, `${name} in ${width}`);
});

function step(begin: number, end: number, thread: number, cause: string, hops: number, waited: string | null = null): Step {
  const meanwhile = hops > 0 ? { class: "lock", waited_on: waited } : null;
  return { begin, end, thread, thread_name: `a-exec-${thread}`, cause, hops, waited_on: null, resource: null, inside: null, meanwhile };
}

test("a path is told in stretches by what the request waited for, with short steps together", () => {
  const path = [step(0, 10, 1, "running", 0), step(10, 40, 2, "running", 1, "a.A"), step(40, 41, 3, "runnable", 1, "a.A"), step(41, 42, 3, "running", 1, "a.A"), step(42, 60, 4, "running", 1, "b.B"), step(60, 70, 1, "runnable", 0)];
  assert.deepEqual(stretches(path).map((s) => s.map((x) => x.thread)), [[1], [2, 3, 3], [4], [1]]);
  assert.deepEqual(foldShort(path, 5).map((s) => (Array.isArray(s) ? s.length : s.thread)), [1, 2, 2, 4, 1]);
  assert.deepEqual(foldShort(path.slice(0, 3), 5).map((s) => Array.isArray(s)), [false, false, false], "one alone is told as it is");
  assert.deepEqual(shares(path), { own: [["running", 10], ["runnable", 10]], others: [["running", 49], ["runnable", 1]] });
  assert.deepEqual([shortThread("https-jsse-nio-8443-exec-7"), shortThread("VM Thread")], ["exec-7", "VM Thread"]);
});

test("arrows lead from who woke to whom it woke, fainter with each link, and say what is folded away", () => {
  const link = (thread: number, waker: number, end: number): Link => ({ thread, thread_name: "", begin: 0, end, class: "lock", waited_on: null, waker, waker_name: `t${waker}` });
  const places: Record<number, number> = { 1: 10, 2: 30 };
  const arrows = arrowsOf([link(1, 2, 500), link(2, 3, 400)], (t) => t / 10, (thread) => places[thread] ?? null);
  assert.deepEqual(arrows, [
    { x: 50, from: 30, to: 10, rank: 0, name: "t2" },
    { x: 40, from: null, to: 30, rank: 1, name: "t3" },
  ]);
  assert.ok(strength(0) === 1 && strength(1) < 1 && strength(2) < strength(1) && strength(30) > 0.1);
});
