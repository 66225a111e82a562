// Puts the page together: fetches what is needed once, chooses the first view, binds the keys.

import "./style.css";
import { api, type Request, type Trace } from "./api.ts";
import { h, swatch } from "./dom.ts";
import { Help } from "./help.ts";
import { OverviewStrip } from "./overview.ts";
import { CLASS_TEXT, onPaletteChange, publishColours } from "./palette.ts";
import { DiagnosisPanel } from "./panels/diagnosis.ts";
import { LocksPanel } from "./panels/locks.ts";
import { MatrixPanel } from "./panels/matrix.ts";
import { MomentPanel } from "./panels/moment.ts";
import { QueryPanel } from "./panels/query.ts";
import { RequestsPanel, viewOf } from "./panels/requests.ts";
import { Tabs } from "./panels/tabs.ts";
import { WaterfallPanel } from "./panels/waterfall.ts";
import { Search } from "./search.ts";
import { counterLanes } from "./timeline/counters.ts";
import { Timeline } from "./timeline/timeline.ts";
import type { Sort } from "./timeline/layout.ts";
import { Tooltip } from "./tooltip.ts";
import { missingLevels, topBar } from "./top.ts";
import { clampRange, fromHash, TABS, View, type ViewState } from "./view.ts";

const root = document.getElementById("app") ?? document.body;

/** Attaching an agent to a running JVM slows its requests for about this long, ns. */
const ATTACH_NS = 1.5e9;

/** What a first view is about. */
type Place = Pick<Request, "id" | "thread" | "begin" | "end">;

/** The request that the address names, else the slowest of the range that it asks for; without that, of what attaching did not slow. */
async function firstRequest(trace: Trace): Promise<Place | undefined> {
  const { duration } = trace;
  const { request, range: asked } = fromHash(location.hash, duration);
  // A request of another trace leads nowhere, and the panel says so.
  const named = typeof request === "number" ? await api.waterfall(request).catch(() => undefined) : undefined;
  if (named) return named;
  const later = { begin: duration > 4 * ATTACH_NS ? ATTACH_NS : 0, end: duration };
  for (const range of asked ? [asked] : [later, { begin: 0, end: duration }]) {
    const { requests } = await api.requests(range.begin, range.end, "duration", 50, "");
    const found = requests.find((r) => r.complete && r.begin >= range.begin) ?? requests[0];
    if (found) return found;
  }
  return undefined;
}

/** The first view: around the slowest request, which is what most people come to ask about. */
function firstView(trace: Trace, slowest: Place | undefined): ViewState {
  const said = fromHash(location.hash, trace.duration);
  const whole = { begin: 0, end: trace.duration };
  const base: ViewState = { range: whole, selection: null, tab: "requests", request: null, filter: "", lanes: "" };
  if (!slowest) return { ...base, ...said };
  const { range, selection } = viewOf(slowest, trace.duration);
  const request = slowest.id;
  if (said.range) return { ...base, selection, request, ...said };
  // Wide enough to see what the other workers did meanwhile, narrow enough to see single states.
  const middle = (range.begin + range.end) / 2;
  const half = Math.max((range.end - range.begin) / 2, 60e6);
  return { ...base, range: clampRange(middle - half, middle + half, trace.duration), selection, request, ...said };
}

function toolbar(timeline: Timeline, view: View): HTMLElement {
  const sort = h(
    "select",
    { "aria-label": "order of lanes", onchange: () => timeline.setSort(sort.value as Sort) },
    h("option", { value: "name" }, "by name"),
    h("option", { value: "busy" }, "by busy time"),
    h("option", { value: "requests" }, "by requests"),
  );
  const lanes = h("input", { type: "search", class: "filter", placeholder: "threads", "aria-label": "Threads to show", title: "only threads with this in their names; several with commas; exec-1$ for the end of a name", spellcheck: "false", oninput: () => view.set({ lanes: lanes.value.trim() }) });
  lanes.value = view.state.lanes;
  view.listen((state) => {
    if (state.lanes !== lanes.value.trim()) lanes.value = state.lanes;
  });
  const legend = CLASS_TEXT.slice(0, -1).map(([name, text], i) => h("span", { title: text }, swatch(i), name));
  return h(
    "div",
    { class: "toolbar" },
    h("div", { class: "legend" }, ...legend),
    h("span", { class: "grow" }),
    lanes,
    h("label", {}, "lanes ", sort),
    h("button", { title: "tall lanes, with labels (T)", onclick: () => timeline.toggleTall() }, "tall"),
    h("button", { title: "zoom out (S)", onclick: () => view.zoom(2) }, "−"),
    h("button", { title: "zoom in (W)", onclick: () => view.zoom(0.5) }, "+"),
    h("button", { title: "the whole trace (F)", onclick: () => view.fit() }, "fit"),
  );
}

function bindKeys(view: View, timeline: Timeline, moment: MomentPanel, search: Search, help: Help): void {
  const actions: Record<string, () => void> = {
    w: () => view.zoom(0.7),
    s: () => view.zoom(1 / 0.7),
    a: () => view.pan(-0.2),
    d: () => view.pan(0.2),
    f: () => view.fit(),
    t: () => timeline.toggleTall(),
    z: () => moment.zoom(),
    "/": () => search.focus(),
    "?": () => help.toggle(),
    ArrowLeft: () => moment.step(-1),
    ArrowRight: () => moment.step(1),
    ArrowUp: () => timeline.step(-1),
    ArrowDown: () => timeline.step(1),
    Escape: () => {
      timeline.pin(null);
      view.set({ selection: null });
    },
  };
  TABS.forEach((tab, i) => (actions[String(i + 1)] = () => view.go({ tab })));
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement && event.target.matches("textarea, select, input");
    if (typing || help.element.open || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** Lets the border between the timeline and the tables be dragged. */
function splitter(): HTMLElement {
  const bar = h("div", { class: "splitter", role: "separator", "aria-orientation": "horizontal" });
  bar.addEventListener("pointerdown", (event) => bar.setPointerCapture(event.pointerId));
  bar.addEventListener("pointermove", (event) => {
    if (!bar.hasPointerCapture(event.pointerId)) return;
    const height = Math.min(innerHeight - 260, Math.max(90, innerHeight - event.clientY));
    document.documentElement.style.setProperty("--lower", `${height}px`);
  });
  return bar;
}

/** Says that only sums are drawn so far, until all has been read. */
function stillReading(read: () => void): HTMLElement {
  const notice = h("div", { class: "notices", role: "status" }, h("p", {}, h("b", {}, "An overview. "), "Single states and requests of this large trace are being read; what needs them waits."));
  void api.whole().then(
    () => {
      notice.remove();
      read();
    },
    (error: unknown) => notice.replaceChildren(h("p", { class: "error" }, error instanceof Error ? error.message : String(error))),
  );
  return notice;
}

async function start(): Promise<void> {
  publishColours();
  onPaletteChange(publishColours);
  const trace = await api.trace();
  // Bins of a tenth of a second or more: shorter ones show chance, not load.
  const bins = Math.min(Math.round(innerWidth / 3), Math.max(60, Math.round(trace.duration / 1e8)));
  const overview = await api.overview(bins);
  const counters = counterLanes(await api.counters(1000));
  // Of a large trace there is a picture of the whole before requests are known.
  const slowest = trace.whole ? await firstRequest(trace) : undefined;
  document.title = `${trace.meta.target.name} · Loadline`;
  const view = new View(trace.duration, firstView(trace, slowest));
  const tooltip = new Tooltip();
  const help = new Help();
  const ready = { moment: false, tabs: false };
  const check = () => {
    if (ready.moment && ready.tabs && timeline.isReady) document.documentElement.dataset["ready"] = "yes";
  };
  const timeline: Timeline = new Timeline(trace, counters, view, tooltip, check);
  const reveal = (thread: number) => timeline.reveal(thread);
  const moment = new MomentPanel(view, (chosen, chain) => timeline.pin(chosen, chain), reveal);
  const requests = new RequestsPanel(view, reveal);
  const search = new Search(view, reveal);
  const query = new QueryPanel();
  const diagnosis = new DiagnosisPanel(view, (sql) => {
    view.go({ tab: "query" });
    query.ask(sql);
  });
  const tabs = new Tabs(view, { diagnosis, requests, waterfall: new WaterfallPanel(view, reveal), locks: new LocksPanel(view, reveal), matrix: new MatrixPanel(view), query }, moment.element);
  root.replaceChildren(
    topBar(trace, search.element, () => help.toggle()),
    ...[missingLevels(trace), trace.whole ? null : stillReading(() => timeline.refresh())].filter((n) => n !== null),
    new OverviewStrip(overview, view).element,
    toolbar(timeline, view),
    timeline.element,
    splitter(),
    tabs.element,
    tooltip.element,
    help.element,
  );
  bindKeys(view, timeline, moment, search, help);
  Object.assign(window, { loadline: { view, timeline } });
  await Promise.all([moment.load().then(() => (ready.moment = true)), tabs.ready.then(() => (ready.tabs = true))]);
  const selected = view.state.selection;
  if (selected) timeline.reveal(selected.thread);
  timeline.schedule();
}

start().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  root.replaceChildren(h("pre", { class: "error fatal" }, `The trace cannot be shown: ${message}`));
  document.documentElement.dataset["ready"] = message;
});
