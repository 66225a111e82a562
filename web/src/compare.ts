// Two recordings beside each other, each in its own page, and what changed between them above. The pages show the same tab,
// filter and threads; a change that is clicked leads both to where it is seen.

import "./style.css";
import "./compare.css";
import { api, type Change, type Comparison } from "./api.ts";
import { h } from "./dom.ts";
import { onPaletteChange, publishColours } from "./palette.ts";
import type { View, ViewState } from "./view.ts";

/** A page in a frame, once it is there. */
type Framed = Window & { loadline: { view: View } };

const root = document.getElementById("app") ?? document.body;
const SIDES = ["before", "now"] as const;

/** What both pages share. */
const SHARED = ["tab", "filter", "lanes"] as const;

/** Where a change is seen. */
function place(change: Change): Partial<ViewState> {
  switch (change.kind) {
    case "endpoint":
    case "sql":
      // An endpoint is a type of requests, whose numbers are told as #: what they begin with finds them.
      return { tab: "requests", filter: change.kind === "sql" ? change.name : change.name.split("#")[0]! };
    case "lock":
      return { tab: "locks" };
    case "phase":
    case "cause":
    case "handshake":
      return { tab: "matrix" };
    default:
      return { tab: "diagnosis" };
  }
}

async function viewOf(frame: HTMLIFrameElement): Promise<View> {
  for (;;) {
    // A document that is being loaded has no element yet, whatever its type says.
    const page = frame.contentDocument?.documentElement as HTMLElement | null | undefined;
    const state = page?.dataset["ready"];
    if (state === "yes") return (frame.contentWindow as Framed).loadline.view;
    if (state !== undefined) throw new Error(state);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What is chosen in one page is chosen in the other. */
function follow(one: View, other: View): void {
  one.listen((state, before) => {
    const changed = SHARED.filter((key) => state[key] !== before[key] && state[key] !== other.state[key]);
    if (changed.length > 0) other.set(Object.fromEntries(changed.map((key) => [key, state[key]])));
  });
}

const percent = (share: number) => `${share > 0 ? "+" : "−"}${Math.abs(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)}%`;
const figure = (x: number) => (x < 0.1 ? x.toFixed(3) : x < 10 ? x.toFixed(2) : x.toFixed(1));

function row(change: Change, lead: (to: Partial<ViewState>) => void): HTMLElement {
  const [low, high] = change.interval;
  const direction = !change.real ? "" : change.change > 0 ? "longer" : "shorter";
  return h(
    "tr",
    {},
    h("td", { class: "quiet" }, change.kind),
    h("td", { class: "what" }, h("button", { class: "link", title: change.name, onclick: () => lead(place(change)) }, change.name)),
    h("td", { class: "number" }, figure(change.before)),
    h("td", { class: "number" }, figure(change.now)),
    h("td", { class: "quiet" }, change.unit + (change.rare ? ", median" : "")),
    h("td", { class: `number ${direction}` }, percent(change.change)),
    h("td", { class: "quiet number" }, `${percent(low)} to ${high === null ? "?" : percent(high)}`),
  );
}

function table(changes: readonly Change[], lead: (to: Partial<ViewState>) => void): HTMLElement {
  const titles = ["", "what", "before", "now", "", "change", "95% interval"];
  return h("table", {}, h("thead", {}, h("tr", {}, ...titles.map((t) => h("th", {}, t)))), h("tbody", {}, ...changes.map((c) => row(c, lead))));
}

function above(diff: Comparison, lead: (to: Partial<ViewState>) => void): HTMLElement {
  const real = diff.verdict.changes.filter((c) => c.real);
  const noise = diff.verdict.changes.filter((c) => !c.real);
  return h(
    "section",
    { class: "changes" },
    h("h1", {}, diff.summary),
    ...diff.circumstances.map((text) => h("p", { class: "quiet" }, `Differs: ${text}`)),
    real.length > 0 && table(real, lead),
    noise.length > 0 && h("details", {}, h("summary", {}, `${noise.length} measures that are not told from noise`), table(noise, lead)),
  );
}

async function start(): Promise<void> {
  publishColours();
  onPaletteChange(publishColours);
  const diff = await api.diff();
  const frames = SIDES.map((side) => h("iframe", { src: `${side}/`, title: side }));
  const views: View[] = [];
  const lead = (to: Partial<ViewState>) => views[0]?.go(to);
  const panes = SIDES.map((side, i) => {
    const [first, ...others] = diff.recordings[i]!;
    const more = others.length > 0 ? `, the first of ${others.length + 1}` : "";
    return h("section", { class: "side" }, h("h2", {}, side, h("span", { class: "quiet" }, ` ${first?.trace ?? ""}${more}`)), frames[i]);
  });
  root.replaceChildren(above(diff, lead), h("div", { class: "sides" }, ...panes));
  views.push(...(await Promise.all(frames.map(viewOf))));
  const [before, now] = views as [View, View];
  follow(before, now);
  follow(now, before);
  document.documentElement.dataset["ready"] = "yes";
}

start().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  root.replaceChildren(h("pre", { class: "error fatal" }, `The comparison cannot be shown: ${message}`));
  document.documentElement.dataset["ready"] = message;
});
