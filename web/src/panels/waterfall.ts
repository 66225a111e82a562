// One request over the threads that worked on it: its spans, the states of the threads, and the critical path, which is
// what decided when it ended: where its thread was blocked, the path goes on in the thread that it waited for.

import { abbreviate } from "../abbreviate.ts";
import { api, type Bar, type Step, type Waterfall } from "../api.ts";
import { kindIndex, kindText } from "../describe.ts";
import { h, kindSwatch, shareBar, swatch } from "../dom.ts";
import { duration, moment, percent, tickStep } from "../format.ts";
import { classOfCause, onPaletteChange, palette, rgb } from "../palette.ts";
import { foldShort, shares, shortThread, stretches } from "../path.ts";
import { decodeLanes, pack, paint } from "../timeline/columns.ts";
import { clampRange, type Range, type View } from "../view.ts";
import type { Panel } from "./tabs.ts";

/** Height of a thread's row, and of the strip of states in it, CSS pixels. */
const ROW = 21;
const STRIP = 11;

/** Kinds of spans whose name would not fit. */
const SHORT_KINDS: Readonly<Record<string, string>> = { pool_wait: "pool: waiting", pool_use: "pool: in use", tls_full: "TLS full", tls_resumed: "TLS resumed", tls_unknown: "TLS" };

/** Part of the request below which steps are told together. */
const SHORT = 0.005;

/** What a request's thread waits for while another is on the path, by what its state is drawn as. */
const AWAITED: Readonly<Record<string, string>> = {
  lock: "a lock", pool: "the pool", socket: "a socket", file: "a file", gc: "the virtual machine (a collection, a safepoint)", other: "another thread",
};

/** What a thread does, by the cause of its state. */
const DOING: Readonly<Record<string, string>> = {
  running: "runs", runnable: "waits for a CPU", preempted: "is preempted", gc: "is stopped by the collector", safepoint: "is stopped at a safepoint", idle: "has nothing to do",
  lock: "waits for", pool: "waits for the pool", socket: "waits for", file: "waits for", unknown: "is not known", other: "waits for something else",
};

export class WaterfallPanel implements Panel {
  readonly followsRange = false;
  readonly element = h("section", { class: "waterfall", "aria-label": "Waterfall of one request" });
  private readonly canvas = h("canvas", { class: "wf-lanes", role: "img", "aria-label": "States of the threads that the request waited for, with its critical path" });
  private readonly track = h("div", {}, this.canvas);
  private readonly list = h("ol", { class: "steps", "aria-label": "Critical path" });
  private readonly plot = h("div", { class: "wf-plot" });
  private shown: Waterfall | null = null;
  private lanes: ArrayBuffer | null = null;
  private columns = 0;
  private abort = new AbortController();

  constructor(
    private readonly view: View,
    private readonly reveal: (thread: number) => void,
  ) {
    this.canvas.addEventListener("click", (event) => this.click(event));
    // What fails here has failed in `load`, which tells it.
    new ResizeObserver(() => void this.resize().catch(() => undefined)).observe(this.plot);
    onPaletteChange(() => this.draw());
    view.listen((state, before) => {
      if (state.selection !== before.selection) this.mark();
    });
  }

  async load(): Promise<void> {
    const id = this.view.state.request;
    this.abort.abort();
    this.abort = new AbortController();
    if (id === null) {
      this.shown = null;
      const text = "Choose a request: click one in Requests, or an interval within one in the timeline.";
      this.element.replaceChildren(h("p", { class: "quiet empty" }, text));
      return;
    }
    if (this.shown?.id === id && this.lanes) return this.mark();
    const { signal } = this.abort;
    if (!this.shown) this.element.replaceChildren(h("p", { class: "quiet empty" }, "following who waited for whom…"));
    const w = await api.waterfall(id, signal);
    this.shown = w;
    this.lanes = null;
    this.show(w);
    await this.resize();
  }

  /** What the picture shows: the request, and the handshake before it unless that is long ago. */
  private extent(w: Waterfall): Range {
    const first = Math.min(w.begin, ...w.bars.map((b) => b.begin));
    return { begin: w.begin - first < (w.end - w.begin) * 2 ? first : w.begin, end: w.end };
  }

  private show(w: Waterfall): void {
    const total = w.end - w.begin;
    const { begin, end } = this.extent(w);
    const head = h(
      "div",
      { class: "controls wf-head" },
      h("b", {}, w.name),
      h("span", { class: "strong" }, `${w.complete ? "" : "≥ "}${duration(total)}`),
      h("span", { class: "quiet" }, [w.status === null ? "" : String(w.status), shortThread(w.thread_name), `at ${moment(w.begin, 1e6)}`, w.peer ?? ""].filter(Boolean).join(" · ")),
      h("span", { class: "grow" }),
      h("button", { onclick: () => this.inTimeline(begin, end, ""), title: "all of the request in the timeline" }, "in the timeline"),
      h("button", { onclick: () => this.inTimeline(begin, end, w.threads.map((t) => `${shortThread(t.name)}$`).join()), title: "in the timeline, with the threads of its path alone" }, "its threads alone"),
    );
    this.plot.replaceChildren(this.axis(w, begin, end), ...w.bars.map((bar) => this.bar(bar, begin, end)), this.threads(w));
    if (w.left_out > 0) this.plot.append(h("p", { class: "quiet" }, `${w.left_out} more spans are not shown`));
    this.list.replaceChildren(...this.steps(w));
    this.element.replaceChildren(
      head,
      h("div", { class: "wf-body" }, h("div", { class: "scroll" }, this.plot), h("div", { class: "scroll wf-path" }, this.sums(w), this.list)),
    );
    this.mark();
  }

  private axis(w: Waterfall, begin: number, end: number): HTMLElement {
    const step = tickStep((end - begin) / 5);
    const ticks: HTMLElement[] = [];
    for (let t = Math.ceil((begin - w.begin) / step) * step; w.begin + t < end - step / 4; t += step) {
      ticks.push(h("span", { style: `left:${(((w.begin + t - begin) / (end - begin)) * 100).toFixed(2)}%` }, t === 0 ? "0" : duration(t)));
    }
    return h("div", { class: "wf-row wf-axis", "aria-hidden": "true" }, h("span", {}), h("div", { class: "wf-track" }, ...ticks));
  }

  private bar(bar: Bar, begin: number, end: number): HTMLElement {
    const place = (from: number, to: number) => {
      const left = Math.max(0, (from - begin) / (end - begin));
      const right = Math.min(1, (to - begin) / (end - begin));
      return [left * 100, Math.max(0, right - left) * 100] as const;
    };
    const pieces = bar.pieces.map(([, from, to]) => {
      const [left, width] = place(from, to);
      return h("i", { style: `left:${left.toFixed(3)}%;width:max(2px,${width.toFixed(3)}%);background:var(--kind-${kindIndex(bar.kind)})` });
    });
    const [left, width] = place(bar.begin, bar.end);
    const time = duration(bar.end - bar.begin);
    const early = bar.end < begin ? `, ${duration(begin - bar.end)} before` : "";
    // Beside the bar where there is room, else before it.
    const side = left + width < 84 ? `left:calc(${(left + width).toFixed(2)}% + 5px)` : left > 16 ? `right:calc(${(100 - left).toFixed(2)}% + 5px)` : "right:4px";
    const named = !/^(tls|pool)_/.test(bar.kind) && bar.kind !== "request";
    const label = SHORT_KINDS[bar.kind] ?? kindText(bar.kind);
    return h(
      "button",
      { class: "wf-row", title: `${kindText(bar.kind)}${named ? `: ${bar.name}` : ""}, ${time}`, onclick: () => this.go(bar.pieces[0]?.[0] ?? -1, bar.begin, bar.end) },
      h("span", { class: "wf-label", style: `padding-left:${bar.depth * 9}px` }, kindSwatch(kindIndex(bar.kind)), h("span", { class: bar.kind === "sql" ? "code" : "" }, named ? bar.name : label)),
      h("div", { class: "wf-track" }, ...(early ? [] : pieces), h("em", { style: early ? "left:0" : side }, `${bar.complete ? "" : "≥ "}${time}${early}`)),
    );
  }

  private threads(w: Waterfall): HTMLElement {
    const names = w.threads.map((t) => h("button", { class: "wf-thread", title: t.name, onclick: () => this.go(t.id, w.begin, w.end) }, shortThread(t.name)));
    return h("div", { class: "wf-row wf-threads" }, h("div", {}, ...names), this.track);
  }

  /** What the path consists of: of the request's own thread, and of those that it waited for. */
  private sums(w: Waterfall): HTMLElement {
    const { own, others } = shares(w.path);
    const total = w.end - w.begin || 1;
    const line = (title: string, parts: readonly (readonly [string, number])[]) =>
      parts.length === 0
        ? null
        : h("p", {}, h("b", {}, `${title} `), ...parts.slice(0, 5).map(([cause, ns]) => h("span", { class: "chip" }, swatch(classOfCause(cause)), `${cause === "gc" ? "GC" : cause} ${percent(ns / total)}`)));
    const bar = shareBar(w.path.map((s) => [classOfCause(s.cause), s.end - s.begin] as const), "the critical path, from begin to end");
    return h("div", { class: "wf-sums" }, h("h3", {}, "Critical path"), bar, line("own thread", own), line("threads it waited for", others));
  }

  private steps(w: Waterfall): HTMLElement[] {
    const total = w.end - w.begin || 1;
    const rows = stretches(w.path).flatMap((stretch) => {
      const steps = foldShort(stretch, total * SHORT).map((entry) => (Array.isArray(entry) ? this.folded(entry, total) : this.step(entry, total)));
      const [first] = stretch;
      if (!first || first.hops === 0) return steps;
      // Others' steps stand under what the request waited for meanwhile.
      return [this.waited(w, stretch, first, total), ...steps];
    });
    if (w.more_steps) rows.push(h("li", { class: "quiet" }, "the path has more steps than are told"));
    return rows;
  }

  /** What the request's own thread waited for, while others decided when that ended. */
  private waited(w: Waterfall, stretch: readonly Step[], first: Step, total: number): HTMLElement {
    const end = stretch.at(-1)?.end ?? first.end;
    const what = first.meanwhile?.waited_on ? abbreviate(first.meanwhile.waited_on, 24) : (AWAITED[first.meanwhile?.class ?? ""] ?? "another thread");
    const own = w.bars.find((b) => b.id === w.id)?.pieces.find(([, from, to]) => from <= first.begin && first.begin < to)?.[0] ?? w.thread;
    const handed = new Set(stretch.map((s) => s.thread)).size;
    return h(
      "li",
      {},
      h(
        "button",
        { class: "step waited", title: `${w.thread_name} waits for ${first.meanwhile?.waited_on ?? what}`, onclick: () => this.go(own, first.begin, end) },
        swatch(classOfCause(first.meanwhile?.class ?? "other")),
        h("span", { class: "number strong" }, duration(end - first.begin)),
        h("span", { class: "what" }, h("b", {}, shortThread(w.thread_name)), ` waits for ${what}`, h("span", { class: "quiet" }, handed > 1 ? `  through ${handed} threads` : "")),
        meter((end - first.begin) / total, first.meanwhile?.class ?? "other"),
      ),
    );
  }

  /** Short steps, told together until somebody asks. */
  private folded(steps: readonly Step[], total: number): HTMLElement {
    const ns = steps.reduce((sum, s) => sum + s.end - s.begin, 0);
    const unfold = () => item.replaceWith(...steps.map((s) => this.step(s, total)));
    const item: HTMLElement = h(
      "li",
      {},
      h("button", { class: `step${steps[0]?.hops === 0 ? "" : " within"}`, title: "show them", onclick: unfold }, h("span", {}), h("span", { class: "number" }, duration(ns)), h("span", { class: "quiet" }, `${steps.length} shorter steps`)),
    );
    return item;
  }

  private step(s: Step, total: number): HTMLElement {
    const doing = DOING[s.cause] ?? `waits: ${s.cause}`;
    const object = s.waited_on && s.cause !== "idle" ? ` ${abbreviate(s.waited_on, 34)}` : "";
    const inside = s.inside && !(s.hops === 0 && s.inside[0] === "request") ? s.inside : null;
    const title = [`${s.thread_name} ${doing}`, s.waited_on, s.resource, s.inside?.join(" ")].filter(Boolean).join("\n");
    return h(
      "li",
      {},
      h(
        "button",
        { class: `step${s.hops === 0 ? "" : " within"}`, title, "data-thread": s.thread, "data-begin": s.begin, "data-end": s.end, onclick: () => this.go(s.thread, s.begin, s.end) },
        swatch(classOfCause(s.cause)),
        h("span", { class: "number strong" }, duration(s.end - s.begin)),
        h(
          "span",
          { class: "what" },
          h("b", {}, shortThread(s.thread_name)),
          ` ${doing}${object}${s.resource ? ` ${s.resource}` : ""}`,
          inside && h("span", { class: inside[0] === "sql" ? "quiet code" : "quiet" }, `  ${inside[1]}`),
        ),
        meter((s.end - s.begin) / total, s.cause),
      ),
    );
  }

  private inTimeline(begin: number, end: number, lanes: string): void {
    const margin = (end - begin) * 0.1;
    this.view.go({ range: clampRange(begin - margin, end + margin, this.view.total), lanes });
    if (this.shown) this.reveal(this.shown.thread);
  }

  /** Selects an interval in the timeline, and moves there unless it is in view and wide enough to see. */
  private go(thread: number, begin: number, end: number): void {
    const { range } = this.view;
    const seen = begin >= range.begin && end <= range.end && end - begin > (range.end - range.begin) / 60;
    const margin = (end - begin) * 2;
    this.view.go({
      selection: { thread, t: Math.round(begin + (end - begin) / 2) },
      ...(seen ? {} : { range: clampRange(begin - margin, end + margin, this.view.total) }),
    });
    this.reveal(thread);
  }

  /** Marks the step that the selection lies in. */
  private mark(): void {
    const at = this.view.state.selection;
    for (const step of this.list.querySelectorAll<HTMLElement>(".step[data-thread]")) {
      const { thread, begin, end } = step.dataset;
      const chosen = at !== null && Number(thread) === at.thread && Number(begin) <= at.t && at.t < Number(end);
      step.classList.toggle("chosen", chosen);
      step.setAttribute("aria-current", String(chosen));
    }
    this.draw();
  }

  private async resize(): Promise<void> {
    const w = this.shown;
    if (!w || !this.canvas.isConnected) return;
    const width = Math.floor(this.track.clientWidth);
    if (width < 20) return;
    const columns = Math.round(width * devicePixelRatio);
    if (!this.lanes || columns !== this.columns) {
      const { begin, end } = this.extent(w);
      this.columns = columns;
      this.lanes = await api.lanes(begin, end, columns, w.threads.map((t) => t.id), this.abort.signal);
    }
    this.draw();
  }

  private draw(): void {
    const w = this.shown;
    if (!w || !this.lanes) return;
    const ratio = devicePixelRatio;
    const width = this.columns / ratio;
    const height = w.threads.length * ROW;
    Object.assign(this.canvas, { width: this.columns, height: Math.round(height * ratio) });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const colours = palette();
    const strips = document.createElement("canvas");
    const lines = Math.round(STRIP * ratio);
    Object.assign(strips, { width: this.columns, height: w.threads.length * lines });
    const image = new ImageData(strips.width, strips.height);
    const packed = pack(colours.classes.map(rgb));
    decodeLanes(this.lanes).forEach((lane, i) => paint(lane.bytes, new Uint32Array(image.data.buffer), strips.width, i * lines, lines, packed));
    strips.getContext("2d")?.putImageData(image, 0, 0);
    context.scale(ratio, ratio);
    const { begin, end } = this.extent(w);
    const x = (t: number) => ((t - begin) / (end - begin)) * width;
    const row = new Map(w.threads.map((t, i) => [t.id, i]));
    const top = (i: number) => i * ROW + (ROW - STRIP) / 2;
    const strip = (i: number, x0: number, x1: number) => {
      context.save();
      context.beginPath();
      context.rect(x0, top(i), x1 - x0, STRIP);
      context.clip();
      context.drawImage(strips, 0, i * lines, this.columns, lines, 0, top(i), width, STRIP);
      context.restore();
    };
    // What is not on the path is there, but faint.
    context.globalAlpha = 0.22;
    w.threads.forEach((_, i) => strip(i, 0, width));
    context.globalAlpha = 1;
    context.lineWidth = 1;
    const at = this.view.state.selection;
    let last: number | null = null;
    for (const s of w.path) {
      const i = row.get(s.thread);
      if (i === undefined) continue;
      const x0 = x(s.begin);
      strip(i, x0, Math.max(x0 + 1, x(s.end)));
      if (last !== null && last !== i) {
        const down = i > last;
        context.strokeStyle = colours.text;
        context.beginPath();
        context.moveTo(x0, top(last) + (down ? STRIP : 0));
        context.lineTo(x0, top(i) + (down ? 0 : STRIP));
        context.stroke();
      }
      last = i;
    }
    for (const s of w.path) {
      const i = row.get(s.thread);
      if (i === undefined || at === null || s.thread !== at.thread || at.t < s.begin || at.t >= s.end) continue;
      context.strokeStyle = colours.text;
      context.lineWidth = 2;
      context.strokeRect(x(s.begin) - 1, top(i) - 1, Math.max(3, x(s.end) - x(s.begin)) + 2, STRIP + 2);
    }
  }

  private click(event: MouseEvent): void {
    const w = this.shown;
    if (!w) return;
    const { begin, end } = this.extent(w);
    const t = begin + (event.offsetX / this.canvas.clientWidth) * (end - begin);
    const thread = w.threads[Math.floor(event.offsetY / ROW)];
    if (!thread) return;
    const step = w.path.find((s) => s.thread === thread.id && s.begin <= t && t < s.end);
    if (step) return this.go(thread.id, step.begin, step.end);
    this.view.go({ selection: { thread: thread.id, t: Math.round(t) } });
    this.reveal(thread.id);
  }
}

function meter(share: number, cause: string): HTMLElement {
  return h("span", { class: "meter" }, h("i", { style: `width:${(share * 100).toFixed(1)}%;background:var(--class-${classOfCause(cause)})` }));
}
