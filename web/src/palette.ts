// Colours of states and spans, in light and dark.
//
// States use the palette of Okabe and Ito ("Color Universal Design", 2008), which people with
// each kind of colour blindness can tell apart; its black is white on dark. What is no colour of
// theirs is grey: idle, other, unknown. Spans are quiet tints, told apart by place and label.

/** The classes of the API, in its order; the last stands for no thread. */
export const CLASSES = [
  "running",
  "runnable",
  "preempted",
  "lock",
  "pool",
  "socket",
  "file",
  "gc",
  "other",
  "idle",
  "unknown",
  "absent",
] as const;

export const ABSENT = 11;

/** What a class is called in a legend, and what it means. */
export const CLASS_TEXT: readonly (readonly [string, string])[] = [
  ["running", "on a CPU"],
  ["runnable", "woken, waiting for a CPU"],
  ["preempted", "taken off its CPU while it wanted to go on"],
  ["lock", "blocked on a lock that another thread holds"],
  ["pool", "blocked until a pool hands out a connection"],
  ["socket", "blocked until a peer sends or takes bytes"],
  ["file", "blocked on a file or a device"],
  ["GC", "stopped by the virtual machine: a garbage collection, or another safepoint"],
  ["other", "blocked for another reason"],
  ["idle", "waiting for work"],
  ["unknown", "not known: not recorded, or lost"],
  ["", ""],
];

/** The kinds of spans of the API, in its order, and what each is called. */
const KIND_NAMES = {
  connection: "connection",
  tls_full: "TLS handshake, full",
  tls_resumed: "TLS handshake, resumed",
  request: "request",
  service: "service",
  pool_wait: "waiting for the pool",
  pool_use: "pool connection in use",
  sql: "SQL",
  call: "call of a service",
  app_state: "application state",
  user: "user's span",
  method: "method",
  tls_unknown: "TLS handshake, failed or of unknown kind",
  other: "other",
};

export const KINDS: readonly string[] = Object.keys(KIND_NAMES);

export const KIND_TEXT: readonly string[] = Object.values(KIND_NAMES);

export interface Palette {
  readonly classes: readonly string[];
  readonly kinds: readonly string[];
  readonly text: string;
  readonly muted: string;
  readonly faint: string;
  readonly line: string;
  readonly panel: string;
  readonly lane: string;
  readonly accent: string;
  readonly selected: string;
  /** Text of what went wrong. */
  readonly bad: string;
  /** Arrows of wake-ups: no state has it. */
  readonly arrow: string;
}

const LIGHT: Palette = {
  classes: [
    "#009e73", "#e69f00", "#f0e442", "#d55e00", "#cc79a7", "#56b4e9", "#0072b2", "#26262e",
    "#9aa3ad", "#eceff2", "#d3d7dc", "#ffffff",
  ],
  kinds: [
    "#d5dce4", "#b09cd8", "#cfc2ec", "#adc0d6", "#b9d3bf", "#e8bcd4", "#e2d9c6", "#a3cbe0", "#9ed6d0", "#e4dcb8", "#e4dcb8", "#cfdcb0", "#c8bcd8", "#dddddd",
  ],
  text: "#1c232b",
  muted: "#5c6773",
  faint: "#616c78",
  line: "#e3e7eb",
  panel: "#ffffff",
  lane: "#f7f8fa",
  accent: "#1f5fbf",
  selected: "#e8f0fb",
  bad: "#b34700",
  arrow: "#7a1fa2",
};

const DARK: Palette = {
  classes: [
    "#0aa67b", "#e69f00", "#f0e442", "#e0691a", "#cc79a7", "#56b4e9", "#2b7fc4", "#f4f4f8",
    "#7c8691", "#262c33", "#3c444d", "#14181d",
  ],
  kinds: [
    "#363f4a", "#66579a", "#4d4470", "#43566e", "#3d5a49", "#724760", "#524b3b", "#33637c", "#2c6862", "#5a5330", "#5a5330", "#4b5a2c", "#58496f", "#444444",
  ],
  text: "#e4e8ed",
  muted: "#9aa5b1",
  faint: "#8f9aa7",
  line: "#2a313a",
  panel: "#14181d",
  lane: "#191e24",
  accent: "#74a9ff",
  selected: "#1d2a3d",
  bad: "#ff8a4c",
  arrow: "#d7a6ff",
};

/** Both, for whoever compares them. */
export const PALETTES: Readonly<Record<"light" | "dark", Palette>> = { light: LIGHT, dark: DARK };

export type Theme = "system" | "light" | "dark";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const KEPT = "loadline-theme";

// Outside of a browser (in tests of what is pure) there is nobody to ask.
const dark = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;
const listeners: (() => void)[] = [];
let chosen: Theme = kept();

/** What this reader chose before; a browser may refuse to keep it. */
function kept(): Theme {
  try {
    return THEMES.find((t) => t === localStorage.getItem(KEPT)) ?? "system";
  } catch {
    return "system";
  }
}

/** What the reader chose. */
export function theme(): Theme {
  return chosen;
}

/** Goes on to the next of: as the system has it, light, dark. */
export function nextTheme(): Theme {
  chosen = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length] ?? "system";
  try {
    localStorage.setItem(KEPT, chosen);
  } catch {
    // It holds for this page then.
  }
  for (const changed of listeners) changed();
  return chosen;
}

/** The palette that the reader chose, or else the system asks for. */
export function palette(): Palette {
  return chosen === "dark" || (chosen === "system" && dark?.matches) ? DARK : LIGHT;
}

/** Calls back when the palette changes. */
export function onPaletteChange(changed: () => void): void {
  listeners.push(changed);
  dark?.addEventListener("change", () => chosen === "system" && changed());
}

/** Makes the colours known to the style sheet, as `--class-0` and so on. */
export function publishColours(): void {
  const { classes, kinds, ...rest } = palette();
  const style = document.documentElement.style;
  style.colorScheme = chosen === "system" ? "light dark" : chosen;
  classes.forEach((colour, i) => style.setProperty(`--class-${i}`, colour));
  kinds.forEach((colour, i) => style.setProperty(`--kind-${i}`, colour));
  for (const [name, colour] of Object.entries(rest)) style.setProperty(`--${name}`, colour);
}

/** Index of a cause as tables name it; what is not drawn as itself is `other`. */
export function classOfCause(cause: string): number {
  if (cause === "queue") return CLASSES.indexOf("runnable");
  const index = (CLASSES as readonly string[]).indexOf(cause);
  return index < 0 ? CLASSES.indexOf("other") : index;
}

/** `#rrggbb` as three numbers. */
export function rgb(colour: string): [number, number, number] {
  const n = Number.parseInt(colour.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}
