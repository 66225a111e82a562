// What is drawn, fetched as the view moves: for the visible lanes, twice the visible range at the
// resolution of the screen. What was fetched last is shown, stretched, until the next is there.

import { api, GC_LANE } from "../api.ts";
import { CLASSES, palette, rgb } from "../palette.ts";
import type { Range } from "../view.ts";
import { decodeLanes, decodeSpans, type LaneColumns, pack, paint, runs, type SpanRow, thinColumn } from "./columns.ts";

export interface Strip {
  /** Top of the strip in the picture. */
  readonly top: number;
  readonly times: Float64Array;
}

export interface Fetched {
  readonly begin: number;
  readonly end: number;
  readonly px: number;
  /** Strips of all lanes, one below the other, each `stripHeight` high. */
  readonly picture: HTMLCanvasElement;
  readonly stripHeight: number;
  readonly strips: ReadonlyMap<number, Strip>;
  readonly spans: ReadonlyMap<number, readonly SpanRow[]>;
  readonly names: readonly string[];
  /** Spans too thin for a bar: a line of pixels for each row of each lane. */
  readonly thin: HTMLCanvasElement;
  /** Line of a lane's first row in `thin`. */
  readonly thinTop: ReadonlyMap<number, number>;
  /** Pauses of the collector that are at least a column wide: begin and end. */
  readonly pauses: readonly (readonly [number, number])[];
  readonly raw: ArrayBuffer;
}

interface Wish {
  readonly range: Range;
  readonly px: number;
  readonly threads: readonly number[];
  readonly stripHeight: number;
}

export class TimelineData {
  fetched: Fetched | null = null;
  error: string | null = null;
  private wish: Wish | null = null;
  private served = "";
  private busy = false;

  constructor(private readonly arrived: () => void) {}

  /** Whether what is shown is what was asked for last. */
  get isCurrent(): boolean {
    return !this.busy && this.wish === null;
  }

  /** Asks for what the view shows; only the latest wish is ever fetched. */
  want(range: Range, px: number, threads: readonly number[], stripHeight: number): void {
    const key = `${range.begin} ${range.end} ${px} ${stripHeight} ${threads.join()}`;
    if (key === this.served) return;
    this.served = key;
    this.wish = { range, px, threads, stripHeight };
    if (!this.busy) void this.run();
  }

  /** What was served last is to be asked for again. */
  forget(): void {
    this.served = "";
  }

  /** Paints the same columns again, in other colours. */
  repaint(): void {
    if (this.fetched) {
      paintAll(this.fetched.raw, this.fetched.picture, this.fetched.stripHeight);
      paintThin(this.fetched.thin, [...this.fetched.spans.values()]);
      this.arrived();
    }
  }

  private async run(): Promise<void> {
    this.busy = true;
    while (this.wish) {
      const wish = this.wish;
      this.wish = null;
      try {
        this.fetched = await this.fetch(wish);
        this.error = null;
      } catch (error) {
        this.error = error instanceof Error ? error.message : String(error);
        // The same wish may be granted another time.
        this.served = "";
      }
      if (!this.wish) this.busy = false;
      this.arrived();
    }
    this.busy = false;
  }

  private async fetch({ range, px, threads, stripHeight }: Wish): Promise<Fetched> {
    // Half a screen on both sides, in whole columns, so that a small move needs no answer.
    const perPx = (range.end - range.begin) / px;
    const margin = Math.round(px / 2);
    const begin = Math.round(range.begin - margin * perPx);
    const end = Math.max(begin + 1, Math.round(range.end + margin * perPx));
    const columns = px + 2 * margin;
    const real = threads.filter((id) => id !== GC_LANE);
    const [raw, spans] = await Promise.all([
      api.lanes(begin, end, columns, threads),
      api.spans(begin, end, columns, real),
    ]);
    const picture = document.createElement("canvas");
    picture.width = columns;
    const lanes = decodeLanes(raw);
    const rows = decodeSpans(spans);
    picture.height = Math.max(1, lanes.length * stripHeight);
    paintAll(raw, picture, stripHeight);
    const thin = document.createElement("canvas");
    thin.width = columns;
    paintThin(thin, rows.lanes.map((lane) => lane.rows));
    const thinTop = new Map<number, number>();
    let line = 0;
    for (const lane of rows.lanes) {
      thinTop.set(lane.thread, line);
      line += lane.rows.length;
    }
    return {
      begin, end, px: columns, picture, stripHeight, raw, thin, thinTop,
      strips: new Map(lanes.map((lane, i) => [lane.thread, { top: i * stripHeight, times: lane.times }])),
      spans: new Map(rows.lanes.map((lane) => [lane.thread, lane.rows])),
      names: rows.names,
      pauses: pauses(lanes.find((lane) => lane.thread === GC_LANE), begin, (end - begin) / columns),
    };
  }
}

function pauses(lane: LaneColumns | undefined, begin: number, columnNs: number): [number, number][] {
  const gc = CLASSES.indexOf("gc");
  const found: [number, number][] = [];
  for (const { tag, from, count } of lane ? runs(lane.bytes) : []) {
    if (tag === gc) found.push([begin + from * columnNs, begin + (from + count) * columnNs]);
  }
  return found;
}

function paintAll(raw: ArrayBuffer, picture: HTMLCanvasElement, stripHeight: number): void {
  const context = picture.getContext("2d");
  if (!context) return;
  const image = new ImageData(picture.width, picture.height);
  const pixels = new Uint32Array(image.data.buffer);
  const colours = pack(palette().classes.map(rgb));
  decodeLanes(raw).forEach((lane, i) => paint(lane.bytes, pixels, picture.width, i * stripHeight, stripHeight, colours));
  context.putImageData(image, 0, 0);
}

/** Paints what is too thin for a bar, each lane's rows below the last one's, by how much is covered. */
function paintThin(canvas: HTMLCanvasElement, lanes: readonly (readonly SpanRow[])[]): void {
  canvas.height = Math.max(1, lanes.reduce((sum, rows) => sum + rows.length, 0));
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = new ImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  const colours = palette().kinds.map((colour) => {
    const [r, g, b] = rgb(colour);
    return (b << 16) | (g << 8) | r;
  });
  let line = 0;
  for (const rows of lanes) {
    for (const { thin } of rows) {
      for (const packed of thin) {
        const { column, kind, coverage } = thinColumn(packed);
        const alpha = 64 + Math.round(coverage * 0.749);
        pixels[line * canvas.width + column] = (alpha << 24) | (colours[kind] ?? 0);
      }
      line++;
    }
  }
  context.putImageData(image, 0, 0);
}
