// Lanes of counters: what threads counted over time, stacked by what the threads are for.
//
// Terms: an *interval* lies between two readings; a *rate* is what a counter grew in one, per second, or per time for
// what is itself a time, so that it reads as a number of CPUs.

import type { CounterLanes } from "../api.ts";
import { digits } from "../format.ts";
import { CLASSES, type Palette } from "../palette.ts";

export interface CounterLane {
  readonly name: string;
  readonly title: string;
  readonly unit: "CPUs" | "/s";
  /** By role, in each interval; what ended threads make less than nothing is nothing. */
  readonly rates: readonly (readonly number[])[];
  /** The highest sum of all roles. */
  readonly most: number;
}

export interface Counters {
  readonly roles: readonly string[];
  /** Bounds of the intervals. */
  readonly times: readonly number[];
  readonly lanes: readonly CounterLane[];
}

/** What comes first; all others follow by name. */
const FIRST = ["cpu_ns", "kernel_ns", "run_queue_ns", "voluntary_switches", "involuntary_switches", "migrations", "minor_faults", "major_faults"];
/** All CPU time less the kernel's: a lane of its own would say nothing new. */
const LEFT_OUT = new Set(["user_ns"]);

const TITLES: Readonly<Record<string, string>> = { cpu_ns: "CPU time", kernel_ns: "in the kernel", run_queue_ns: "waiting for a CPU" };

/** The lanes of an answer of the server. */
export function counterLanes({ roles, times, lanes }: CounterLanes): Counters {
  const place = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  const order = lanes.filter((l) => !LEFT_OUT.has(l.name)).toSorted((a, b) => place(a.name) - place(b.name));
  return {
    roles,
    times,
    lanes: order.map(({ name, grown }) => {
      const isTime = name.endsWith("_ns");
      const rates = grown.map((of) => of.map((value, i) => (Math.max(0, value) / Math.max(1, times[i + 1]! - times[i]!)) * (isTime ? 1 : 1e9)));
      const sums = times.slice(1).map((_, i) => rates.reduce((sum, of) => sum + of[i]!, 0));
      return { name, title: TITLES[name] ?? name.replaceAll("_", " "), unit: isTime ? "CPUs" : "/s", rates, most: Math.max(...sums, 0) };
    }),
  };
}

/** The interval that holds a moment, or -1. */
export function intervalAt(times: readonly number[], t: number): number {
  let low = 0;
  let high = times.length - 1;
  if (high < 1 || t < times[0]! || t >= times[high]!) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= t) low = middle;
    else high = middle;
  }
  return low;
}

/** A rate with its unit, `1.34 CPUs` or `2.1 M/s`. */
export function rateText(rate: number, unit: CounterLane["unit"]): string {
  if (unit === "CPUs") return `${rate.toFixed(2)} CPUs`;
  for (const [size, prefix] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]] as const) {
    if (rate >= size) return `${digits(rate / (prefix === "k" ? 1e3 : size))} ${prefix}/s`;
  }
  return `${digits(rate)}/s`;
}

/** A role's colour: those of the states that they bring to mind. */
export function roleColour(role: string, palette: Palette): string {
  const classes = { workers: "running", gc: "gc", jit: "pool", rest: "socket", ended: "other" } as Record<string, (typeof CLASSES)[number]>;
  return palette.classes[CLASSES.indexOf(classes[role] ?? "other")]!;
}

/** What each role had in the interval at a moment: `workers 1.21, gc 0.03 CPUs`; empty outside of the readings. */
export function tell(counters: Counters, lane: CounterLane, t: number): string {
  const at = intervalAt(counters.times, t);
  if (at < 0) return "";
  const total = lane.rates.reduce((sum, of) => sum + of[at]!, 0);
  const parts = counters.roles
    .map((role, i) => [role, lane.rates[i]?.[at] ?? 0] as const)
    .filter(([, rate]) => rate > 0.005 * total)
    .map(([role, rate]) => `${role} ${rateText(rate, lane.unit)}`);
  return parts.join("   ");
}

/** Draws a lane's stacked rates between `top` and `top + height`; `x` is where a moment lies. */
export function drawCounter(
  context: CanvasRenderingContext2D, counters: Counters, lane: CounterLane, palette: Palette,
  box: { left: number; right: number; top: number; height: number }, range: { begin: number; end: number }, x: (t: number) => number,
): void {
  const { times, roles } = counters;
  const first = Math.max(0, intervalAt(times, range.begin));
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.right - box.left, box.height);
  context.clip();
  for (let i = first; i + 1 < times.length && times[i]! < range.end; i++) {
    const from = x(times[i]!);
    // Half a pixel over the next: no seam between intervals.
    const width = Math.max(0.5, x(times[i + 1]!) - from + 0.5);
    let y = box.top + box.height;
    for (let role = 0; role < roles.length; role++) {
      const part = lane.most > 0 ? ((lane.rates[role]?.[i] ?? 0) / lane.most) * box.height : 0;
      if (part <= 0) continue;
      context.fillStyle = roleColour(roles[role]!, palette);
      context.fillRect(from, y - part, width, part);
      y -= part;
    }
  }
  context.restore();
}
