// The whole trace in three thin charts, throughput, the slowest responses and CPU, with the visible range marked.
// Dragging chooses a range; dragging the marked range moves it.

import type { Overview } from "./api.ts";
import { h } from "./dom.ts";
import { digits, duration, percent } from "./format.ts";
import { onPaletteChange, palette } from "./palette.ts";
import { GUTTER } from "./timeline/draw.ts";
import { clampRange, type View } from "./view.ts";

const ROW = 21;
const STEP = ROW + 2;
const HEIGHT = 3 * STEP + 2;

export class OverviewStrip {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { "aria-label": "Throughput, slowest responses and CPU of the whole trace", role: "img" });
  private drag: { from: number; moving: number | null } | null = null;

  constructor(
    private readonly data: Overview,
    private readonly view: View,
  ) {
    const peak = Math.max(...data.requests_per_second, 0);
    const busiest = data.cpu.length ? Math.max(...data.cpu) : null;
    const waiting = data.waiting.length ? Math.max(...data.waiting) : null;
    const hint = [
      waiting === null ? "" : `up to ${digits(waiting)} threads waited for a CPU`,
      data.at_hand.length ? "the line is what it had of the CPUs" : "",
    ]
      .filter((text) => text !== "")
      .join("; ");
    this.element = h(
      "div",
      { class: "overview" },
      h(
        "div",
        { class: "overview-names" },
        h("div", {}, h("b", {}, "Throughput"), h("span", {}, `peak ${digits(peak)}/s`)),
        h("div", {}, h("b", {}, "Slowest"), h("span", { title: "the slowest request of each moment" }, data.requests_per_second.some((v) => v > 0) ? `peak ${duration(Math.max(...data.slowest_ns))}` : "")),
        h(
          "div",
          {},
          h("b", {}, "CPU"),
          h("span", { title: hint }, busiest === null ? "not recorded" : `peak ${percent(busiest)}`),
        ),
      ),
      this.canvas,
    );
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", () => (this.drag = null));
    this.canvas.addEventListener("dblclick", () => view.fit());
    new ResizeObserver(() => this.draw()).observe(this.element);
    view.listen((state, before) => {
      if (state.range !== before.range) this.draw();
    });
    onPaletteChange(() => this.draw());
  }

  private timeOf(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    return Math.min(1, Math.max(0, share)) * this.view.total;
  }

  private press(event: PointerEvent): void {
    const t = this.timeOf(event);
    const { begin, end } = this.view.range;
    const inside = begin <= t && t <= end && end - begin < this.view.total * 0.98;
    const grabbable = ((end - begin) / this.view.total) * this.canvas.clientWidth > 12;
    this.drag = { from: t, moving: inside && grabbable ? begin - t : null };
    this.canvas.setPointerCapture(event.pointerId);
    if (!this.drag.moving && !inside) {
      const half = (end - begin) / 2;
      if (end - begin < this.view.total * 0.98) this.view.setRange(clampRange(t - half, t + half, this.view.total));
    }
  }

  private move(event: PointerEvent): void {
    const drag = this.drag;
    const t = this.timeOf(event);
    if (!drag) return;
    const { begin, end } = this.view.range;
    if (drag.moving !== null) {
      const from = Math.min(Math.max(0, t + drag.moving), this.view.total - (end - begin));
      this.view.setRange({ begin: Math.round(from), end: Math.round(from + end - begin) });
    } else if (Math.abs(t - drag.from) > (this.view.total / this.canvas.clientWidth) * 3) {
      this.view.setRange(clampRange(Math.min(t, drag.from), Math.max(t, drag.from), this.view.total));
    }
  }

  private draw(): void {
    const ratio = devicePixelRatio;
    const width = Math.max(1, this.element.clientWidth - GUTTER);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(HEIGHT * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${HEIGHT}px`;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const colours = palette();
    context.scale(ratio, ratio);
    const peak = Math.max(...this.data.requests_per_second, 1e-9);
    area(context, this.data.requests_per_second, width, 2, ROW, peak, colours.accent);
    bars(context, this.data.slowest_ns, width, 2 + STEP, ROW, colours.muted);
    area(context, this.data.cpu, width, 2 + 2 * STEP, ROW, 1, colours.classes[0] ?? colours.accent);
    steps(context, this.data.at_hand, width, 2 + 2 * STEP, ROW, colours.text);
    this.drawRange(context, width);
  }

  private drawRange(context: CanvasRenderingContext2D, width: number): void {
    const colours = palette();
    const { begin, end } = this.view.range;
    const x0 = (begin / this.view.total) * width;
    const x1 = Math.max(x0 + 2, (end / this.view.total) * width);
    context.fillStyle = colours.panel;
    context.globalAlpha = 0.42;
    context.fillRect(0, 0, x0, HEIGHT);
    context.fillRect(x1, 0, width - x1, HEIGHT);
    context.globalAlpha = 1;
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5;
    context.strokeRect(x0 + 0.75, 0.75, Math.max(1, x1 - x0 - 1.5), HEIGHT - 1.5);
  }
}

/** A bar for each value, of the whole height for the largest. */
function bars(context: CanvasRenderingContext2D, values: readonly number[], width: number, top: number, height: number, colour: string): void {
  const most = Math.max(...values, 1);
  const step = width / values.length;
  context.fillStyle = colour;
  values.forEach((value, i) => {
    const tall = (value / most) * (height - 1);
    if (value > 0) context.fillRect(i * step, top + height - tall, Math.max(1, step - 1), tall);
  });
}

/** A line that keeps its value until the next: parts of one. */
function steps(context: CanvasRenderingContext2D, values: readonly number[], width: number, top: number, height: number, colour: string): void {
  const step = width / values.length;
  context.beginPath();
  values.forEach((value, i) => {
    const y = top + height - Math.min(1, value) * (height - 1);
    context.lineTo(i * step, y);
    context.lineTo((i + 1) * step, y);
  });
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
}

/** An area chart: a filled shape below a line. */
function area(context: CanvasRenderingContext2D, values: readonly number[], width: number, top: number, height: number, most: number, colour: string): void {
  if (values.length === 0) return;
  const step = width / values.length;
  const y = (value: number) => top + height - Math.min(1, value / most) * (height - 1);
  context.beginPath();
  context.moveTo(0, top + height);
  values.forEach((value, i) => context.lineTo((i + 0.5) * step, y(value)));
  context.lineTo(width, top + height);
  context.closePath();
  context.fillStyle = colour;
  context.globalAlpha = 0.28;
  context.fill();
  context.globalAlpha = 1;
  context.beginPath();
  values.forEach((value, i) => context.lineTo((i + 0.5) * step, y(value)));
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
}
