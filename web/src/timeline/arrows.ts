// Arrows from who woke a thread to whom it woke, at the moment of waking: the chosen interval's, and those before it,
// fainter with each.

import type { Link } from "../api.ts";
import type { Palette } from "../palette.ts";
import { shortThread } from "../path.ts";

export interface Arrow {
  readonly x: number;
  /** Middle of the waker's bar and of the woken one's; none of a lane that is folded away. */
  readonly from: number | null;
  readonly to: number | null;
  /** 0 for the chosen interval's own. */
  readonly rank: number;
  readonly name: string;
}

/** Where the arrows of a chain are. */
export function arrowsOf(chain: readonly Link[], x: (t: number) => number, y: (thread: number) => number | null): Arrow[] {
  return chain.map((link, rank) => ({ x: x(link.end), from: y(link.waker), to: y(link.thread), rank, name: link.waker_name }));
}

/** How visible the arrow of a rank is. */
export function strength(rank: number): number {
  return Math.max(0.18, 1 / (1 + rank * 0.8));
}

/** The visible part of the plot. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Draws arrows, the faintest first. */
export function drawArrows(context: CanvasRenderingContext2D, arrows: readonly Arrow[], palette: Palette, font: string, box: Box): void {
  const { left, right, top, bottom } = box;
  for (const { x, from, to, rank, name } of arrows.toReversed()) {
    if (to === null || x < left || x > right) continue;
    const direction = from === null || from < to ? 1 : -1;
    const start = from ?? to - 26;
    context.globalAlpha = strength(rank);
    context.strokeStyle = palette.arrow;
    context.fillStyle = palette.arrow;
    context.lineWidth = rank === 0 ? 2 : 1.5;
    context.setLineDash(from === null ? [3, 2] : []);
    context.beginPath();
    context.moveTo(x, start);
    context.lineTo(x, to - direction * 6);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(x, to);
    context.lineTo(x - 4.5, to - direction * 8);
    context.lineTo(x + 4.5, to - direction * 8);
    context.fill();
    context.beginPath();
    context.arc(x, start, rank === 0 ? 3 : 2.2, 0, 2 * Math.PI);
    context.fill();
    context.globalAlpha = 1;
    // Beside its beginning, or where it leaves the view on the way there.
    if (rank === 0) label(context, palette, font, `woken by ${shortThread(name)}`, x, Math.min(bottom - 12, Math.max(top + 12, start)), right);
  }
}

function label(context: CanvasRenderingContext2D, palette: Palette, font: string, text: string, x: number, y: number, right: number): void {
  context.font = font;
  const width = context.measureText(text).width + 8;
  const left = x + 8 + width < right ? x + 8 : x - 8 - width;
  context.fillStyle = palette.panel;
  context.fillRect(left, y - 8, width, 16);
  context.strokeStyle = palette.arrow;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, y - 7.5, width - 1, 15);
  context.fillStyle = palette.text;
  context.textAlign = "left";
  context.fillText(text, left + 4, y + 0.5);
}
