// The bytes of /api/lanes and /api/spans, and lanes as pictures: one strip of pixels each.
//
// A column of one state is one colour; a column of several shows each by its share of the height,
// in the order of the classes from below, so that a narrow picture of many states reads as a
// stacked chart of them.

import { ABSENT } from "../palette.ts";

export interface LaneColumns {
  readonly thread: number;
  /** Time per class within the window, ns. */
  readonly times: Float64Array;
  /** The columns as the server encodes them. */
  readonly bytes: Uint8Array;
}

const CLASSES = 12;
const MIXTURE = 255;

/** Takes an answer of /api/lanes apart. */
export function decodeLanes(buffer: ArrayBuffer): LaneColumns[] {
  const data = new DataView(buffer);
  const lanes: LaneColumns[] = [];
  let at = 0;
  while (at < data.byteLength) {
    const thread = data.getInt32(at, true);
    at += 4;
    const times = new Float64Array(CLASSES);
    for (let i = 0; i < CLASSES; i++, at += 8) times[i] = data.getFloat64(at, true);
    const length = data.getUint32(at, true);
    at += 4;
    lanes.push({ thread, times, bytes: new Uint8Array(buffer, at, length) });
    at += length;
  }
  return lanes;
}

/** Spans of lanes, a row for each depth of nesting. */
export interface SpanLanes {
  readonly names: readonly string[];
  readonly lanes: readonly { readonly thread: number; readonly rows: readonly SpanRow[] }[];
}

export interface SpanRow {
  /** Begin, end, kind, name, id, and so on. */
  readonly bars: readonly number[];
  /** What is too thin for a bar, a number for each column: column, kind and coverage from its lowest bits on. */
  readonly thin: Uint32Array;
}

/** Takes an answer of /api/spans apart. */
export function decodeSpans(buffer: ArrayBuffer): SpanLanes {
  const length = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, length));
  const told = JSON.parse(text) as { names: string[]; lanes: { thread: number; rows: { bars: number[]; thin: number }[] }[] };
  let at = 4 * Math.ceil((4 + length) / 4);
  const row = ({ bars, thin }: { bars: number[]; thin: number }): SpanRow => {
    const columns = new Uint32Array(buffer, at, thin);
    at += 4 * thin;
    return { bars, thin: columns };
  };
  return { names: told.names, lanes: told.lanes.map(({ thread, rows }) => ({ thread, rows: rows.map(row) })) };
}

/** A column of what is too thin for a bar. */
export function thinColumn(packed: number): { column: number; kind: number; coverage: number } {
  return { column: packed & 0xffff, kind: (packed >>> 16) & 0xff, coverage: packed >>> 24 };
}

/** The runs of columns that are all solid in one class, or all mixtures (tag 255). */
export function* runs(bytes: Uint8Array): Generator<{ tag: number; from: number; count: number }> {
  let at = 0;
  let from = 0;
  while (at < bytes.length) {
    const tag = bytes[at]!;
    const count = bytes[at + 1]! | (bytes[at + 2]! << 8);
    at += 3;
    yield { tag, from, count };
    from += count;
    if (tag === MIXTURE) for (let i = 0; i < count; i++) at += 1 + 2 * bytes[at]!;
  }
}

/** Colours of the classes, packed as canvas wants them; no thread is transparent. */
export function pack(colours: readonly [number, number, number][]): Uint32Array {
  return Uint32Array.from(colours, ([r, g, b], i) => (i === ABSENT ? 0 : (255 << 24) | (b << 16) | (g << 8) | r));
}

/** Paints columns into rows `top` to `top + height` of `pixels`, which are `width` wide. */
export function paint(bytes: Uint8Array, pixels: Uint32Array, width: number, top: number, height: number, colours: Uint32Array): void {
  let at = 0;
  let x = 0;
  while (at < bytes.length) {
    const tag = bytes[at]!;
    const count = bytes[at + 1]! | (bytes[at + 2]! << 8);
    at += 3;
    if (tag !== MIXTURE) {
      const colour = colours[tag]!;
      for (let y = top; y < top + height; y++) pixels.fill(colour, y * width + x, y * width + x + count);
      x += count;
      continue;
    }
    for (const end = x + count; x < end; x++) {
      const parts = bytes[at++]!;
      paintMixture(bytes, at, parts, pixels, top * width + x, width, height, colours);
      at += parts * 2;
    }
  }
}

function paintMixture(
  bytes: Uint8Array, at: number, parts: number, pixels: Uint32Array, first: number, width: number, height: number, colours: Uint32Array,
): void {
  let y = height;
  let sum = 0;
  for (let i = 0; i < parts; i++) {
    const colour = colours[bytes[at + 2 * i]!]!;
    sum += bytes[at + 2 * i + 1]!;
    const edge = height - (sum * height) / 255;
    const whole = Math.ceil(edge - 1e-6);
    while (y > whole) pixels[first + --y * width] = colour;
    // The row that two parts share is a blend, so that small shares do not vanish.
    if (i + 1 < parts && y > 0 && whole > edge + 1e-6) {
      const next = colours[bytes[at + 2 * i + 2]!]!;
      pixels[first + --y * width] = blend(next, colour, whole - edge);
    }
  }
  while (y > 0) pixels[first + --y * width] = colours[bytes[at + 2 * parts - 2]!]!;
}

/** `b` over `a`, by `share` of `b`. */
function blend(a: number, b: number, share: number): number {
  if (a === 0 || b === 0) return share > 0.5 ? b : a;
  const mix = (shift: number) => {
    const from = (a >> shift) & 255;
    return Math.round(from + (((b >> shift) & 255) - from) * share) << shift;
  };
  return (255 << 24) | mix(16) | mix(8) | mix(0);
}
