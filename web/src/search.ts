// The search: threads, paths, services, statements and locks by a part of their names; a hit leads to the longest of it.

import { abbreviate } from "./abbreviate.ts";
import { api, type Hit } from "./api.ts";
import { h, kindSwatch, swatch } from "./dom.ts";
import { kindIndex } from "./describe.ts";
import { duration, grouped } from "./format.ts";
import { CLASSES } from "./palette.ts";
import { clampRange, type View } from "./view.ts";

const KINDS: Readonly<Record<string, string>> = {
  thread: "thread", request: "path", service: "service", sql: "SQL", call: "service called", user: "span", pool_wait: "pool", lock: "lock", wait: "waited on",
};

/** While somebody types, the server is asked only once they rest, ms. */
const REST = 90;

export class Search {
  readonly element: HTMLElement;
  private readonly box = h("input", {
    type: "search", placeholder: "search  /", "aria-label": "Search threads, paths, statements, locks", autocomplete: "off", spellcheck: "false",
    role: "combobox", "aria-expanded": "false", "aria-controls": "hits", "aria-autocomplete": "list",
  });
  private readonly list = h("ul", { class: "hits", id: "hits", role: "listbox", "aria-label": "Found", hidden: true });
  private hits: readonly Hit[] = [];
  private active = -1;
  private timer = 0;
  private abort = new AbortController();

  constructor(
    private readonly view: View,
    private readonly reveal: (thread: number) => void,
  ) {
    this.element = h("div", { class: "search" }, this.box, this.list);
    this.box.addEventListener("input", () => this.soon());
    this.box.addEventListener("focus", () => this.soon());
    this.box.addEventListener("blur", () => this.close());
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  focus(): void {
    this.box.focus();
    this.box.select();
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.ask(), REST);
  }

  private async ask(): Promise<void> {
    const word = this.box.value.trim();
    this.abort.abort();
    this.abort = new AbortController();
    if (word === "") return this.close();
    const { signal } = this.abort;
    try {
      this.show(await api.search(word, signal), word);
    } catch (error) {
      if (!signal.aborted) this.tell(error instanceof Error ? error.message : String(error));
    }
  }

  private show(hits: readonly Hit[], word: string): void {
    if (document.activeElement !== this.box) return;
    this.hits = hits;
    if (hits.length === 0) return this.tell(`nothing here has “${word}” in its name`);
    this.list.replaceChildren(...hits.map((hit, i) => this.row(hit, i)));
    this.open();
    this.choose(0);
  }

  private tell(text: string): void {
    this.hits = [];
    this.list.replaceChildren(h("li", { class: "quiet", role: "option", "aria-disabled": "true" }, text));
    this.open();
  }

  private row(hit: Hit, i: number): HTMLElement {
    const isClass = hit.kind === "lock" || hit.kind === "wait";
    const mark = hit.kind === "thread" ? swatch(0) : isClass ? swatch(CLASSES.indexOf(hit.kind === "lock" ? "lock" : "other")) : kindSwatch(kindIndex(hit.kind));
    const detail = hit.kind === "thread" ? (hit.count > 0 ? `${grouped(hit.count)} requests` : "") : `${grouped(hit.count)} ×, longest ${duration(hit.end - hit.begin)}`;
    const row = h(
      "li",
      { role: "option", id: `hit-${i}`, title: hit.name },
      h("span", { class: "quiet" }, KINDS[hit.kind] ?? hit.kind),
      mark,
      h("span", { class: hit.kind === "sql" ? "hit-name code" : "hit-name" }, isClass ? abbreviate(hit.name, 52) : hit.name),
      h("span", { class: "quiet number" }, detail),
    );
    // Before the box loses the focus, which would take the list away.
    row.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.go(hit);
    });
    return row;
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && this.hits.length > 0) {
      event.preventDefault();
      this.choose((this.active + step + this.hits.length) % this.hits.length);
    } else if (event.key === "Enter") {
      const hit = this.hits[this.active];
      if (hit) this.go(hit);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.box.value = "";
      this.box.blur();
    }
  }

  private choose(i: number): void {
    this.active = i;
    [...this.list.children].forEach((row, n) => row.setAttribute("aria-selected", String(n === i)));
    this.box.setAttribute("aria-activedescendant", `hit-${i}`);
    this.list.children[i]?.scrollIntoView({ block: "nearest" });
  }

  private open(): void {
    this.list.hidden = false;
    this.box.setAttribute("aria-expanded", "true");
  }

  private close(): void {
    clearTimeout(this.timer);
    this.abort.abort();
    this.hits = [];
    this.active = -1;
    this.list.hidden = true;
    this.box.setAttribute("aria-expanded", "false");
    this.box.removeAttribute("aria-activedescendant");
  }

  /** Goes to the longest of what was found; to a thread at the time that is in view. */
  private go(hit: Hit): void {
    const { range, total } = this.view;
    const middle = Math.round((range.begin + range.end) / 2);
    if (hit.kind === "thread") {
      const lives = hit.begin <= middle && middle < hit.end;
      this.view.go({ selection: { thread: hit.thread, t: lives ? middle : Math.round((hit.begin + hit.end) / 2) }, ...(lives ? {} : { range: clampRange(hit.begin, hit.end, total) }) });
    } else {
      const margin = Math.max((hit.end - hit.begin) * 0.4, 1e5);
      this.view.go({
        range: clampRange(hit.begin - margin, hit.end + margin, total),
        selection: { thread: hit.thread, t: Math.round((hit.begin + hit.end) / 2) },
        ...(hit.request === null ? {} : { request: hit.request, tab: "waterfall" as const }),
      });
    }
    this.reveal(hit.thread);
    this.box.blur();
  }
}
