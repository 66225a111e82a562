// Colours are told apart by people with each kind of colour blindness.
//
// Simulation: Viénot, Brettel and Mollon, "Digital video colourmaps for checking the legibility of
// displays by dichromats" (1999), for protan and deutan sight; Machado, Oliveira and Fernandes, "A Physiologically-based
// Model for Simulation of Color Vision Deficiency" (2009), for tritan; distance: CIE76 in L*a*b*. Contrast: WCAG 2.2, 1.4.3.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { CLASSES, KINDS, PALETTES, rgb } from "../src/palette.ts";

type Triple = readonly [number, number, number];

const linear = (v: number) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
const dot = (row: Triple, v: Triple) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
const times = (rows: readonly [Triple, Triple, Triple], v: Triple): Triple => [dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)];

// Linear sRGB to linear sRGB, the published matrices folded together.
const SIGHTS: Record<string, readonly [Triple, Triple, Triple]> = {
  full: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
  deutan: [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
};

function lab(colour: string, sight: readonly [Triple, Triple, Triple]): Triple {
  const [r, g, b] = rgb(colour);
  const seen = times(sight, [linear(r), linear(g), linear(b)]);
  const [x, y, z] = times([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], seen);
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [fx, fy, fz] = [f(x / 0.9505), f(y), f(z / 1.089)];
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}

for (const [scheme, palette] of Object.entries(PALETTES)) {
  for (const [name, sight] of Object.entries(SIGHTS)) {
    test(`the colours of states differ in ${scheme} for ${name} sight`, () => {
      const shown = CLASSES.slice(0, 8).map((cls, i) => [cls, lab(palette.classes[i]!, sight)] as const);
      for (const [i, [a, p]] of shown.entries()) {
        for (const [b, q] of shown.slice(i + 1)) {
          const distance = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
          assert.ok(distance > 12, `${a} and ${b} are ${distance.toFixed(1)} apart`);
        }
      }
    });

    test(`states and arrows stand out from what lies behind them in ${scheme} for ${name} sight`, () => {
      for (const behind of [palette.classes[CLASSES.indexOf("idle")]!, palette.panel]) {
        const q = lab(behind, sight);
        for (const colour of [...palette.classes.slice(0, 9), palette.arrow]) {
          const p = lab(colour, sight);
          const distance = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
          assert.ok(distance > 20, `${colour} and ${behind} are ${distance.toFixed(1)} apart`);
        }
      }
    });
  }

  test(`text can be read in ${scheme}`, () => {
    const luminance = (colour: string) => dot([0.2126, 0.7152, 0.0722], rgb(colour).map(linear) as unknown as Triple);
    const contrast = (a: string, b: string) => {
      const [low, high] = [luminance(a), luminance(b)].sort((p, q) => p - q) as [number, number];
      return (high + 0.05) / (low + 0.05);
    };
    const pairs: [string, string][] = [];
    for (const text of [palette.text, palette.muted, palette.faint, palette.accent]) {
      for (const behind of [palette.panel, palette.lane, palette.selected]) pairs.push([text, behind]);
    }
    pairs.push([palette.bad, palette.panel], [palette.panel, palette.accent], [palette.panel, palette.text]);
    for (const kind of palette.kinds) pairs.push([palette.text, kind]);
    for (const [text, behind] of pairs) assert.ok(contrast(text, behind) >= 4.5, `${text} on ${behind}: ${contrast(text, behind).toFixed(2)}`);
  });
}

test("kinds and classes are the server's, in its order, and each kind has a colour", () => {
  const listed = (file: string, name: string) => {
    const source = readFileSync(`../crates/viewer/src/${file}`, "utf8");
    const list = new RegExp(`pub const ${name}: \\[&str; \\d+\\] = \\[([^\\]]*)\\]`).exec(source)?.[1] ?? "";
    return [...list.matchAll(/"(\w+)"/g)].map((m) => m[1]);
  };
  assert.deepEqual(KINDS, listed("spans.rs", "KINDS"));
  assert.deepEqual(CLASSES.slice(0, -1), listed("lane.rs", "CLASSES"));
  for (const palette of Object.values(PALETTES)) assert.equal(palette.kinds.length, KINDS.length);
});
