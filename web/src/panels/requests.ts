// The requests of the visible range, slowest first, each with what its time went to.

import { api, type Request } from "../api.ts";
import { h, shareBar } from "../dom.ts";
import { duration, grouped, moment, percent } from "../format.ts";
import { classOfCause } from "../palette.ts";
import { clampRange, type View } from "../view.ts";
import type { Panel } from "./tabs.ts";

const COLUMNS: readonly (readonly [string, string | null, string])[] = [
  ["time", "duration", "number"],
  ["at", "begin", "number"],
  ["request", "name", ""],
  ["status", null, "number"],
  ["worker", "thread", ""],
  ["where its time went", null, "wide"],
  ["most of all", null, ""],
];

export class RequestsPanel implements Panel {
  readonly element = h("section", { class: "requests", "aria-label": "Requests" });
  private sort = "duration";
  private wholeTrace = true;
  private abort = new AbortController();
  private chosen: number | null = null;

  constructor(
    private readonly view: View,
    private readonly reveal: (thread: number) => void,
  ) {}

  get followsRange(): boolean {
    return !this.wholeTrace;
  }

  async load(): Promise<void> {
    this.abort.abort();
    this.abort = new AbortController();
    const { begin, end } = this.wholeTrace ? { begin: 0, end: this.view.total } : this.view.range;
    const { total, requests } = await api.requests(begin, end, this.sort, 200, this.abort.signal);
    this.element.replaceChildren(this.controls(total, requests.length), this.table(requests));
  }

  private controls(total: number, shown: number): HTMLElement {
    const choose = (whole: boolean, text: string) =>
      h("button", { class: "choice", "aria-pressed": String(this.wholeTrace === whole), onclick: () => this.setWhole(whole) }, text);
    const which = { duration: "slowest", begin: "earliest", name: "by name", thread: "by worker" }[this.sort] ?? "";
    const text = total === 0 ? "No request in this range; choose the whole trace." : `${grouped(total)} requests${shown < total ? `, the ${grouped(shown)} first (${which})` : ""}`;
    return h("div", { class: "controls" }, choose(true, "whole trace"), choose(false, "visible range"), h("span", { class: "quiet" }, text));
  }

  private setWhole(whole: boolean): void {
    this.wholeTrace = whole;
    void this.load();
  }

  private table(requests: readonly Request[]): HTMLElement {
    const slowest = Math.max(...requests.map((r) => r.end - r.begin), 1);
    const heads = COLUMNS.map(([title, sort, cls]) =>
      h("th", { class: cls, "aria-sort": sort === this.sort ? "other" : undefined }, sort ? h("button", { class: "sort", onclick: () => this.sortBy(sort) }, title) : title),
    );
    const body = h("tbody", {}, ...requests.map((r) => this.row(r, slowest)));
    return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body));
  }

  private sortBy(sort: string): void {
    this.sort = sort;
    void this.load();
  }

  private row(r: Request, slowest: number): HTMLElement {
    const total = r.end - r.begin;
    const parts = r.causes.map(([cause, ns]) => [classOfCause(cause), ns] as const);
    const title = r.causes.map(([cause, ns]) => `${cause} ${duration(ns)}`).join(", ");
    const [top] = r.causes;
    const bar = shareBar(parts, title);
    bar.style.width = `${Math.max(2, (total / slowest) * 100)}%`;
    const cells: [string, Node | string][] = [
      ["number strong", `${r.complete ? "" : "≥ "}${duration(total)}`],
      ["number", moment(r.begin, 1e6)],
      ["", r.name],
      ["number", r.status === null ? "" : String(r.status)],
      ["", shortName(r.thread_name)],
      ["wide", bar],
      ["quiet", top ? `${top[0]} ${percent(top[1] / total)}` : ""],
    ];
    return h(
      "tr",
      { "data-id": r.id, class: this.chosen === r.id ? "chosen" : "", title: "click to go there", onclick: () => this.go(r) },
      ...cells.map(([cls, content]) => h("td", { class: cls }, content)),
    );
  }

  private go(r: Request): void {
    this.chosen = r.id;
    for (const row of this.element.querySelectorAll("tr.chosen")) row.classList.remove("chosen");
    this.element.querySelector(`tr[data-id="${r.id}"]`)?.classList.add("chosen");
    this.view.set(viewOf(r, this.view.total));
    this.reveal(r.thread);
  }

  /** Marks a request as the chosen one. */
  mark(r: Request): void {
    this.chosen = r.id;
  }
}

/** The range and the selection that show a request. */
export function viewOf(r: Request, total: number): { range: ReturnType<typeof clampRange>; selection: { thread: number; t: number } } {
  const margin = Math.max((r.end - r.begin) * 0.3, 2e5);
  return {
    range: clampRange(r.begin - margin, r.end + margin, total),
    selection: { thread: r.thread, t: Math.round((r.begin + r.end) / 2) },
  };
}

/** `exec-7` of `https-jsse-nio-8443-exec-7`: within one server the rest is the same. */
function shortName(name: string): string {
  return /exec-\d+$/.exec(name)?.[0] ?? name;
}
