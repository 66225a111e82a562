// Why it is as slow as it is: symptoms, hypotheses with their evidence, the verdict. Moments lead to the timeline.

import { api, type Diagnosis, type Finding } from "../api.ts";
import { h } from "../dom.ts";
import { percent } from "../format.ts";
import { clampRange, type View } from "../view.ts";
import type { Panel } from "./tabs.ts";

const OUTCOMES: Record<Finding["outcome"], string> = { confirmed: "confirmed", not_enough_data: "not enough data", refuted: "refuted" };
/** What is shown around a moment, ns. */
const AROUND = 50e6;

export class DiagnosisPanel implements Panel {
  readonly followsRange = false;
  readonly element = h("section", { class: "diagnosis", "aria-label": "Diagnosis" });
  private told = false;

  constructor(
    private readonly view: View,
    /** Puts the SQL of one of its queries into the Query tab. */
    private readonly ask: (sql: string) => void,
  ) {}

  async load(): Promise<void> {
    if (this.told) return;
    this.element.replaceChildren(h("p", { class: "quiet" }, "testing hypotheses…"));
    const found = await api.diagnosis();
    this.told = true;
    const symptoms = found.symptoms.map((s) => h("p", {}, h("b", {}, "symptom "), s.text, this.moment(s.at_s)));
    const rows = found.findings.map((f) => this.row(f, found));
    this.element.replaceChildren(
      h(
        "div",
        { class: "scroll" },
        h("p", { class: "verdict" }, h("b", {}, "verdict "), found.verdict),
        ...symptoms,
        h("table", {}, h("tbody", {}, ...rows)),
      ),
    );
  }

  private row(f: Finding, found: Diagnosis): HTMLElement {
    const evidence = [...f.evidence, ...(f.record ? [`record ${f.record}`] : [])].join("; ");
    const queries = f.queries.map((n) =>
      h("button", { class: "choice", title: "run it in the Query tab", onclick: () => this.ask(found.queries[n - 1]?.sql ?? "") }, `query ${n}`),
    );
    return h(
      "tr",
      { "data-outcome": f.outcome },
      h("th", { scope: "row" }, f.name),
      h("td", {}, f.hypothesis, f.outcome === "confirmed" ? this.moment(f.at_s) : null),
      h("td", { class: "outcome" }, OUTCOMES[f.outcome]),
      h("td", { class: "number", title: `of ${f.share_of}` }, f.outcome === "confirmed" ? percent(f.share) : ""),
      h("td", { class: "evidence" }, evidence, " ", ...queries),
    );
  }

  private moment(at: number | null): HTMLElement | null {
    if (at === null) return null;
    const show = () => this.view.go({ range: clampRange(at * 1e9 - AROUND, at * 1e9 + AROUND, this.view.total) });
    return h("button", { class: "choice", onclick: show, title: "show this moment" }, `${at.toFixed(3)} s`);
  }
}
