// The top of the page: what this is, how complete it is, and five figures.

import type { Trace } from "./api.ts";
import { h } from "./dom.ts";
import { nextTheme, type Theme, theme } from "./palette.ts";
import { digits, duration, grouped, percent } from "./format.ts";

/** The bar with name, facts and figures. */
export function topBar(trace: Trace, search: HTMLElement, help: () => void): HTMLElement {
  const { meta, figures } = trace;
  const { target, machine } = meta;
  const lost = Object.values(meta.losses).reduce((a, b) => a + b, 0);
  const began = new Date(meta.begin_unix_ns / 1e6);
  const facts = [
    target.jvm.replace("64-Bit Server VM ", ""),
    target.server?.replace("Apache ", ""),
    `${trace.cpus} ${trace.cpus === 1 ? "CPU" : "CPUs"} of ${machine.host}`,
    began.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }),
    `${(trace.duration / 1e9).toFixed(1)} s`,
  ].filter(Boolean);
  const losses = Object.entries(meta.losses).map(([source, n]) => `${source}: ${grouped(n)}`).join(", ");
  const p = figures.percentiles_ns;
  return h(
    "header",
    { class: "top" },
    h(
      "div",
      { class: "identity" },
      h("h1", {}, target.name || `pid ${target.pid}`, h("span", {}, `pid ${target.pid}`)),
      h(
        "p",
        {},
        facts.join(" · "),
        " · ",
        h("span", { class: lost > 0 ? "bad" : "", title: losses }, lost > 0 ? `${grouped(lost)} events lost (${losses})` : "nothing lost"),
      ),
    ),
    h(
      "div",
      { class: "figures" },
      figure("throughput", digits(figures.requests_per_second), "requests/s"),
      figure("response time", p ? duration(p[0]) : "–", p ? `p95 ${duration(p[1])}  p99 ${duration(p[2])}` : "no request recorded", "p50"),
      figure("CPU", figures.cpu === null ? "–" : percent(figures.cpu), figures.cpu === null ? "not recorded" : `of ${trace.cpus} ${trace.cpus === 1 ? "CPU" : "CPUs"}`),
      figure(
        "connections",
        digits(figures.connections / (trace.duration / 1e9)),
        `${grouped(figures.full_handshakes)} full, ${grouped(figures.resumed_handshakes)} resumed${figures.other_handshakes ? `, ${grouped(figures.other_handshakes)} others` : ""}`,
        "",
        "/s",
      ),
      figure("GC pauses", String(figures.pauses), figures.pauses ? `${duration(figures.pause_ns)} in all` : "none"),
    ),
    search,
    themeButton(),
    h("button", { class: "help-button", title: "keys and colours (?)", "aria-label": "help", onclick: help }, "?"),
  );
}

const THEMES: Record<Theme, readonly [string, string]> = {
  system: ["◐", "colours as the system has them"],
  light: ["☀", "light colours"],
  dark: ["☾", "dark colours"],
};

/** Goes through the colours: as the system has it, light, dark. */
function themeButton(): HTMLElement {
  const button = h("button", { class: "help-button theme", onclick: () => say(nextTheme()) });
  const say = (chosen: Theme) => {
    const [sign, text] = THEMES[chosen];
    button.textContent = sign;
    button.title = `${text} (click for others)`;
    button.setAttribute("aria-label", text);
  };
  say(theme());
  return button;
}

function figure(title: string, value: string, detail: string, prefix = "", suffix = ""): HTMLElement {
  return h(
    "div",
    { class: "figure" },
    h("span", { class: "figure-title" }, title),
    h("span", { class: "figure-value" }, prefix && h("small", {}, `${prefix}\u2002`), value, suffix && h("small", {}, `\u2009${suffix}`)),
    h("span", { class: "figure-detail" }, detail),
  );
}

const LEVEL_TEXT: Record<string, string> = {
  kernel: "Thread states come from the kernel level, which was not recorded: running, runnable and blocked cannot be told apart.",
  jvm: "The JVM level was not recorded: waits on locks are not named.",
  server: "The server level was not recorded: there are no requests and no SQL.",
  app: "The application level was not recorded: there are no events of the application's own.",
};

/** What is missing from the trace and how to get it; nothing if nothing is. */
export function missingLevels(trace: Trace): HTMLElement | null {
  const missing = Object.entries(trace.meta.levels).filter(([name, level]) => !level.recorded && name in LEVEL_TEXT && (name === "kernel" || level.why));
  const notRecorded = trace.meta.not_recorded ?? [];
  if (missing.length === 0 && notRecorded.length === 0 && trace.meta.notes.length === 0) return null;
  const remedy = "Record as root, or: setcap cap_bpf,cap_perfmon+ep loadline";
  return h(
    "div",
    { class: "notices", role: "status" },
    ...missing.map(([name, level]) => h("p", {}, h("b", {}, `${name} level missing. `), LEVEL_TEXT[name] ?? "", " ", level.why || (name === "kernel" ? remedy : ""))),
    ...notRecorded.map((n) => h("p", {}, h("b", {}, `Not recorded: ${n.what}. `), n.why, n.how_to_get ? `. To get it: ${n.how_to_get}` : "")),
    ...trace.meta.notes.slice(0, 3).map((note) => h("p", {}, note)),
  );
}
