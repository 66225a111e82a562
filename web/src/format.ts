// Times and numbers as people read them. All times in the page are ns since the recording began.

const UNITS: readonly [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

/** A duration in the unit that fits, with three digits: `1.23 ms`. */
export function duration(ns: number): string {
  for (const [size, unit] of UNITS) {
    if (Math.abs(ns) >= size * 0.9995) return `${digits(ns / size)} ${unit}`;
  }
  return ns === 0 ? "0" : `${digits(ns / 1e3)} µs`;
}

/** A number with three significant digits, never in exponent form. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return grouped(Math.round(value));
  return value.toFixed(size >= 9.995 ? 1 : 2);
}

/** A whole number with thin spaces between thousands. */
export function grouped(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A share of a whole: `41%`, and `<1%` for what is there but rounds to nothing. */
export function percent(share: number): string {
  if (share > 0 && share < 0.01) return "<1%";
  return `${Math.round(share * 100)}%`;
}

/** A moment of the recording, as exact as `resolution` ns needs: `9.2041 s`. */
export function moment(ns: number, resolution: number): string {
  return `${(ns / 1e9).toFixed(decimals(resolution))} s`;
}

/** Decimals of a second that tell two moments `resolution` ns apart. */
export function decimals(resolution: number): number {
  return Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(1, resolution)) - 1e-9)));
}

/** Distance between ticks of an axis: 1, 2 or 5 times a power of ten, at least `least`. */
export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  for (const factor of [1, 2, 5]) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

/** Bytes in the unit that fits. */
export function bytes(value: number): string {
  const units = ["B", "KB", "MB", "GB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : digits(value)} ${units[unit]}`;
}
