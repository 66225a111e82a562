// Everything known about the chosen interval, with ways to go on from it.

import { abbreviate } from "../abbreviate.ts";
import { api, GC_LANE, type Link, type Moment } from "../api.ts";
import { classIndex, headline, kindIndex, kindText, meaning, syscallText, waitText } from "../describe.ts";
import { h, kindSwatch, swatch } from "../dom.ts";
import { bytes, digits, duration, moment as momentText } from "../format.ts";
import { shortThread } from "../path.ts";
import { clampRange, type View } from "../view.ts";

export class MomentPanel {
  readonly element = h("section", { class: "moment", "aria-label": "Moment" });
  private current: Moment | null = null;
  /** What the request cost: it comes a little later than the moment. */
  private readonly wakings = h("ol", { class: "chain", "aria-label": "Who woke it, and what that thread had waited for" });
  private readonly cost = h("dl", { class: "facts cost", "aria-label": "What the request cost" });
  private abort = new AbortController();

  constructor(
    private readonly view: View,
    private readonly chosen: (moment: Moment | null, chain?: readonly Link[]) => void,
    private readonly reveal: (thread: number) => void,
  ) {
    view.listen((state, before) => {
      if (state.selection !== before.selection) void this.load();
    });
  }

  /** Fetches the chosen interval. */
  async load(): Promise<void> {
    const selection = this.view.state.selection;
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    if (!selection) {
      this.current = null;
      this.chosen(null);
      return this.explain("Click an interval in the timeline: everything known about it will stand here.");
    }
    try {
      this.current = await api.at(selection.thread, selection.t, signal);
      this.chosen(this.current);
      this.cost.replaceChildren();
      this.wakings.replaceChildren();
      this.show(this.current);
      const request = this.current.spans.find((span) => span.kind === "request");
      if (selection.follow && request && request.id !== this.view.state.request) this.view.set({ request: request.id });
      if (this.current.waker) {
        const chain = await api.chain(selection.thread, selection.t, signal);
        this.chosen(this.current, chain);
        this.wakings.replaceChildren(...chain.map((link, i) => this.link(link, i)));
      }
      if (request) this.cost.replaceChildren(...costRows(await api.requestCounters(request.id, signal)));
    } catch (error) {
      if (signal.aborted) return;
      this.current = null;
      this.chosen(null);
      this.explain(error instanceof Error ? error.message : String(error));
    }
  }

  /** Goes to the interval after or before this one. */
  step(direction: 1 | -1): void {
    const moment = this.current;
    if (!moment) return;
    const t = direction > 0 ? moment.end : moment.begin - 1;
    if (t < 0 || t >= this.view.total) return;
    const { begin, end } = this.view.range;
    const range = t < begin || t > end ? clampRange(t - (end - begin) / 2, t + (end - begin) / 2, this.view.total) : this.view.range;
    this.view.set({ selection: { thread: moment.thread, t, follow: true }, range });
  }

  private explain(text: string): void {
    this.element.replaceChildren(h("p", { class: "quiet" }, text));
  }

  private go(thread: number, t: number): void {
    const { begin, end } = this.view.range;
    const half = (end - begin) / 2;
    const range = t < begin || t > end ? { range: clampRange(t - half, t + half, this.view.total) } : {};
    this.view.go({ selection: { thread, t }, ...range });
    this.reveal(thread);
  }

  /** A link of the chain: who woke whom, and from what. */
  private link(link: Link, i: number): HTMLElement {
    const to = (name: string, thread: number, t: number) => h("button", { class: "link", title: `${name}: go there`, onclick: () => this.go(thread, t) }, shortThread(name));
    const what = link.waited_on ? abbreviate(link.waited_on, 34) : link.class;
    return h(
      "li",
      {},
      h("span", {}, i === 0 ? shortThread(link.thread_name) : to(link.thread_name, link.thread, Math.floor((link.begin + link.end) / 2))),
      h("span", { class: "number" }, duration(link.end - link.begin)),
      h("span", { class: "quiet chain-what", title: link.waited_on ?? "" }, swatch(classIndex(link)), what),
      h("span", { class: "quiet" }, "woken by"),
      to(link.waker_name, link.waker, Math.max(0, link.end - 1)),
    );
  }

  private zoomTo(begin: number, end: number): void {
    const margin = (end - begin) * 0.15;
    this.view.setRange(clampRange(begin - margin, end + margin, this.view.total));
  }

  private show(m: Moment): void {
    const exact = Math.min(1e5, (m.end - m.begin) / 10);
    const link = (text: string, thread: number | null | undefined, t: number) =>
      typeof thread === "number" && thread >= 0
        ? h("button", { class: "link", onclick: () => this.go(thread, t), title: "go to this thread at that moment" }, text)
        : text;
    const facts: [string, Node | string | null][] = [
      ["thread", `${m.name}${m.tid === null ? "" : `, tid ${m.tid}`}`],
      ["from", `${momentText(m.begin, exact)} to ${momentText(m.end, exact)}`],
      ["waited on", waitText(m)],
      ["held by", m.owner_name && m.wait ? link(m.owner_name, m.wait.owner, m.begin) : null],
      ["wait ended", m.wait ? `${m.wait.outcome} after ${duration(m.wait.end - m.wait.begin)}` : null],
      ["ended by", m.notifier_name && m.wait ? link(m.notifier_name, m.wait.notifier, Math.max(0, m.end - 1)) : null],
      ["in the code", m.code === null ? null : h("details", {}, h("summary", { class: "code", title: "the whole stack" }, m.code), h("ol", { class: "code frames" }, ...m.stack.map((frame) => h("li", {}, frame))))],
      ["system call", syscallText(m)],
      ["resource", m.resource ? `${m.resource.kind} ${m.resource.name}` : null],
      ["woken by", m.waker ? link(m.waker.name, m.waker.thread, Math.max(0, m.end - 1)) : null],
      ["pause", m.pause ? [m.pause.name, m.pause.cause, duration(m.pause.end - m.pause.begin)].filter(Boolean).join(", ") : null],
      ["heap", heap(m)],
    ];
    this.element.replaceChildren(
      h(
        "div",
        { class: "moment-head" },
        swatch(classIndex(m)),
        h("b", {}, headline(m)),
        h("span", { class: "moment-time" }, duration(m.end - m.begin)),
        h("span", { class: "grow" }),
        h("button", { title: "previous interval (←)", onclick: () => this.step(-1) }, "←"),
        h("button", { title: "next interval (→)", onclick: () => this.step(1) }, "→"),
        h("button", { title: "zoom to this interval (Z)", onclick: () => this.zoom() }, "zoom"),
      ),
      h("p", { class: "quiet" }, m.thread === GC_LANE ? "" : meaning(m)),
      h("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => (value ? [h("dt", {}, name), h("dd", {}, value)] : []))),
      this.wakings,
      h("div", { class: "stack" }, ...m.spans.map((span, depth) => this.spanRow(m, span, depth))),
      this.cost,
      m.marks.length > 0 &&
        h(
          "dl",
          { class: "facts" },
          ...m.marks.flatMap((mark) => [h("dt", {}, momentText(mark.at, 1e3)), h("dd", {}, `${mark.kind} = ${mark.value}${mark.text ? ` ${mark.text}` : ""}`)]),
        ) || "",
    );
  }

  /** Zooms to the chosen interval. */
  zoom(): void {
    if (this.current) this.zoomTo(this.current.begin, this.current.end);
  }

  private spanRow(moment: Moment, span: Moment["spans"][number], depth: number): HTMLElement {
    // A handshake's name only repeats its kind, and a connection's may be its peer.
    const name = [/^(tls|pool)_/.test(span.kind) ? "" : span.name, span.status ?? "", span.peer === span.name ? "" : (span.peer ?? "")].filter(Boolean).join("  ");
    const at = Math.min(1, Math.max(0, (moment.begin - span.begin) / (span.end - span.begin)));
    const width = Math.min(1 - at, (moment.end - moment.begin) / (span.end - span.begin));
    const row = h(
      "button",
      { class: "span-row", title: "zoom to this span", onclick: () => this.zoomTo(span.begin, span.end) },
      h("span", { class: "span-kind", style: `padding-left:${depth * 10}px` }, kindSwatch(kindIndex(span.kind)), kindText(span.kind)),
      h("span", { class: span.kind === "sql" ? "span-name code" : "span-name" }, name),
      h("span", { class: "span-where" }, h("i", { style: `left:${at * 100}%;width:max(2px,${width * 100}%);background:var(--class-${classIndex(moment)})` })),
      h("span", { class: "number" }, `${span.complete ? "" : "≥ "}${duration(span.end - span.begin)}`),
    );
    if (span.kind !== "request") return row;
    const waterfall = () => this.view.go({ request: span.id, tab: "waterfall" });
    return h("div", { class: "span-request" }, row, h("button", { title: "its spans and its critical path, over the threads", onclick: waterfall }, "waterfall"));
  }
}

/** What a request cost; estimates have a `~`. */
export function costRows(counters: readonly (readonly [string, number, boolean])[]): HTMLElement[] {
  return counters.flatMap(([name, value, estimated]) => {
    const text = name.endsWith("_ns") ? duration(value) : digits(value);
    return [h("dt", {}, name.replace(/_ns$/, " time").replaceAll("_", " ")), h("dd", { title: estimated ? "estimated: shared out by time on a CPU" : "" }, `${estimated ? "~ " : ""}${text}`)];
  });
}

function heap(m: Moment): string | null {
  const { pause } = m;
  if (!pause || pause.heap_before === null || pause.heap_after === null) return null;
  return `${bytes(pause.heap_before)} before, ${bytes(pause.heap_after)} after`;
}
