// One frame of the timeline. Everything that it needs is in `Scene`; nothing is remembered.

import { GC_LANE } from "../api.ts";
import { ABSENT, CLASSES, type Palette } from "../palette.ts";
import { decimals, duration, tickStep } from "../format.ts";
import type { Range } from "../view.ts";
import { type Counters, drawCounter, rateText, tell } from "./counters.ts";
import { type Arrow, drawArrows, strength } from "./arrows.ts";
import type { Fetched } from "./data.ts";
import { HEADER_HEIGHT, type Item } from "./layout.ts";

export const GUTTER = 216;
export const AXIS_HEIGHT = 24;

const FONT = '"Inter","Segoe UI","SF Pro Text",Roboto,"Noto Sans","DejaVu Sans Condensed",system-ui,sans-serif';

/** What a handshake is labelled with, by its kind: its name says less. */
const HANDSHAKES: Readonly<Record<number, string>> = { 1: "TLS full", 2: "TLS resumed" };

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly scroll: number;
  readonly range: Range;
  readonly items: readonly Item[];
  readonly fetched: Fetched | null;
  readonly palette: Palette;
  readonly selected: number | null;
  /** The chosen interval, and the one below the pointer. */
  readonly pinned: { thread: number; begin: number; end: number } | null;
  /** Intervals of the chain that led to the chosen one. */
  readonly chain: readonly { thread: number; begin: number; end: number }[];
  readonly arrows: readonly Arrow[];
  readonly pointer: { x: number; thread: number | null } | null;
  readonly hasKernel: boolean;
  readonly counters: Counters;
}

/** Draws the scene in CSS pixels; the context is already scaled to the device's. */
export function draw(context: CanvasRenderingContext2D, scene: Scene): void {
  const { width, height, palette } = scene;
  context.fillStyle = palette.panel;
  context.fillRect(0, 0, width, height);
  context.textBaseline = "middle";
  context.save();
  context.beginPath();
  context.rect(0, AXIS_HEIGHT, width, height - AXIS_HEIGHT);
  context.clip();
  context.translate(0, AXIS_HEIGHT - scene.scroll);
  for (const item of scene.items) {
    if (item.kind === "lane" && scene.selected === item.id) {
      context.fillStyle = palette.selected;
      context.fillRect(0, item.y - 1, width, item.height);
    }
  }
  drawGrid(context, scene);
  for (const item of scene.items) {
    if (item.kind === "header") drawHeader(context, scene, item);
    else if (item.kind === "counter") drawCounterLane(context, scene, item);
    else drawLane(context, scene, item);
  }
  drawPauses(context, scene);
  drawArrows(context, scene.arrows, palette, `11px ${FONT}`, { left: GUTTER, right: width, top: scene.scroll, bottom: scene.scroll + height - AXIS_HEIGHT });
  context.restore();
  drawAxis(context, scene);
  drawPointer(context, scene);
}

/** Where a moment lies, CSS pixels from the left. */
export function xOf(scene: Pick<Scene, "range" | "width">, t: number): number {
  const { begin, end } = scene.range;
  return GUTTER + ((t - begin) / (end - begin)) * (scene.width - GUTTER);
}

/** The moment at a place. */
export function timeAt(scene: Pick<Scene, "range" | "width">, x: number): number {
  const { begin, end } = scene.range;
  return begin + ((x - GUTTER) / (scene.width - GUTTER)) * (end - begin);
}

function drawHeader(context: CanvasRenderingContext2D, scene: Scene, item: Item): void {
  const { palette, width } = scene;
  const middle = item.y + HEADER_HEIGHT / 2 + 2;
  context.fillStyle = palette.line;
  context.fillRect(0, item.y + 3, width, 1);
  context.fillStyle = palette.muted;
  context.beginPath();
  if (item.folded) {
    context.moveTo(11, middle - 4);
    context.lineTo(16, middle);
    context.lineTo(11, middle + 4);
  } else {
    context.moveTo(9, middle - 2.5);
    context.lineTo(17, middle - 2.5);
    context.lineTo(13, middle + 2.5);
  }
  context.fill();
  context.font = `600 11px ${FONT}`;
  context.textAlign = "left";
  context.fillStyle = palette.text;
  context.fillText(item.title, 23, middle);
  const end = 23 + context.measureText(item.title).width;
  context.font = `11px ${FONT}`;
  context.fillStyle = palette.faint;
  const text = item.prefix ? `${item.count}   ${item.prefix}…` : `${item.count}`;
  drawClipped(context, text, end + 7, middle, GUTTER - end - 14, palette.faint);
}

function drawLane(context: CanvasRenderingContext2D, scene: Scene, item: Item): void {
  const { palette, fetched } = scene;
  const barTop = item.y + item.rows * item.rowHeight + (item.rows > 0 ? 1 : 0);
  const strip = fetched?.strips.get(item.id);
  if (fetched && strip) {
    drawColumns(context, scene, fetched, fetched.picture, strip.top, fetched.stripHeight, barTop, item.barHeight);
    drawSpans(context, scene, item, fetched);
    drawShares(context, palette, strip.times, item, barTop);
  }
  drawLabel(context, scene, item, barTop);
  drawPinned(context, scene, item, barTop);
}

/** A counter, with its highest value beside its name, and what it was below the pointer. */
function drawCounterLane(context: CanvasRenderingContext2D, scene: Scene, item: Item): void {
  const { palette, counters, pointer } = scene;
  const lane = counters.lanes[item.id];
  if (!lane) return;
  const box = { left: GUTTER, right: scene.width, top: item.y, height: item.barHeight };
  context.fillStyle = palette.lane;
  context.fillRect(box.left, box.top, box.right - box.left, box.height);
  drawCounter(context, counters, lane, palette, box, scene.range, (t) => xOf(scene, t));
  const middle = item.y + item.barHeight / 2 + 0.5;
  context.font = `11px ${FONT}`;
  context.textAlign = "right";
  context.fillStyle = palette.faint;
  const most = rateText(lane.most, lane.unit);
  context.fillText(most, GUTTER - 8, middle);
  context.textAlign = "left";
  drawClipped(context, lane.title, 23, middle, GUTTER - 37 - context.measureText(most).width, palette.muted);
  const told = pointer && pointer.x >= GUTTER ? tell(counters, lane, timeAt(scene, pointer.x)) : "";
  if (!pointer || told === "") return;
  const width = context.measureText(told).width + 8;
  const left = pointer.x + 6 + width < scene.width ? pointer.x + 6 : pointer.x - 6 - width;
  context.globalAlpha = 0.85;
  context.fillStyle = palette.panel;
  context.fillRect(left, item.y + 2, width, item.barHeight - 4);
  context.globalAlpha = 1;
  context.fillStyle = palette.text;
  context.fillText(told, left + 4, middle);
}

/** Lines `top` to `top + lines` of a picture that was fetched, where they lie in the view. */
function drawColumns(
  context: CanvasRenderingContext2D, scene: Scene, fetched: Fetched, picture: HTMLCanvasElement, top: number, lines: number, y: number, height: number,
): void {
  const scale = (fetched.end - fetched.begin) / fetched.px;
  const from = (scene.range.begin - fetched.begin) / scale;
  const columns = (scene.range.end - scene.range.begin) / scale;
  const plot = scene.width - GUTTER;
  // Only the part that exists: a picture cannot be read outside of itself.
  const first = Math.max(0, from);
  const last = Math.min(fetched.px, from + columns);
  if (first >= last) return;
  const x = GUTTER + ((first - from) / columns) * plot;
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, first, top, last - first, lines, x, y, ((last - first) / columns) * plot, height);
}

function drawLabel(context: CanvasRenderingContext2D, scene: Scene, item: Item, barTop: number): void {
  const { palette } = scene;
  context.textAlign = "left";
  context.font = `${scene.selected === item.id ? "600 " : ""}11px ${FONT}`;
  context.fillStyle = scene.selected === item.id ? palette.text : palette.muted;
  const room = GUTTER - 23 - 62;
  // Of names that share a beginning, the end tells them apart.
  let text = item.title;
  if (context.measureText(text).width > room) {
    while (text.length > 4 && context.measureText(`…${text}`).width > room) text = text.slice(1);
    text = `…${text}`;
  }
  context.fillText(text, 23, (item.y + barTop + item.barHeight) / 2 + (item.rows ? 0 : 0.5));
}

/** How the lane spent its time within the picture, as a small bar beside its name. */
function drawShares(context: CanvasRenderingContext2D, palette: Palette, times: Float64Array, item: Item, barTop: number): void {
  const room = 50;
  const left = GUTTER - room - 8;
  const total = times.reduce((a, b) => a + b, 0) - (times[ABSENT] ?? 0);
  if (total <= 0) return;
  const y = Math.round((item.y + barTop + item.barHeight) / 2 - 2);
  context.fillStyle = palette.line;
  context.fillRect(left, y, room, 4);
  let x = left;
  for (let i = 0; i < CLASSES.indexOf("idle"); i++) {
    const w = ((times[i] ?? 0) / total) * room;
    context.fillStyle = palette.classes[i] ?? palette.line;
    context.fillRect(x, y, w, 4);
    x += w;
  }
}

function drawSpans(context: CanvasRenderingContext2D, scene: Scene, item: Item, fetched: Fetched): void {
  const rows = fetched.spans.get(item.id);
  if (!rows) return;
  const { palette } = scene;
  const labels = item.rowHeight >= 12;
  const firstLine = fetched.thinTop.get(item.id) ?? 0;
  context.font = `10px ${FONT}`;
  context.textAlign = "left";
  rows.forEach(({ bars, thin }, depth) => {
    const y = item.y + depth * item.rowHeight;
    const h = item.rowHeight - 1;
    if (thin.length > 0) drawColumns(context, scene, fetched, fetched.thin, firstLine + depth, 1, y, h);
    for (let i = 0; i < bars.length; i += 5) {
      const x0 = Math.max(GUTTER, xOf(scene, bars[i]!));
      const x1 = Math.min(scene.width, xOf(scene, bars[i + 1]!));
      if (x1 <= GUTTER || x0 >= scene.width) continue;
      context.fillStyle = palette.kinds[bars[i + 2]!]!;
      // A hair of distance tells neighbours apart.
      context.fillRect(x0, y, Math.max(0.5, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), h);
      if (labels && x1 - x0 > 26) {
        const name = HANDSHAKES[bars[i + 2]!] ?? fetched.names[bars[i + 3]!] ?? "";
        drawClipped(context, name, x0 + 4, y + h / 2 + 0.5, x1 - x0 - 8, palette.text);
      }
    }
  });
}

/** Text that ends in an ellipsis where there is no room for it. */
function drawClipped(context: CanvasRenderingContext2D, text: string, x: number, y: number, room: number, colour: string): void {
  const perLetter = 5.2;
  let shown = text.length * perLetter * 1.4 > room && context.measureText(text).width > room ? text.slice(0, Math.floor(room / perLetter)) : text;
  while (shown !== text && shown.length > 1 && context.measureText(`${shown}…`).width > room) shown = shown.slice(0, -1);
  if (shown !== text) shown = shown.length > 2 ? `${shown.trimEnd()}…` : "";
  context.fillStyle = colour;
  context.fillText(shown, x, y);
}

/** The chosen interval, and the blocked ones that led to its end. */
function drawPinned(context: CanvasRenderingContext2D, scene: Scene, item: Item, barTop: number): void {
  const outline = ({ begin, end }: { begin: number; end: number }, width: number) => {
    const x0 = Math.max(GUTTER - 2, xOf(scene, begin));
    const x1 = Math.min(scene.width + 2, xOf(scene, end));
    if (x1 < GUTTER || x0 > scene.width) return;
    context.lineWidth = width;
    context.strokeRect(x0 - width / 2, barTop - width / 2, Math.max(2, x1 - x0) + width, item.barHeight + width);
  };
  // What the waker itself had waited for, and so on.
  scene.chain.forEach((link, rank) => {
    if (link.thread !== item.id || rank === 0) return;
    context.strokeStyle = scene.palette.arrow;
    context.globalAlpha = strength(rank);
    outline(link, 1);
    context.globalAlpha = 1;
  });
  if (scene.pinned?.thread !== item.id) return;
  context.strokeStyle = scene.palette.text;
  outline(scene.pinned, 1.5);
}

/** Pauses reach over all lanes as a faint band: they explain what they lie over. */
function drawPauses(context: CanvasRenderingContext2D, scene: Scene): void {
  const { fetched, palette } = scene;
  if (!fetched || !fetched.strips.has(GC_LANE)) return;
  context.fillStyle = palette.text;
  context.globalAlpha = 0.05;
  for (const [begin, end] of fetched.pauses) {
    const x0 = Math.max(GUTTER, xOf(scene, begin));
    const x1 = Math.min(scene.width, xOf(scene, end));
    if (x1 - x0 > 1.5) context.fillRect(x0, scene.scroll, x1 - x0, scene.height);
  }
  context.globalAlpha = 1;
}

/** The moments that the axis names, and the distance between them, ns. */
function ticks({ range, width }: Scene): { step: number; at: number[] } {
  const step = tickStep(((range.end - range.begin) / (width - GUTTER)) * 110);
  const at: number[] = [];
  for (let t = Math.ceil(range.begin / step) * step; t <= range.end; t += step) at.push(t);
  return { step, at };
}

function drawGrid(context: CanvasRenderingContext2D, scene: Scene): void {
  context.fillStyle = scene.palette.line;
  context.globalAlpha = 0.6;
  for (const t of ticks(scene).at) context.fillRect(Math.round(xOf(scene, t)), scene.scroll, 1, scene.height);
  context.globalAlpha = 1;
}

function drawAxis(context: CanvasRenderingContext2D, scene: Scene): void {
  const { width, height, palette, range } = scene;
  context.fillStyle = palette.panel;
  context.fillRect(0, 0, width, AXIS_HEIGHT);
  const { step, at } = ticks(scene);
  const places = decimals(step);
  context.font = `11px ${FONT}`;
  context.textAlign = "left";
  context.fillStyle = palette.faint;
  context.fillText(duration(range.end - range.begin), 23, AXIS_HEIGHT / 2);
  for (const t of at) {
    const x = Math.round(xOf(scene, t));
    context.fillStyle = palette.line;
    context.fillRect(x, AXIS_HEIGHT - 6, 1, 6);
    context.fillStyle = palette.muted;
    if (x < width - 60) context.fillText(`${(t / 1e9).toFixed(places)} s`, x + 5, AXIS_HEIGHT / 2 + 1);
  }
  context.fillStyle = palette.line;
  context.fillRect(0, AXIS_HEIGHT - 1, width, 1);
  context.fillRect(GUTTER - 1, 0, 1, height);
}

function drawPointer(context: CanvasRenderingContext2D, scene: Scene): void {
  const { pointer, palette } = scene;
  if (!pointer || pointer.x < GUTTER) return;
  const x = Math.round(pointer.x);
  context.fillStyle = palette.text;
  context.globalAlpha = 0.35;
  context.fillRect(x, AXIS_HEIGHT, 1, scene.height);
  context.globalAlpha = 1;
  const t = timeAt(scene, pointer.x);
  const text = `${(t / 1e9).toFixed(Math.min(9, decimals((scene.range.end - scene.range.begin) / scene.width)))} s`;
  context.font = `600 11px ${FONT}`;
  const w = context.measureText(text).width + 12;
  const left = Math.min(Math.max(GUTTER, x - w / 2), scene.width - w);
  context.fillStyle = palette.text;
  context.fillRect(left, 3, w, AXIS_HEIGHT - 7);
  context.fillStyle = palette.panel;
  context.textAlign = "left";
  context.fillText(text, left + 6, AXIS_HEIGHT / 2);
}
