// Keys and colours, over the page.

import { h, kindSwatch, swatch } from "./dom.ts";
import { CLASS_TEXT, KIND_TEXT } from "./palette.ts";

const KEYS: readonly (readonly [string, string])[] = [
  ["W  S", "zoom in, out (wheel over the plot)"],
  ["A  D", "to the left, right (drag; Shift and wheel)"],
  ["←  →", "previous, next interval of the chosen lane"],
  ["↑  ↓", "lane above, below"],
  ["Z", "zoom to the chosen interval"],
  ["F", "fit the whole trace"],
  ["T", "tall lanes, with labels"],
  ["1 – 7", "tabs"],
  ["/", "search: threads, paths, SQL, locks (↑ ↓, Enter)"],
  ["Esc", "close, or let go of the chosen interval"],
  ["?", "this help"],
];

export class Help {
  readonly element: HTMLDialogElement;

  constructor() {
    this.element = h(
      "dialog",
      { class: "help", "aria-label": "Help" },
      h("h2", {}, "Keys"),
      h("dl", {}, ...KEYS.flatMap(([keys, text]) => [h("dt", {}, ...keys.split("  ").map((k) => h("kbd", {}, k))), h("dd", {}, text)])),
      h("h2", {}, "Colours of a thread's states"),
      h("p", { class: "quiet" }, "Where many states share a pixel, its height is divided among them by their time."),
      h("dl", {}, ...CLASS_TEXT.slice(0, -1).flatMap(([name, text], i) => [h("dt", {}, swatch(i), name), h("dd", {}, text)])),
      h("h2", {}, "Spans above them"),
      h("div", { class: "kinds" }, ...KIND_TEXT.slice(0, 8).map((text, i) => h("span", {}, kindSwatch(i), text))),
      h("form", { method: "dialog" }, h("button", { class: "primary" }, "Close")),
    );
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.element.close();
    });
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}
