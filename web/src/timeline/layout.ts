// Where each lane lies, from the list of threads and what is folded. Pure: no canvas, no data.
//
// Terms: an *item* is one horizontal strip: a group's header or a lane. Heights are CSS pixels.

import { GC_LANE, type Thread } from "../api.ts";

export type Sort = "name" | "busy" | "requests";

export interface Item {
  readonly kind: "header" | "lane" | "counter";
  /** Of a header its group, of a lane its thread, of a counter its place among them. */
  readonly id: number;
  readonly title: string;
  /** Of a header: what the names of its threads begin with, left out in their lanes. */
  readonly prefix: string;
  readonly y: number;
  readonly height: number;
  /** Of a lane: rows of spans, the height of each, and of the bar of states. */
  readonly rows: number;
  readonly rowHeight: number;
  readonly barHeight: number;
  readonly folded: boolean;
  /** Of a header: how many threads. */
  readonly count: number;
  readonly thread: Thread | null;
}

export interface Layout {
  readonly items: readonly Item[];
  readonly height: number;
}

/** The group of threads that did nothing, whatever their role. */
export const IDLE_GROUP = 100;

/** The group of counters. */
export const COUNTER_GROUP = 101;

export const HEADER_HEIGHT = 22;
/** Height of a counter's lane. */
const COUNTER = 20;
const GAP = 3;
/** Height of the bar of states, the same in every lane: the pictures of lanes are of one height. */
export const BAR = 12;
const COMPACT = { row: 4, bar: BAR };
const TALL = { row: 14, bar: BAR };

const IDLE_CLASSES = new Set([8, 9, 10, 11]);

/** Time in which a thread was running or waited for something that it needed. */
export function busyTime(times: readonly number[]): number {
  return times.reduce((sum, time, index) => (IDLE_CLASSES.has(index) ? sum : sum + time), 0);
}

/** Whether a thread did nothing that is worth a lane among the others. */
export function isIdle(thread: Thread): boolean {
  const total = thread.times.reduce((a, b) => a + b, 0);
  return thread.depth === 0 && busyTime(thread.times) < total * 2e-5;
}

const ORDER: Record<Sort, (a: Thread, b: Thread) => number> = {
  name: () => 0,
  busy: (a, b) => busyTime(b.times) - busyTime(a.times),
  requests: (a, b) => b.requests - a.requests,
};

/** What all names begin with, up to a `-`, `#` or space; empty if it tells little. */
export function commonPrefix(names: readonly string[]): string {
  const [first = ""] = names;
  if (names.length < 2) return "";
  let length = first.length;
  for (const name of names) {
    while (!name.startsWith(first.slice(0, length))) length--;
  }
  // `exec-1` and `exec-12` share more than their prefix: the word before a number stays.
  const shared = first.slice(0, length).replace(/[^-# ]*$/, "");
  const word = shared.replace(/[^-# ]+[-# ]$/, "");
  return word.length >= 12 ? word : "";
}

export interface LayoutOptions {
  readonly sort: Sort;
  readonly tall: boolean;
  readonly folded: ReadonlySet<number>;
  readonly selected: number | null;
  readonly hasPauses: boolean;
  /** Which threads to show, as the view has it. */
  readonly lanes: string;
  /** Titles of the counters, if any were recorded. */
  readonly counters: readonly string[];
}

/** Whether a thread of this name is one of those to show. */
export function isWanted(name: string, lanes: string): boolean {
  const parts = lanes.toLowerCase().split(",").map((part) => part.trim()).filter(Boolean);
  const lower = name.toLowerCase();
  return parts.length === 0 || parts.some((part) => (part.endsWith("$") ? lower.endsWith(part.slice(0, -1)) : lower.includes(part)));
}

/** Lays out the threads to show, which come sorted by role and name. Who asks for some sees them: no group is folded then. */
export function layout(all: readonly Thread[], roles: readonly string[], options: LayoutOptions): Layout {
  const threads = all.filter((t) => isWanted(t.name, options.lanes));
  const folded = options.lanes.trim() === "" ? options.folded : new Set<number>();
  const items: Item[] = [];
  let y = 5;
  const add = (item: Omit<Item, "y">) => {
    items.push({ ...item, y });
    y += item.height;
  };
  const lane = (id: number, title: string, depth: number, thread: Thread | null) => {
    const tall = options.tall || options.selected === id;
    const size = tall ? TALL : COMPACT;
    const height = depth * size.row + size.bar + GAP + (tall ? 3 : 0);
    add({
      kind: "lane", id, title, prefix: "", height, rows: depth, rowHeight: size.row, barHeight: size.bar,
      folded: false, count: 0, thread,
    });
  };
  const header = (role: number, title: string, prefix: string, count: number) => {
    add({
      kind: "header", id: role, title, prefix, height: HEADER_HEIGHT, rows: 0, rowHeight: 0, barHeight: 0,
      folded: folded.has(role), count, thread: null,
    });
    return folded.has(role);
  };
  if (options.hasPauses) lane(GC_LANE, "GC pauses", 0, null);
  if (options.counters.length > 0 && !header(COUNTER_GROUP, "Counters", "", options.counters.length)) {
    options.counters.forEach((title, id) =>
      add({ kind: "counter", id, title, prefix: "", height: COUNTER + GAP, rows: 0, rowHeight: 0, barHeight: COUNTER, folded: false, count: 0, thread: null }),
    );
  }
  const idle = threads.filter(isIdle);
  const groups = roles.map((title, role) => ({ title, role, members: threads.filter((t) => t.role === role && !isIdle(t)) }));
  groups.push({ title: "Did nothing", role: IDLE_GROUP, members: idle });
  for (const { title, role, members } of groups) {
    if (members.length === 0) continue;
    const prefix = role === IDLE_GROUP ? "" : commonPrefix(members.map((t) => t.name));
    if (header(role, title, prefix, members.length)) continue;
    for (const t of members.toSorted(ORDER[options.sort])) lane(t.id, t.name.slice(prefix.length), t.depth, t);
  }
  return { items, height: y + 6 };
}

/** The items that lie within `[top, bottom)`. */
export function visible(whole: Layout, top: number, bottom: number): readonly Item[] {
  return whole.items.filter((item) => item.y < bottom && item.y + item.height > top);
}

/** The item at height `y`. */
export function itemAt(whole: Layout, y: number): Item | undefined {
  return whole.items.find((item) => item.y <= y && y < item.y + item.height);
}
