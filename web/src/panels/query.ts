// SQL over the trace, with examples that answer real questions.

import { api, type Cell, type Table } from "../api.ts";
import { h } from "../dom.ts";
import { grouped } from "../format.ts";
import type { Panel } from "./tabs.ts";

const EXAMPLES: readonly (readonly [string, string])[] = [
  [
    "SQL statements by time",
    `SELECT name AS statement, count(*) AS calls, round(sum(ms(end_ns - begin_ns))) AS total_ms,
       round(avg(ms(end_ns - begin_ns)), 2) AS mean_ms, round(max(ms(end_ns - begin_ns)), 1) AS max_ms
FROM spans WHERE kind = 'sql' GROUP BY name ORDER BY total_ms DESC LIMIT 20`,
  ],
  [
    "most waited-for",
    `SELECT w.kind, w.class, count(*) AS waits, round(sum(ms(w.end_ns - w.begin_ns)), 1) AS total_ms,
       round(max(ms(w.end_ns - w.begin_ns)), 2) AS max_ms
FROM waits w GROUP BY ALL ORDER BY total_ms DESC LIMIT 20`,
  ],
  [
    "threads by CPU",
    `SELECT t.name, round(sum(ms(s.end_ns - s.begin_ns)), 1) AS running_ms, count(*) AS times
FROM states s JOIN threads t ON t.id = s.thread
WHERE s.state = 'running' GROUP BY ALL ORDER BY running_ms DESC LIMIT 20`,
  ],
  [
    "requests by page",
    `SELECT name, count(*) AS requests, round(median(ms(end_ns - begin_ns)), 2) AS p50_ms,
       round(quantile_cont(ms(end_ns - begin_ns), 0.95), 2) AS p95_ms, round(max(ms(end_ns - begin_ns)), 1) AS max_ms
FROM spans WHERE kind = 'request' GROUP BY name ORDER BY p95_ms DESC`,
  ],
];

export class QueryPanel implements Panel {
  readonly followsRange = false;
  readonly element: HTMLElement;
  private readonly box = h("textarea", { spellcheck: "false", rows: 4, "aria-label": "SQL" });
  private readonly answer = h("div", { class: "scroll answer" });
  private readonly note = h("span", { class: "quiet" });
  private abort = new AbortController();
  private ran = false;
  private readonly start = h("button", { class: "primary", onclick: () => (this.running ? this.stop() : void this.run()), title: "Ctrl+Enter" }, "Run");
  private running = false;

  constructor() {
    this.box.value = EXAMPLES[0]?.[1] ?? "";
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.run();
    });
    const examples = EXAMPLES.map(([title, sql]) =>
      h(
        "button",
        {
          class: "choice",
          onclick: () => {
            this.box.value = sql;
            void this.run();
          },
        },
        title,
      ),
    );
    this.element = h(
      "section",
      { class: "query", "aria-label": "Query" },
      h(
        "div",
        { class: "query-edit" },
        this.box,
        h("div", { class: "controls" }, this.start, ...examples, this.note),
      ),
      this.answer,
    );
  }

  /** The first time the tab opens, its first example is already answered. */
  async load(): Promise<void> {
    if (!this.ran) await this.run();
  }

  /** Runs this SQL. */
  ask(sql: string): void {
    this.box.value = sql;
    void this.run();
  }

  private async run(): Promise<void> {
    this.ran = true;
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.note.textContent = "running…";
    this.say(true);
    try {
      const table = await api.query(this.box.value, signal);
      this.note.textContent = `${grouped(table.rows.length)} rows${table.more ? ", and more" : ""} in ${table.ms.toFixed(0)} ms`;
      this.answer.replaceChildren(result(table));
    } catch (error) {
      if (signal.aborted) return;
      this.note.textContent = "";
      this.answer.replaceChildren(h("pre", { class: "error" }, error instanceof Error ? error.message : String(error)));
    }
    this.say(false);
  }

  /** The server ends a query whose page has gone, or has stopped waiting. */
  private stop(): void {
    this.abort.abort();
    this.note.textContent = "stopped";
    this.say(false);
  }

  private say(running: boolean): void {
    this.running = running;
    this.start.textContent = running ? "Stop" : "Run";
  }
}

function result(table: Table): HTMLElement {
  const cls = (column: number) => (table.numeric[column] ? "number" : "");
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...table.columns.map((name, i) => h("th", { class: cls(i) }, name)))),
    h("tbody", {}, ...table.rows.map((row) => h("tr", {}, ...row.map((cell, i) => h("td", { class: cell === null ? "quiet" : cls(i) }, cellText(cell)))))),
  );
}

function cellText(cell: Cell): string {
  if (cell === null) return "null";
  if (typeof cell !== "number") return String(cell);
  return Number.isInteger(cell) ? cell.toString() : String(Number(cell.toPrecision(12)));
}
