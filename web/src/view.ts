// What the page shows: the visible range, the selection, the request, the tab and the filter. One value, one place; every
// part of the page listens, and the address holds it all. Who goes somewhere can come back: `go` adds to the browser's
// history, `set` (panning, zooming, stepping) does not.

export interface Range {
  readonly begin: number;
  readonly end: number;
}

export interface Selection {
  readonly thread: number;
  readonly t: number;
  /** Whether the waterfall follows to the request that lies there: not where the waterfall itself led. */
  readonly follow?: boolean;
}

export type Tab = "diagnosis" | "moment" | "requests" | "waterfall" | "locks" | "matrix" | "query";

export const TABS: readonly Tab[] = ["diagnosis", "moment", "requests", "waterfall", "locks", "matrix", "query"];

export interface ViewState {
  readonly range: Range;
  readonly selection: Selection | null;
  readonly tab: Tab;
  /** The request of the waterfall, by its span's id. */
  readonly request: number | null;
  /** What the table of requests is filtered by. */
  readonly filter: string;
  /** Which threads the timeline shows: parts of their names, with commas; with a `$`, ends of names. All, if there are none. */
  readonly lanes: string;
}

/** Narrowest range, ns: below it, nothing that was recorded differs. */
export const MIN_RANGE = 1_000;

/** The nearest range to `[begin, end)` that lies in the trace and is not too narrow. */
export function clampRange(begin: number, end: number, total: number): Range {
  const width = Math.min(total, Math.max(MIN_RANGE, end - begin));
  const middle = (begin + end) / 2;
  const from = Math.round(Math.min(Math.max(0, middle - width / 2), total - width));
  return { begin: from, end: Math.round(from + width) };
}

/** A range zoomed by `factor` so that what is at `anchor` stays where it is. */
export function zoomRange(range: Range, factor: number, anchor: number, total: number): Range {
  const width = Math.min(total, Math.max(MIN_RANGE, (range.end - range.begin) * factor));
  const share = (anchor - range.begin) / (range.end - range.begin);
  const begin = Math.min(Math.max(0, anchor - width * share), total - width);
  return { begin: Math.round(begin), end: Math.round(begin + width) };
}

/** A range moved by a part of its width. */
export function panRange(range: Range, part: number, total: number): Range {
  const width = range.end - range.begin;
  const begin = Math.min(Math.max(0, range.begin + width * part), total - width);
  return { begin: Math.round(begin), end: Math.round(begin + width) };
}

/** The state as an address: `#r=9.2,9.5&at=16:9.31&req=17&tab=matrix&f=search`, times in seconds. */
export function toHash(state: ViewState): string {
  const parts = [`r=${seconds(state.range.begin)},${seconds(state.range.end)}`];
  if (state.selection) parts.push(`at=${state.selection.thread}:${seconds(state.selection.t)}`);
  if (state.request !== null) parts.push(`req=${state.request}`);
  parts.push(`tab=${state.tab}`);
  if (state.filter) parts.push(`f=${encodeURIComponent(state.filter)}`);
  if (state.lanes) parts.push(`lanes=${encodeURIComponent(state.lanes)}`);
  return `#${parts.join("&")}`;
}

/** What an address says; what it does not say, or says wrongly, is absent. */
export function fromHash(hash: string, total: number): Partial<ViewState> {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const state: { range?: Range; selection?: Selection; tab?: Tab; request?: number; filter?: string; lanes?: string } = {};
  const [begin, end] = (params.get("r") ?? "").split(",").map(nanos);
  if (begin !== undefined && end !== undefined && begin < end) state.range = clampRange(begin, end, total);
  const t = nanos(params.get("t") ?? "");
  if (t !== undefined && !state.range) state.range = clampRange(t - 50e6, t + 50e6, total);
  const [thread, at] = (params.get("at") ?? "").split(":");
  const moment = nanos(at ?? "");
  if (thread && /^-?\d+$/.test(thread) && moment !== undefined) state.selection = { thread: Number(thread), t: moment };
  const tab = TABS.find((name) => name === params.get("tab"));
  if (tab) state.tab = tab;
  const request = params.get("req") ?? "";
  if (/^\d+$/.test(request)) state.request = Number(request);
  const filter = params.get("f");
  if (filter) state.filter = filter;
  const lanes = params.get("lanes");
  if (lanes) state.lanes = lanes;
  return state;
}

function seconds(ns: number): string {
  return (ns / 1e9).toFixed(9).replace(/\.?0+$/, "");
}

function nanos(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)s?$/.exec(text);
  return match ? Math.round(Number(match[1]) * 1e9) : undefined;
}

type Listener = (state: ViewState, before: ViewState) => void;

/** What marks an address of ours in the browser's history: it tells the whole state, what it does not say is not there. */
const OURS = "loadline";

/** The view of one page. */
export class View {
  private listeners: Listener[] = [];
  private hashTimer = 0;

  constructor(
    readonly total: number,
    private current: ViewState,
  ) {
    history.replaceState(OURS, "", toHash(current));
    addEventListener("hashchange", () => this.restore());
  }

  get state(): ViewState {
    return this.current;
  }

  get range(): Range {
    return this.current.range;
  }

  set(change: Partial<ViewState>): void {
    this.change(change);
    // Browsers limit how often an address may change.
    clearTimeout(this.hashTimer);
    this.hashTimer = window.setTimeout(() => history.replaceState(OURS, "", toHash(this.current)), 150);
  }

  /** As `set`, and the browser's Back leads to what was before. */
  go(change: Partial<ViewState>): void {
    clearTimeout(this.hashTimer);
    const before = toHash(this.current);
    history.replaceState(OURS, "", before);
    this.change(change);
    if (toHash(this.current) !== before) history.pushState(OURS, "", toHash(this.current));
  }

  setRange(range: Range): void {
    this.set({ range });
  }

  zoom(factor: number, anchor = (this.range.begin + this.range.end) / 2): void {
    this.setRange(zoomRange(this.range, factor, anchor, this.total));
  }

  pan(part: number): void {
    this.setRange(panRange(this.range, part, this.total));
  }

  fit(): void {
    this.setRange({ begin: 0, end: this.total });
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  private change(change: Partial<ViewState>): void {
    const before = this.current;
    this.current = { ...before, ...change };
    for (const listener of this.listeners) listener(this.current, before);
  }

  /** Shows what the address says now: after Back or Forward all of it, else what somebody wrote there. */
  private restore(): void {
    clearTimeout(this.hashTimer);
    const said = fromHash(location.hash, this.total);
    const absent = history.state === OURS ? { selection: null, request: null, filter: "", lanes: "" } : {};
    const next = { ...absent, ...said };
    if (toHash({ ...this.current, ...next }) !== toHash(this.current)) this.change(next);
  }
}
