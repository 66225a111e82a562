// Locks that threads waited for: how long, who held them, and what the owners did meanwhile.

import { abbreviate } from "../abbreviate.ts";
import { api, type Lock } from "../api.ts";
import { h, shareBar } from "../dom.ts";
import { duration, grouped, percent } from "../format.ts";
import { CLASSES } from "../palette.ts";
import { shortThread } from "../path.ts";
import { clampRange, type View } from "../view.ts";
import type { Panel } from "./tabs.ts";

/** What owners do while others wait, in the order of the API: in words, and as a class of states. */
const MEANWHILE = [
  ["running", "running"],
  ["runnable", "runnable"],
  ["another lock", "lock"],
  ["I/O", "socket"],
  ["something else", "other"],
] as const;

interface Column {
  readonly title: string;
  readonly tip: string;
  readonly cls: string;
  /** What it is sorted by, largest first; by name if it is a text. */
  readonly key: (lock: Lock) => number | string;
}

const COLUMNS: readonly Column[] = [
  { title: "lock", tip: "class of the object that is locked", cls: "", key: (l) => l.class ?? "" },
  { title: "waits", tip: "how often a thread waited for it; click the number for the requests that waited", cls: "number", key: (l) => l.waits },
  { title: "waited", tip: "all waits together", cls: "number", key: (l) => l.wait_ns },
  { title: "longest", tip: "the longest wait: click a row to go there", cls: "number", key: (l) => l.longest_ns },
  { title: "convoy", tip: "waiters at most: threads that waited for it at a time; click the number to go there", cls: "number", key: (l) => l.convoy },
  { title: "holds", tip: "how often it was held while another waited", cls: "number", key: (l) => l.holds },
  { title: "held", tip: "how long it was held while another waited; the longest hold in the tooltip", cls: "number", key: (l) => l.held_ns },
  { title: "its owners meanwhile", tip: "what those who had it did while others waited", cls: "", key: (l) => l.meanwhile[1] / (l.held_ns || 1) },
  { title: "held by", tip: "the thread that had it longest while others waited", cls: "", key: (l) => l.owner ?? "" },
];

export class LocksPanel implements Panel {
  readonly element = h("section", { class: "locks", "aria-label": "Locks" });
  private by: "class" | "object" = "class";
  private wholeTrace = true;
  private sort = 2;
  private abort = new AbortController();

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
    if (!this.element.hasChildNodes()) this.element.append(h("p", { class: "quiet empty" }, "adding up waits and holds…"));
    const { total, locks } = await api.locks(this.by, Math.round(begin), Math.round(end), this.abort.signal);
    this.show(total, locks);
  }

  private show(total: number, locks: readonly Lock[]): void {
    const choose = (by: "class" | "object", text: string) =>
      h("button", { class: "choice", "aria-pressed": String(this.by === by), onclick: () => this.setBy(by) }, text);
    const within = (whole: boolean, text: string) =>
      h("button", { class: "choice", "aria-pressed": String(this.wholeTrace === whole), onclick: () => this.setWithin(whole) }, text);
    const told = total === 0 ? `no thread waited for a lock${this.wholeTrace ? "" : " in the visible range"}` : `${grouped(total)} ${this.by === "class" ? "classes" : "objects"} of locks that threads waited for, in the ${this.wholeTrace ? "whole trace" : "visible range"}${locks.length < total ? `; the ${grouped(locks.length)} most waited for are told` : ""}`;
    const column = COLUMNS[this.sort];
    const sorted = locks.toSorted((a, b) => {
      const [p, q] = [column?.key(a) ?? 0, column?.key(b) ?? 0];
      return typeof p === "string" ? p.localeCompare(String(q)) : Number(q) - p;
    });
    const heads = COLUMNS.map((c, i) =>
      h(
        "th",
        { class: c.cls, title: c.tip, "aria-sort": i === this.sort ? (c.cls ? "descending" : "ascending") : undefined },
        h(
          "button",
          {
            class: "sort",
            onclick: () => {
              this.sort = i;
              this.show(total, locks);
            },
          },
          c.title,
        ),
      ),
    );
    this.element.replaceChildren(
      h(
        "div",
        { class: "controls" },
        choose("class", "by class"),
        choose("object", "by object"),
        within(true, "whole trace"),
        within(false, "visible range"),
        h("span", { class: "quiet" }, told),
      ),
      h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...sorted.map((l) => this.row(l))))),
    );
  }

  private setBy(by: "class" | "object"): void {
    this.by = by;
    void this.load();
  }

  private setWithin(whole: boolean): void {
    this.wholeTrace = whole;
    void this.load();
  }

  private row(l: Lock): HTMLElement {
    const total = l.meanwhile.reduce((a, b) => a + b, 0) || 1;
    const parts = MEANWHILE.map(([text, cls], i) => [text, cls, (l.meanwhile[i] ?? 0) / total] as const).filter(([, , share]) => share >= 0.005);
    const bar = shareBar(parts.map(([, cls, share]) => [CLASSES.indexOf(cls), share] as const), parts.map(([text, , share]) => `${text} ${percent(share)}`).join(", "));
    const most = parts.toSorted((a, b) => b[2] - a[2])[0];
    const name = l.class ?? "unknown class";
    const object = l.object === null ? (l.objects > 1 ? `  × ${grouped(l.objects)}` : "") : ` @${l.object.toString(16)}`;
    const goLongest = () => this.go(l.longest[0], l.longest[1], l.longest[2]);
    return h(
      "tr",
      { onclick: goLongest, title: `${name}${object}` },
      h("td", {}, h("button", { class: "link", title: `${name}${object}: go to the longest wait` }, abbreviate(name, 33)), h("span", { class: "quiet" }, object)),
      h("td", { class: "number" }, l.class === null ? grouped(l.waits) : h("button", { class: "link", "aria-label": `${l.waits} waits: requests that waited for it`, title: `by ${grouped(l.waiters)} threads; click for the requests that waited`, onclick: (event) => this.goRequests(event, name) }, grouped(l.waits))),
      h("td", { class: "number strong" }, duration(l.wait_ns)),
      h("td", { class: "number" }, duration(l.longest_ns)),
      h("td", { class: "number" }, l.convoy > 1 ? h("button", { class: "link", title: "go to when most threads waited", onclick: (event) => this.goConvoy(event, l) }, grouped(l.convoy)) : grouped(l.convoy)),
      h("td", { class: "number" }, grouped(l.holds)),
      h("td", { class: "number", title: `longest hold ${duration(l.longest_hold_ns)}` }, duration(l.held_ns)),
      h("td", { class: "meanwhile" }, l.held_ns > 0 ? bar : null, h("span", { class: "quiet" }, most && l.held_ns > 0 ? `${percent(most[2])} ${most[0]}` : "")),
      h("td", { class: "quiet", title: l.owner ? `${l.owner} had it ${duration(l.owner_ns)} of ${duration(l.held_ns)}; ${grouped(l.owners)} threads had it` : "" }, l.owner ? shortThread(l.owner) : ""),
    );
  }

  private goRequests(event: Event, lock: string): void {
    event.stopPropagation();
    this.view.go({ tab: "requests", filter: lock });
  }

  private goConvoy(event: Event, l: Lock): void {
    event.stopPropagation();
    const half = Math.max(l.longest_ns, 1e6);
    this.view.go({ range: clampRange(l.convoy_at - half, l.convoy_at + half, this.view.total) });
  }

  private go(thread: number, begin: number, end: number): void {
    const margin = (end - begin) * 0.4;
    this.view.go({ range: clampRange(begin - margin, end + margin, this.view.total), selection: { thread, t: Math.round((begin + end) / 2) } });
    this.reveal(thread);
  }
}
