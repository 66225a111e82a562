// Phases by causes: where requests and handshakes spent their time.

import { api, type Matrix } from "../api.ts";
import { h, swatch } from "../dom.ts";
import { digits, grouped, percent } from "../format.ts";
import { classOfCause } from "../palette.ts";
import type { View } from "../view.ts";
import type { Panel } from "./tabs.ts";

const PHASES: readonly (readonly [string, string, number])[] = [
  ["tls_full", "TLS handshake, full", 0],
  ["tls_resumed", "TLS handshake, resumed", 0],
  ["tls_unknown", "TLS handshake, full or resumed", 0],
  ["tls_failed", "TLS handshake, failed", 0],
  ["request", "request, outside the service", 0],
  ["service", "service", 0],
  ["pool_wait", "waiting for the pool", 1],
  ["sql", "SQL", 1],
  ["call", "calls of services", 1],
  ["idle", "between visits of a worker", 0],
];

const CAUSES = ["running", "runnable", "lock", "pool", "socket", "file", "gc", "safepoint", "admission", "queue", "idle", "other", "unknown"];

const CAUSE_TEXT: Record<string, string> = { gc: "GC", queue: "queued" };

type Unit = "mean" | "share" | "total";

const UNITS: readonly (readonly [Unit, string])[] = [
  ["mean", "ms each"],
  ["share", "% of all"],
  ["total", "s in all"],
];

export class MatrixPanel implements Panel {
  readonly element = h("section", { class: "matrix", "aria-label": "Matrix" });
  private wholeTrace = true;
  private unit: Unit = "mean";
  private abort = new AbortController();

  constructor(private readonly view: View) {}

  get followsRange(): boolean {
    return !this.wholeTrace;
  }

  async load(): Promise<void> {
    this.abort.abort();
    this.abort = new AbortController();
    const { begin, end } = this.wholeTrace ? { begin: 0, end: this.view.total } : this.view.range;
    this.show(await api.matrix(begin, end, this.abort.signal));
  }

  private show(matrix: Matrix): void {
    const choice = (pressed: boolean, text: string, act: () => void) =>
      h("button", { class: "choice", "aria-pressed": String(pressed), onclick: act }, text);
    const whole = (value: boolean) => () => {
      this.wholeTrace = value;
      void this.load();
    };
    const controls = h(
      "div",
      { class: "controls" },
      choice(this.wholeTrace, "whole trace", whole(true)),
      choice(!this.wholeTrace, "visible range", whole(false)),
      h("span", { class: "gap" }),
      ...UNITS.map(([unit, text]) =>
        choice(this.unit === unit, text, () => {
          this.unit = unit;
          this.show(matrix);
        }),
      ),
      h("span", { class: "quiet" }, matrix.cells.length === 0 ? "No request or handshake in this range; choose the whole trace." : "where requests and handshakes spent their time"),
    );
    this.element.replaceChildren(controls, h("div", { class: "scroll" }, this.table(matrix)));
  }

  private table({ cells, counts }: Matrix): HTMLElement {
    const ns = new Map(cells.map(([phase, cause, time]) => [`${phase} ${cause}`, time]));
    const count = new Map(counts);
    const all = cells.reduce((sum, [, , time]) => sum + time, 0) || 1;
    const causes = CAUSES.filter((cause) => cells.some(([, c]) => c === cause));
    const phases = PHASES.filter(([phase]) => count.has(phase));
    const text = (phase: string, time: number) => {
      if (time === 0) return "–";
      if (this.unit === "share") return percent(time / all);
      return digits(this.unit === "total" ? time / 1e9 : time / 1e6 / (count.get(phase) ?? 1));
    };
    const row = ([phase, title, indent]: readonly [string, string, number]) => {
      const times = causes.map((cause) => ns.get(`${phase} ${cause}`) ?? 0);
      const total = times.reduce((a, b) => a + b, 0);
      return h(
        "tr",
        {},
        h("th", { scope: "row", style: `padding-left:${23 + indent * 16}px` }, title),
        h("td", { class: "number quiet" }, grouped(count.get(phase) ?? 0)),
        h("td", { class: "number strong" }, text(phase, total)),
        ...times.map((time, i) => {
          // Heat by share of the phase: what a phase waits for stands out in its own row.
          const heat = Math.round((time / (total || 1)) * 62);
          const colour = `var(--class-${classOfCause(causes[i] ?? "")})`;
          return h("td", { class: "number", style: heat > 0 ? `background:color-mix(in srgb, ${colour} ${heat}%, transparent)` : "" }, text(phase, time));
        }),
      );
    };
    return h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", {}, "phase"),
          h("th", { class: "number" }, "count"),
          h("th", { class: "number" }, "all"),
          ...causes.map((cause) => h("th", { class: "number" }, swatch(classOfCause(cause)), CAUSE_TEXT[cause] ?? cause)),
        ),
      ),
      h("tbody", {}, ...phases.map(row)),
    );
  }
}
