// The lower part of the page: tabs, of which the Moment stays open beside the others where the
// window is wide enough for both.

import { h } from "../dom.ts";
import { type Tab, TABS, type View } from "../view.ts";

export interface Panel {
  readonly element: HTMLElement;
  /** Whether what it shows depends on the visible range now. */
  readonly followsRange: boolean;
  load(): Promise<void>;
}

const TITLES: Record<Tab, string> = { diagnosis: "Diagnosis", moment: "Moment", requests: "Requests", waterfall: "Waterfall", locks: "Locks", matrix: "Matrix", query: "Query" };

export class Tabs {
  readonly element: HTMLElement;
  private readonly buttons = new Map<Tab, HTMLButtonElement>();
  private readonly body = h("div", { class: "tab-body" });
  private timer = 0;
  /** Resolves when the panel that was open first has been filled. */
  readonly ready: Promise<void>;

  constructor(
    private readonly view: View,
    private readonly panels: Record<Exclude<Tab, "moment">, Panel>,
    moment: HTMLElement,
  ) {
    const list = h("div", { class: "tabs", role: "tablist" });
    for (const tab of TABS) {
      const button = h("button", { role: "tab", "data-tab": tab, onclick: () => view.go({ tab }) }, TITLES[tab]);
      this.buttons.set(tab, button);
      list.append(button);
    }
    this.element = h("div", { class: "lower" }, h("div", { class: "main-side" }, list, this.body), h("div", { class: "moment-side" }, moment));
    view.listen((state, before) => {
      if (state.tab !== before.tab) void this.open();
      else if (state.request !== before.request && state.tab === "waterfall") void this.load();
      else if (state.range !== before.range && this.panel.followsRange) this.soon();
    });
    this.ready = this.open();
  }

  private get panel(): Panel {
    const { tab } = this.view.state;
    return this.panels[tab === "moment" ? "requests" : tab];
  }

  private async open(): Promise<void> {
    const { tab } = this.view.state;
    for (const [name, button] of this.buttons) button.setAttribute("aria-selected", String(name === tab));
    this.element.dataset["tab"] = tab;
    this.body.replaceChildren(this.panel.element);
    await this.load();
  }

  private async load(): Promise<void> {
    try {
      await this.panel.load();
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      this.panel.element.replaceChildren(h("pre", { class: "error" }, error instanceof Error ? error.message : String(error)));
    }
  }

  /** While the range moves, tables wait until it rests. */
  private soon(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.load(), 200);
  }
}
