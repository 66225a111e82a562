// A critical path in few words. Pure.

import type { Step } from "./api.ts";

/** Steps, with neighbours that are shorter than `least` told together. */
export function foldShort(path: readonly Step[], least: number): (Step | Step[])[] {
  const told: (Step | Step[])[] = [];
  let short: Step[] = [];
  const flush = () => {
    if (short.length > 1) told.push(short);
    else told.push(...short);
    short = [];
  };
  for (const step of path) {
    if (step.end - step.begin < least) {
      short.push(step);
      continue;
    }
    flush();
    told.push(step);
  }
  flush();
  return told;
}

/** Steps in stretches: of the request's own thread, or of others while it waited for one thing. */
export function stretches(path: readonly Step[]): Step[][] {
  const found: Step[][] = [];
  const key = (s: Step) => (s.hops === 0 ? "" : `${s.meanwhile?.class} ${s.meanwhile?.waited_on}`);
  for (const step of path) {
    const last = found.at(-1);
    if (last && key(last[0]!) === key(step)) last.push(step);
    else found.push([step]);
  }
  return found;
}

/** Time by cause, largest first: of the request's own thread, and of those that it waited for. */
export function shares(path: readonly Step[]): { own: [string, number][]; others: [string, number][] } {
  const sum = (steps: readonly Step[]) => {
    const times = new Map<string, number>();
    for (const s of steps) times.set(s.cause, (times.get(s.cause) ?? 0) + s.end - s.begin);
    return [...times].sort((a, b) => b[1] - a[1]);
  };
  return { own: sum(path.filter((s) => s.hops === 0)), others: sum(path.filter((s) => s.hops > 0)) };
}

/** `exec-7` of `https-jsse-nio-8443-exec-7`: within one server the rest is the same. */
export function shortThread(name: string): string {
  return /exec-\d+$/.exec(name)?.[0] ?? name;
}
