// What the server answers. Times are ns since the recording began.

export interface Level {
  recorded: boolean;
  why?: string;
}

export interface Meta {
  writer: string;
  begin_unix_ns: number;
  ended: string;
  target: { pid: number; name: string; jvm: string; java: number; server: string | null };
  machine: { host: string; kernel: string; cpus: number; target_cpus: number; cpu_model: string };
  levels: Record<string, Level>;
  losses: Record<string, number>;
  /** Absent in traces of schema 1. */
  not_recorded?: { what: string; why: string; how_to_get?: string }[];
  notes: string[];
  tables: Record<string, number>;
}

export interface Figures {
  requests: number;
  requests_per_second: number;
  percentiles_ns: [number, number, number] | null;
  cpu: number | null;
  full_handshakes: number;
  resumed_handshakes: number;
  other_handshakes: number;
  connections: number;
  pauses: number;
  pause_ns: number;
}

export interface Thread {
  id: number;
  name: string;
  kind: string;
  tid: number | null;
  role: number;
  requests: number;
  states: number;
  depth: number;
  times: number[];
}

export interface Trace {
  meta: Meta;
  duration: number;
  cpus: number;
  figures: Figures;
  roles: string[];
  threads: Thread[];
  pauses: number;
  /** False while all but an overview of a large trace is still being read. */
  whole: boolean;
}

export interface Overview {
  requests_per_second: number[];
  /** The slowest of these requests, ns. */
  slowest_ns: number[];
  cpu: number[];
  at_hand: number[];
  waiting: number[];
}

export interface SpanAt {
  id: number;
  kind: string;
  name: string;
  begin: number;
  end: number;
  status: number | null;
  peer: string | null;
  complete: boolean;
}

export interface Moment {
  thread: number;
  name: string;
  tid: number | null;
  begin: number;
  end: number;
  state: string;
  class: string;
  cpu: number | null;
  waker: { thread: number | null; name: string; tid: number } | null;
  syscall: string | null;
  fd: number | null;
  resource: { kind: string; name: string } | null;
  wait: {
    kind: string;
    class: string | null;
    object: number | null;
    owner: number | null;
    notifier: number | null;
    outcome: string;
    begin: number;
    end: number;
  } | null;
  owner_name: string | null;
  notifier_name: string | null;
  /** Where in the program's code it waited. */
  code: string | null;
  /** The whole stack, the innermost frame first. */
  stack: string[];
  spans: SpanAt[];
  marks: { at: number; kind: string; value: number; text: string | null }[];
  pause: {
    name: string;
    cause: string;
    begin: number;
    end: number;
    heap_before: number | null;
    heap_after: number | null;
  } | null;
}

export interface Request {
  id: number;
  name: string;
  thread: number;
  thread_name: string;
  begin: number;
  end: number;
  status: number | null;
  complete: boolean;
  causes: [string, number][];
}

/** A blocked interval and who ended it. */
export interface Link {
  thread: number;
  thread_name: string;
  begin: number;
  end: number;
  class: string;
  waited_on: string | null;
  waker: number;
  waker_name: string;
}

export interface Bar {
  id: number;
  kind: string;
  name: string;
  depth: number;
  begin: number;
  end: number;
  complete: boolean;
  /** Thread, begin, end. */
  pieces: [number, number, number][];
}

/** A stretch of a critical path. */
export interface Step {
  begin: number;
  end: number;
  thread: number;
  thread_name: string;
  cause: string;
  hops: number;
  waited_on: string | null;
  resource: string | null;
  /** Kind and name of the innermost span. */
  inside: [string, string] | null;
  /** What the request's own thread waited for. */
  meanwhile: { class: string; waited_on: string | null } | null;
}

export interface Waterfall {
  id: number;
  name: string;
  thread: number;
  thread_name: string;
  begin: number;
  end: number;
  status: number | null;
  peer: string | null;
  complete: boolean;
  bars: Bar[];
  left_out: number;
  path: Step[];
  more_steps: boolean;
  threads: { id: number; name: string }[];
}

export interface Lock {
  class: string | null;
  object: number | null;
  objects: number;
  kind: string;
  waits: number;
  wait_ns: number;
  longest_ns: number;
  waiters: number;
  convoy: number;
  convoy_at: number;
  holds: number;
  held_ns: number;
  longest_hold_ns: number;
  owner: string | null;
  owner_ns: number;
  owners: number;
  /** What its owners did while others waited: running, runnable, lock, I/O, other. */
  meanwhile: [number, number, number, number, number];
  /** Thread, begin, end. */
  longest: [number, number, number];
}

export interface Hit {
  kind: string;
  name: string;
  count: number;
  total: number;
  thread: number;
  begin: number;
  end: number;
  request: number | null;
}

export interface Matrix {
  cells: [string, string, number][];
  counts: [string, number][];
}

export interface Finding {
  name: string;
  hypothesis: string;
  outcome: "confirmed" | "refuted" | "not_enough_data";
  share: number;
  /** What it is a share of: usually the requests' time. */
  share_of: string;
  evidence: string[];
  /** Positions in the diagnosis's queries, from 1. */
  queries: number[];
  /** Seconds since the recording began. */
  at_s: number | null;
  record?: string;
}

export interface Diagnosis {
  symptoms: { text: string; at_s: number | null }[];
  findings: Finding[];
  verdict: string;
  queries: { name: string; sql: string }[];
}

/** A measure of two recordings: `kind` is endpoint, phase, cause, lock, sql, handshake, vm, code or waiting in. */
export interface Change {
  kind: string;
  name: string;
  unit: string;
  before: number;
  now: number;
  rare: boolean;
  /** Relative: 0.1 is 10% more. */
  change: number;
  /** Its 95% interval; without an upper end if the mean before may be anything. */
  interval: [number, number | null];
  /** Whether it is more than noise. */
  real: boolean;
}

export interface Comparison {
  summary: string;
  circumstances: string[];
  recordings: [{ trace: string; requests_per_s: number }[], { trace: string; requests_per_s: number }[]];
  verdict: { common: number; changes: Change[] };
}

export type Cell = string | number | boolean | null;

export interface Table {
  columns: string[];
  numeric: boolean[];
  rows: Cell[][];
  more: boolean;
  ms: number;
}

export interface CounterLanes {
  roles: string[];
  /** Bounds of the intervals. */
  times: number[];
  /** By role, what a counter grew in each interval. */
  lanes: { name: string; grown: number[][] }[];
}

/** Stands for a thread where the lane of GC pauses is meant. */
export const GC_LANE = -1;

type Value = string | number;

async function get(path: string, params: Record<string, Value>, signal?: AbortSignal): Promise<Response> {
  const query = new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]));
  const response = await fetch(`api/${path}?${query}`, signal ? { signal } : {}).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Error("the server does not answer any more: run `loadline open` again, then reload this page");
  });
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => null);
    const message = body && typeof body === "object" && "message" in body ? String(body.message) : response.statusText;
    throw new Error(message);
  }
  return response;
}

async function json<T>(path: string, params: Record<string, Value>, signal?: AbortSignal): Promise<T> {
  return (await get(path, params, signal)).json() as Promise<T>;
}

export const api = {
  trace: () => json<Trace>("trace", {}),
  /** Answers once all of the trace has been read. */
  whole: () => json<boolean>("whole", {}),
  overview: (bins: number) => json<Overview>("overview", { bins }),
  lanes: async (begin: number, end: number, px: number, threads: readonly number[], signal?: AbortSignal) =>
    (await get("lanes", { begin, end, px, threads: threads.join(",") }, signal)).arrayBuffer(),
  spans: async (begin: number, end: number, px: number, threads: readonly number[]) =>
    (await get("spans", { begin, end, px, threads: threads.join(",") })).arrayBuffer(),
  at: (thread: number, t: number, signal?: AbortSignal) => json<Moment>("at", { thread, t: Math.round(t) }, signal),
  requests: (begin: number, end: number, sort: string, limit: number, filter: string, signal?: AbortSignal) =>
    json<{ total: number; requests: Request[] }>("requests", { begin, end, sort, limit, filter }, signal),
  waterfall: (id: number, signal?: AbortSignal) => json<Waterfall>("waterfall", { id }, signal),
  chain: (thread: number, t: number, signal?: AbortSignal) => json<Link[]>("chain", { thread, t: Math.round(t) }, signal),
  locks: (by: "class" | "object", begin: number, end: number, signal?: AbortSignal) =>
    json<{ total: number; locks: Lock[] }>("locks", { by, begin, end }, signal),
  search: (q: string, signal?: AbortSignal) => json<Hit[]>("search", { q }, signal),
  counters: (bins: number) => json<CounterLanes>("counters", { bins }),
  /** Name, value, whether it is an estimate. */
  requestCounters: (id: number, signal?: AbortSignal) => json<[string, number, boolean][]>("request_counters", { id }, signal),
  diagnosis: () => json<Diagnosis>("diagnosis", {}),
  matrix: (begin: number, end: number, signal?: AbortSignal) => json<Matrix>("matrix", { begin, end }, signal),
  query: (sql: string, signal?: AbortSignal) => json<Table>("query", { sql }, signal),
  /** Of two recordings beside each other. */
  diff: () => json<Comparison>("diff", {}),
};
