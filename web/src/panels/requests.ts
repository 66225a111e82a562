// The requests of the visible range, slowest first, each with what its time went to.

import { api, type Request } from "../api.ts";
import { h, shareBar } from "../dom.ts";
import { duration, grouped, moment, percent } from "../format.ts";
import { classOfCause } from "../palette.ts";
import { shortThread } from "../path.ts";
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
  private readonly box = h("input", { type: "search", class: "filter", placeholder: "path, worker, SQL, lock", "aria-label": "Filter requests", title: "requests with this in their path, worker, statements or the class of a lock that they waited for, or with this status", spellcheck: "false" });
  private readonly note = h("span", { class: "quiet" });
  private readonly body = h("div", { class: "scroll" });
  private timer = 0;

  constructor(
    private readonly view: View,
    private readonly reveal: (thread: number) => void,
  ) {
    this.box.value = view.state.filter;
    this.box.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => view.set({ filter: this.box.value.trim() }), 150);
    });
    view.listen((state, before) => {
      if (state.request !== before.request) this.mark();
      if (state.filter === before.filter) return;
      if (state.filter !== this.box.value.trim()) this.box.value = state.filter;
      if (this.element.isConnected) void this.load();
    });
  }

  get followsRange(): boolean {
    return !this.wholeTrace;
  }

  async load(): Promise<void> {
    this.abort.abort();
    this.abort = new AbortController();
    const { begin, end } = this.wholeTrace ? { begin: 0, end: this.view.total } : this.view.range;
    const { total, requests } = await api.requests(begin, end, this.sort, 200, this.view.state.filter, this.abort.signal);
    this.note.textContent = this.told(total, requests.length);
    this.body.replaceChildren(this.table(requests));
    // The box keeps the focus of who types in it.
    if (!this.element.contains(this.box)) this.element.append(this.controls(), this.body);
    for (const button of this.element.querySelectorAll("[data-whole]")) button.setAttribute("aria-pressed", String(button.getAttribute("data-whole") === String(this.wholeTrace)));
    this.mark();
  }

  private controls(): HTMLElement {
    const choose = (whole: boolean, text: string) => h("button", { class: "choice", "data-whole": String(whole), onclick: () => this.setWhole(whole) }, text);
    return h("div", { class: "controls" }, choose(true, "whole trace"), choose(false, "visible range"), this.box, this.note);
  }

  private told(total: number, shown: number): string {
    const which = { duration: "slowest", begin: "earliest", name: "by name", thread: "by worker" }[this.sort] ?? "";
    if (total === 0) return this.view.state.filter ? "No request is like that." : "No request in this range; choose the whole trace.";
    return `${grouped(total)} requests${shown < total ? `, the ${grouped(shown)} first (${which})` : ""}`;
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
    return h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body);
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
      ["", h("button", { class: "link" }, r.name)],
      ["number", r.status === null ? "" : String(r.status)],
      ["", shortThread(r.thread_name)],
      ["wide", bar],
      ["quiet", top ? `${top[0]} ${percent(top[1] / total)}` : ""],
    ];
    return h(
      "tr",
      { "data-id": r.id, title: "click for its waterfall", onclick: () => this.go(r) },
      ...cells.map(([cls, content]) => h("td", { class: cls }, content)),
    );
  }

  private go(r: Request): void {
    this.view.go({ ...viewOf(r, this.view.total), request: r.id, tab: "waterfall" });
    this.reveal(r.thread);
  }

  /** Marks the request that is chosen. */
  private mark(): void {
    for (const row of this.element.querySelectorAll("tbody tr")) {
      row.classList.toggle("chosen", row.getAttribute("data-id") === String(this.view.state.request));
    }
  }
}

/** The range and the selection that show a request. */
export function viewOf(r: Pick<Request, "begin" | "end" | "thread">, total: number): { range: ReturnType<typeof clampRange>; selection: { thread: number; t: number } } {
  const margin = Math.max((r.end - r.begin) * 0.3, 2e5);
  return {
    range: clampRange(r.begin - margin, r.end + margin, total),
    selection: { thread: r.thread, t: Math.round((r.begin + r.end) / 2) },
  };
}
