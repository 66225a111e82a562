//! The answer in a terminal.

use std::fmt::Write;

use loadline_analyze::report::table::{Align, Table, duration};

use super::{Cell, WhatIf};

/// Three significant digits.
fn short(x: f64) -> String {
    match x {
        x if x >= 99.5 => format!("{x:.0}"),
        x if x >= 9.95 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

fn line_of(cell: &Cell) -> String {
    cell.load_line.as_ref().map_or_else(
        || "-".into(),
        |l| format!("{} ±{}", short(l.load), short(l.ci95)),
    )
}

/// The load lines as a table (by the first thing that is varied down and the second across), what limits, and the rest.
pub fn text(w: &WhatIf) -> String {
    let mut out = String::new();
    let unit = if w.load == "rate" {
        "sessions/s".to_owned()
    } else {
        w.load.clone()
    };
    let _ = writeln!(out, "  {}", w.title);
    if let Some(cell) = w.cells.first() {
        let _ = writeln!(
            out,
            "  objective: p95 within {}{}",
            duration(1e3 * cell.objective),
            if w.cells.len() > 1 {
                ", goodput at least 95%"
            } else {
                ""
            }
        );
    }
    out.push('\n');
    match w.cells.first().map_or(0, |c| c.values.len()) {
        2 => grid(&mut out, w, &unit),
        _ => list(&mut out, w, &unit),
    }
    if !w.sensitivities.is_empty() {
        let _ = writeln!(out, "\n  1% less CPU moves the load line by");
        for s in &w.sensitivities {
            let kind = s.parameter.trim_end_matches("_factor");
            let _ = writeln!(out, "  {:>8}  {kind}", format!("{:+.2}%", s.per_percent));
        }
    }
    if let Some(f) = &w.found {
        let _ = match (f.value, f.p95) {
            (Some(value), Some(p95)) => writeln!(
                out,
                "\n  {} {value} holds {} {unit}: p95 {}",
                f.parameter,
                short(f.load),
                duration(1e3 * p95)
            ),
            _ => writeln!(
                out,
                "\n  no {} of these holds {} {unit}",
                f.parameter,
                short(f.load)
            ),
        };
    }
    out
}

fn list(out: &mut String, w: &WhatIf, unit: &str) {
    for cell in &w.cells {
        let name: Vec<String> = cell
            .values
            .iter()
            .map(|(n, v)| format!("{n} {v}"))
            .collect();
        let name = if name.is_empty() {
            String::new()
        } else {
            format!("{:<16}", name.join(", "))
        };
        let _ = match &cell.load_line {
            Some(l) => writeln!(
                out,
                "  {name}load line {} {unit} ({} requests/s, p95 {})   {}",
                line_of(cell),
                short(l.goodput),
                duration(1e3 * l.p95),
                l.limit.sentence
            ),
            None => writeln!(
                out,
                "  {name}no load line: not even a light load holds p95 {}",
                duration(1e3 * cell.objective)
            ),
        };
    }
}

fn grid(out: &mut String, w: &WhatIf, unit: &str) {
    let of = |cell: &Cell, i: usize| cell.values[i].1.clone();
    let mut columns: Vec<String> = Vec::new();
    let mut rows: Vec<String> = Vec::new();
    for cell in &w.cells {
        for (list, value) in [(&mut rows, of(cell, 0)), (&mut columns, of(cell, 1))] {
            if !list.contains(&value) {
                list.push(value);
            }
        }
    }
    let (down, across) = (&w.cells[0].values[0].0, &w.cells[0].values[1].0);
    let mut head = vec![(format!("load line, {unit}"), Align::Left)];
    head.extend(
        columns
            .iter()
            .map(|c| (format!("{across} {c}"), Align::Right)),
    );
    head.push((String::new(), Align::Left));
    let mut table = Table::new(head.iter().map(|(h, a)| (h.as_str(), *a)));
    for row in &rows {
        let cells: Vec<&Cell> = w.cells.iter().filter(|c| of(c, 0) == *row).collect();
        let limits: Vec<String> = cells
            .iter()
            .filter_map(|c| Some(c.load_line.as_ref()?.limit.part.clone()))
            .collect();
        let last = match limits.split_first() {
            Some((first, rest)) if rest.iter().all(|l| l == first) => limit_of(&cells),
            _ => limits.join(", "),
        };
        let mut line = vec![format!("{down} {row}")];
        line.extend(cells.iter().map(|c| line_of(c)));
        line.push(last);
        table.row(line);
    }
    out.push_str(&table.render("  "));
}

fn limit_of(cells: &[&Cell]) -> String {
    let first = cells.iter().find_map(|c| c.load_line.as_ref());
    first.map_or(String::new(), |l| l.limit.sentence.clone())
}
