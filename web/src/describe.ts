// A moment in words: what the tooltip says in short and the Moment tab in full.

import type { Moment } from "./api.ts";
import { abbreviate } from "./abbreviate.ts";
import { CLASS_TEXT, CLASSES, KIND_TEXT, KINDS } from "./palette.ts";

export function classIndex(moment: Pick<Moment, "class">): number {
  return Math.max(0, (CLASSES as readonly string[]).indexOf(moment.class));
}

export function kindIndex(kind: string): number {
  const index = KINDS.indexOf(kind);
  return index < 0 ? KINDS.length - 1 : index;
}

export function kindText(kind: string): string {
  return KIND_TEXT[kindIndex(kind)] ?? kind;
}

/** `blocked on a lock`, `running on CPU 1`. */
export function headline(moment: Moment): string {
  switch (moment.class) {
    case "running":
      return moment.cpu === null ? "running" : `running on CPU ${moment.cpu}`;
    case "runnable":
      return "runnable: waiting for a CPU";
    case "preempted":
      return "preempted: waiting to get its CPU back";
    case "lock":
      return "blocked on a lock";
    case "pool":
      return "waiting for a pool's connection";
    case "socket":
      return "blocked on a socket";
    case "file":
      return "blocked on a file";
    case "gc":
      if (moment.thread < 0) return "pause for garbage collection";
      return moment.pause ? "stopped by a garbage collection" : "stopped at a safepoint";
    case "idle":
      return moment.thread < 0 ? "no pause" : "idle: waiting for work";
    case "unknown":
      return "state not known";
    default:
      return moment.state;
  }
}

/** What the class of a moment means. */
export function meaning(moment: Moment): string {
  return CLASS_TEXT[classIndex(moment)]?.[1] ?? "";
}

/** What was waited on: `monitor of shop.ItemCache`, or in short with its package abbreviated. */
export function waitText(moment: Moment, short = false): string | null {
  const { wait } = moment;
  if (!wait) return null;
  const what = { monitor_enter: "monitor of", monitor_wait: "Object.wait on", park: "parked on" }[wait.kind] ?? wait.kind;
  const object = wait.object === null ? "" : ` @${wait.object.toString(16)}`;
  const name = wait.class ?? "an unknown object";
  return short ? `${what} ${abbreviate(name, 36)}` : `${what} ${name}${object}`;
}

/** `read(52)`: the system call that the thread was blocked in. */
export function syscallText(moment: Moment): string | null {
  if (!moment.syscall) return null;
  return moment.fd === null ? moment.syscall : `${moment.syscall}(${moment.fd})`;
}
