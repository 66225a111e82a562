// What is below the pointer, in a few lines beside it.

import type { Moment } from "./api.ts";
import { classIndex, headline, kindIndex, kindText, syscallText, waitText } from "./describe.ts";
import { h, kindSwatch, swatch } from "./dom.ts";
import { duration, moment as momentText } from "./format.ts";

export class Tooltip {
  readonly element = h("div", { class: "tooltip", role: "tooltip", hidden: true });
  private shown: Moment | null = null;

  show(moment: Moment, place: { x: number; y: number }, pixel: number): void {
    if (moment !== this.shown) {
      this.element.replaceChildren(...content(moment, pixel));
      this.shown = moment;
    }
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const x = place.x + 16 + width > innerWidth ? place.x - width - 12 : place.x + 16;
    const y = Math.min(place.y + 18, innerHeight - height - 8);
    this.element.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}

function content(moment: Moment, pixel: number): HTMLElement[] {
  const rows: [string, string | null][] = [
    ["from", `${momentText(moment.begin, Math.min(pixel, 1e5))}`],
    ["waited on", waitText(moment, true)],
    ["held by", moment.owner_name],
    ["system call", syscallText(moment)],
    ["to", moment.resource?.name ?? null],
    ["woken by", moment.waker?.name ?? null],
    ["pause", moment.pause ? `${moment.pause.name}: ${moment.pause.cause}` : null],
  ];
  return [
    h("div", { class: "tip-head" }, swatch(classIndex(moment)), h("b", {}, headline(moment)), h("span", {}, duration(moment.end - moment.begin))),
    h("div", { class: "tip-thread" }, moment.name),
    h("dl", {}, ...rows.flatMap(([name, value]) => (value ? [h("dt", {}, name), h("dd", {}, value)] : []))),
    h(
      "div",
      { class: "tip-spans" },
      ...moment.spans.map((span) =>
        h(
          "div",
          {},
          kindSwatch(kindIndex(span.kind)),
          h("span", { class: "tip-name" }, ["request", "service", "sql", "call", "user", "app_state"].includes(span.kind) ? span.name : kindText(span.kind)),
          h("span", { class: "tip-time" }, duration(span.end - span.begin)),
        ),
      ),
    ),
  ];
}
