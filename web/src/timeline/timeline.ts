// The timeline: lays out, fetches, draws when something changed, and listens to pointer and keys.

import { api, GC_LANE, type Link, type Moment, type Trace } from "../api.ts";
import { h } from "../dom.ts";
import { onPaletteChange, palette } from "../palette.ts";
import type { Tooltip } from "../tooltip.ts";
import type { View } from "../view.ts";
import { arrowsOf } from "./arrows.ts";
import type { Counters } from "./counters.ts";
import { TimelineData } from "./data.ts";
import { AXIS_HEIGHT, draw, GUTTER, type Scene, timeAt, xOf } from "./draw.ts";
import { BAR, IDLE_GROUP, type Item, itemAt, type Layout, layout, type Sort, visible } from "./layout.ts";

/** Lanes just outside of the visible part that are fetched too, in CSS pixels. */
const OVERSCAN = 160;

export class Timeline {
  readonly element: HTMLElement;
  /** Times of the last frames, ms: what tests and curious people look at. */
  readonly frames: number[] = [];
  private readonly canvas = h("canvas", { "aria-label": "Timeline of threads", role: "img" });
  private readonly trouble = h("div", { class: "trouble error", role: "alert", hidden: true });
  private readonly spacer = h("div", { class: "spacer" });
  private readonly context: CanvasRenderingContext2D;
  private readonly data: TimelineData;
  private sort: Sort = "name";
  private tall = false;
  private folded = new Set<number>([IDLE_GROUP]);
  private whole: Layout = { items: [], height: 0 };
  private width = 0;
  private height = 0;
  private pointer: Scene["pointer"] = null;
  private hover: Moment | null = null;
  private pinned: Moment | null = null;
  private chain: readonly Link[] = [];
  private scheduled = false;
  private hoverTimer = 0;
  private hoverAbort = new AbortController();
  private drag: { x: number; y: number; moved: boolean; begin: number; end: number; scroll: number } | null = null;

  constructor(
    private readonly trace: Trace,
    private readonly counters: Counters,
    private readonly view: View,
    private readonly tooltip: Tooltip,
    private readonly drawn: () => void,
  ) {
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser gives no 2D canvas");
    this.context = context;
    this.element = h("div", { class: "timeline", tabindex: 0 }, this.trouble, this.canvas, this.spacer);
    this.data = new TimelineData(() => this.schedule());
    // The machinery of the VM comes second: folded where it is many threads.
    for (const role of new Set(trace.threads.map((t) => t.role))) {
      if (role >= 6 && trace.threads.filter((t) => t.role === role).length > 6) this.folded.add(role);
    }
    this.relayout();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
    view.listen((state, before) => {
      if (state.selection !== before.selection || state.lanes !== before.lanes) this.relayout();
      this.schedule();
    });
    onPaletteChange(() => this.data.repaint());
  }

  /** Whether everything in view is drawn as it is. */
  get isReady(): boolean {
    return this.data.fetched !== null && this.data.isCurrent && !this.scheduled;
  }

  /** The chosen interval, once the server has told it, and who ended it. */
  pin(moment: Moment | null, chain: readonly Link[] = []): void {
    this.pinned = moment;
    this.chain = chain;
    this.schedule();
  }

  /** Asks for what is drawn once more: the server knows more by now. */
  refresh(): void {
    this.data.forget();
    this.schedule();
  }

  setSort(sort: Sort): void {
    this.sort = sort;
    this.relayout();
  }

  toggleTall(): boolean {
    this.tall = !this.tall;
    this.relayout();
    return this.tall;
  }

  /** Brings a lane into view, unfolding its group. */
  reveal(thread: number): void {
    const found = () => this.whole.items.find((item) => item.kind === "lane" && item.id === thread);
    if (!found()) {
      // It may be folded away, or not among those that were asked for.
      this.folded.clear();
      if (this.view.state.lanes) this.view.set({ lanes: "" });
      this.relayout();
    }
    const item = found();
    if (!item) return;
    const room = this.height - AXIS_HEIGHT;
    const top = this.element.scrollTop;
    if (item.y < top || item.y + item.height > top + room) {
      this.element.scrollTop = Math.max(0, item.y - room / 2 + item.height / 2);
    }
  }

  /** Selects the lane above or below the selected one, at the same moment. */
  step(direction: 1 | -1): void {
    const lanes = this.whole.items.filter((item) => item.kind === "lane");
    const selected = this.view.state.selection;
    const index = lanes.findIndex((item) => item.id === selected?.thread);
    const next = lanes[index < 0 ? 0 : index + direction];
    if (!next) return;
    const t = selected?.t ?? (this.view.range.begin + this.view.range.end) / 2;
    this.view.set({ selection: { thread: next.id, t, follow: true } });
    this.reveal(next.id);
  }

  private relayout(): void {
    this.whole = layout(this.trace.threads, this.trace.roles, {
      sort: this.sort,
      tall: this.tall,
      folded: this.folded,
      selected: this.view.state.selection?.thread ?? null,
      hasPauses: this.trace.pauses > 0,
      lanes: this.view.state.lanes,
      counters: this.counters.lanes.map((lane) => lane.title),
    });
    this.spacer.style.height = `${this.whole.height + AXIS_HEIGHT}px`;
    this.schedule();
  }

  private resize(): void {
    const ratio = devicePixelRatio;
    this.width = this.element.clientWidth;
    this.height = this.element.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    // At once: a resized canvas is blank.
    this.frame();
  }

  schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => this.frame());
  }

  private frame(): void {
    this.scheduled = false;
    if (this.width <= GUTTER) return;
    const began = performance.now();
    const ratio = devicePixelRatio;
    const top = this.element.scrollTop;
    const near = visible(this.whole, top - OVERSCAN, top + this.height + OVERSCAN);
    const lanes = near.filter((item) => item.kind === "lane").map((item) => item.id);
    if (this.trace.pauses > 0 && !lanes.includes(GC_LANE)) lanes.unshift(GC_LANE);
    this.data.want(this.view.range, Math.max(1, Math.round((this.width - GUTTER) * ratio)), lanes, Math.round(BAR * ratio));
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(this.context, this.scene(visible(this.whole, top, top + this.height), top));
    this.trouble.hidden = this.data.error === null;
    this.trouble.textContent = this.data.error;
    this.frames.push(performance.now() - began);
    if (this.frames.length > 240) this.frames.shift();
    this.drawn();
  }

  private scene(items: readonly Item[], scroll: number): Scene {
    return {
      width: this.width,
      height: this.height,
      scroll,
      range: this.view.range,
      items,
      fetched: this.data.fetched,
      palette: palette(),
      selected: this.view.state.selection?.thread ?? null,
      pinned: this.pinned,
      chain: this.chain,
      arrows: this.chain.length === 0 ? [] : arrowsOf(this.chain, (t) => xOf({ range: this.view.range, width: this.width }, t), (thread) => this.middleOf(thread)),
      pointer: this.pointer,
      counters: this.counters,
      hasKernel: this.trace.meta.levels["kernel"]?.recorded ?? false,
    };
  }

  /** Middle of a lane's bar within the layout; none if the lane is folded away. */
  private middleOf(thread: number): number | null {
    const item = this.whole.items.find((i) => i.kind === "lane" && i.id === thread);
    return item ? item.y + item.rows * item.rowHeight + item.barHeight / 2 + 1 : null;
  }

  private listen(): void {
    const { element } = this;
    element.addEventListener("scroll", () => this.schedule(), { passive: true });
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.press(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.release(event));
    element.addEventListener("pointerleave", () => this.leave());
  }

  private at(event: MouseEvent): { x: number; y: number; item: Item | undefined } {
    const box = this.element.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const item = y < AXIS_HEIGHT ? undefined : itemAt(this.whole, y - AXIS_HEIGHT + this.element.scrollTop);
    return { x, y, item };
  }

  private wheel(event: WheelEvent): void {
    const { x } = this.at(event);
    // Over the names the wheel scrolls, as anywhere; over the plot it zooms.
    if (x < GUTTER) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.view.pan(((event.deltaX || event.deltaY) * lines) / (this.width - GUTTER));
    } else {
      this.view.zoom(Math.exp(event.deltaY * lines * 0.0022), timeAt(this.scene([], 0), x));
    }
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { x, y } = this.at(event);
    if (x >= this.element.clientWidth) return;
    const { begin, end } = this.view.range;
    this.drag = { x, y, moved: false, begin, end, scroll: this.element.scrollTop };
    this.element.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    const { x, y, item } = this.at(event);
    const drag = this.drag;
    if (drag && Math.hypot(x - drag.x, y - drag.y) > 4) drag.moved = true;
    if (drag?.moved) {
      const part = (drag.x - x) / (this.width - GUTTER);
      const width = drag.end - drag.begin;
      const begin = Math.round(Math.min(Math.max(0, drag.begin + part * width), this.view.total - width));
      this.element.scrollTop = drag.scroll + drag.y - y;
      this.tooltip.hide();
      this.view.setRange({ begin, end: begin + width });
      return;
    }
    const lane = item?.kind === "lane" && x >= GUTTER ? item : undefined;
    this.pointer = { x, thread: lane?.id ?? null };
    this.element.style.cursor = item?.kind === "header" || x < GUTTER ? "pointer" : "crosshair";
    this.schedule();
    this.inspect(event, lane);
  }

  private release(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    if (!drag || drag.moved) return;
    const { x, item } = this.at(event);
    if (!item) return;
    if (item.kind === "header") {
      if (!this.folded.delete(item.id)) this.folded.add(item.id);
      this.relayout();
      return;
    }
    if (item.kind === "counter") return;
    const { begin, end } = this.view.range;
    const t = x < GUTTER ? (begin + end) / 2 : timeAt(this.scene([], 0), x);
    this.view.go({ selection: { thread: item.id, t: Math.round(t), follow: true } });
  }

  private leave(): void {
    this.pointer = null;
    this.hover = null;
    clearTimeout(this.hoverTimer);
    this.hoverAbort.abort();
    this.tooltip.hide();
    this.schedule();
  }

  /** Shows what is below the pointer, once it rests there for a moment. */
  private inspect(event: PointerEvent, lane: Item | undefined): void {
    clearTimeout(this.hoverTimer);
    if (!lane) {
      this.hover = null;
      this.tooltip.hide();
      return;
    }
    const scene = this.scene([], 0);
    const t = timeAt(scene, this.pointer?.x ?? 0);
    const pixel = timeAt(scene, 1) - timeAt(scene, 0);
    const place = { x: event.clientX, y: event.clientY };
    const known = this.hover;
    if (known && known.thread === lane.id && known.begin <= t && t < known.end && known.spans.every((s) => t < s.end)) {
      this.tooltip.show(known, place, pixel);
      return;
    }
    this.hoverTimer = window.setTimeout(async () => {
      this.hoverAbort.abort();
      this.hoverAbort = new AbortController();
      try {
        this.hover = await api.at(lane.id, t, this.hoverAbort.signal);
        this.tooltip.show(this.hover, place, pixel);
      } catch {
        // Left before the answer came, or the thread did not exist then: nothing to show.
        this.hover = null;
        this.tooltip.hide();
      }
    }, 25);
  }

  /** Where the lowest pixels of a counter are at a moment, for tests. */
  locateCounter(name: string, t: number): { x: number; y: number } | null {
    const item = this.whole.items.find((i) => i.kind === "counter" && this.counters.lanes[i.id]?.name === name);
    if (!item) return null;
    const box = this.element.getBoundingClientRect();
    return { x: box.left + xOf(this.scene([], 0), t), y: box.top + AXIS_HEIGHT + item.y + item.barHeight - 1.5 - this.element.scrollTop };
  }

  /** Where a moment of a lane is on the screen, for tests. */
  locate(thread: number, t: number): { x: number; y: number } | null {
    const item = this.whole.items.find((i) => i.kind === "lane" && i.id === thread);
    if (!item) return null;
    const box = this.element.getBoundingClientRect();
    const bar = item.y + item.rows * item.rowHeight + item.barHeight / 2;
    return { x: box.left + xOf(this.scene([], 0), t), y: box.top + AXIS_HEIGHT + bar - this.element.scrollTop };
  }
}
