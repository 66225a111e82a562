//! The table for people, and CSV.

use std::collections::BTreeMap;

use loadline_analyze::counters::Role;
use loadline_analyze::report::table::{Align, Table, grouped};
use loadline_record::counters::Unit;
use loadline_stats::Estimate;

use crate::ratio::{Kind, Ratio};
use crate::summary::{Figure, Summary};
use crate::topdown;

/// Characters of a unit's name above which it stands in the first lines only.
const LONG: usize = 24;

impl Summary {
    /// As a page of the terminal.
    pub fn render(&self) -> String {
        let mut text = format!(
            "  {}   {:.1} s in {} slice{}   {} CPUs, {}\n",
            self.target,
            self.seconds,
            self.slices,
            if self.slices == 1 { "" } else { "s" },
            self.machine.cpus,
            self.machine.processor
        );
        let unit = self.unit.as_deref();
        match unit {
            Some(unit) if self.units > 0 => {
                text += &format!(
                    "  {} × {unit} ({:.1}/s)\n",
                    grouped(self.units),
                    self.units as f64 / self.seconds
                );
            }
            Some(unit) => text += &format!("  no {unit} ended meanwhile: figures are per second\n"),
            None => {}
        }
        let roles = self.roles();
        let per = self.per();
        let mut columns = vec![
            ("", Align::Left),
            (per.as_str(), Align::Right),
            ("±", Align::Right),
        ];
        columns.extend(roles.iter().map(|r| (r.title(), Align::Right)));
        let mut table = Table::new(columns);
        for figure in self.shown() {
            let mean = figure.per_unit.unwrap_or(figure.per_second);
            let mut cells = vec![
                figure.counter.title.clone(),
                value(mean.value, figure),
                interval(mean),
            ];
            cells.extend(roles.iter().map(|role| {
                let part = figure.by_role.get(role).copied().unwrap_or(0.0);
                if figure.total > 0.0 {
                    format!("{:.0}%", 100.0 * part / figure.total)
                } else {
                    "-".into()
                }
            }));
            table.row(cells);
        }
        text += &format!("\n{}", table.render("  "));
        if !self.ratios.is_empty() {
            let mut columns = vec![
                ("", Align::Left),
                ("ratio", Align::Right),
                ("±", Align::Right),
            ];
            columns.extend(roles.iter().map(|r| (r.title(), Align::Right)));
            let mut table = Table::new(columns);
            for ratio in &self.ratios {
                let mut cells = vec![
                    ratio.title.clone(),
                    ratio.text(ratio.value.value),
                    interval(ratio.value),
                ];
                cells.extend(roles.iter().map(|role| {
                    let of = ratio.by_role.get(role);
                    of.map_or("-".into(), |value| ratio.text(*value))
                }));
                table.row(cells);
            }
            text += &format!("\n{}", table.render("  "));
        }
        for remark in self.remarks() {
            text += &format!("\n  {remark}");
        }
        for note in self.machine.missing.iter().chain(&self.notes) {
            text += &format!("\n  note: {note}");
        }
        text + "\n"
    }

    /// Roles that have a column.
    pub(crate) fn roles(&self) -> Vec<Role> {
        let first = self.figures.first();
        let has = |r: &Role| first.is_some_and(|f| f.by_role.contains_key(r));
        Role::ALL.into_iter().filter(has).collect()
    }

    /// What the figures are per.
    pub(crate) fn per(&self) -> String {
        match self.unit.as_deref() {
            Some(unit) if self.units > 0 && unit.len() > LONG => "per unit".into(),
            Some(unit) if self.units > 0 => format!("per {unit}"),
            _ => "per second".into(),
        }
    }

    /// Figures for people: not what only top-down categories are made of.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &Figure> {
        let categories = self.ratios.iter().any(|r| r.name.starts_with("topdown"));
        let hidden = move |f: &&Figure| categories && topdown::is_part(&f.counter.name);
        self.figures.iter().filter(move |f| !hidden(f))
    }

    /// One row a counter: `counter,unit,total,per_second,per_second_ci95,per_unit,per_unit_ci95,ratio,ratio_ci95` and a column
    /// for each role; ratios have the last two and no others.
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "counter,unit,total,per_second,per_second_ci95,per_unit,per_unit_ci95,ratio,ratio_ci95",
        );
        for role in Role::ALL {
            text += &format!(",{}", role.title());
        }
        for figure in &self.figures {
            let unit = match figure.counter.unit {
                Unit::Nanos => "ns",
                Unit::Count => "count",
            };
            text += &format!("\n{},{unit},{}", figure.counter.name, figure.total);
            for estimate in [Some(figure.per_second), figure.per_unit] {
                text +=
                    &estimate.map_or(",,".into(), |e| format!(",{},{}", e.value, finite(e.ci95)));
            }
            text += ",,";
            text += &by_role(&figure.by_role);
        }
        for ratio in &self.ratios {
            let unit = match ratio.unit {
                Kind::Share => "share",
                Kind::Number => "number",
            };
            let Estimate { value, ci95, .. } = ratio.value;
            text += &format!("\n{},{unit},,,,,,{value},{}", ratio.name, finite(ci95));
            text += &by_role(&ratio.by_role);
        }
        text + "\n"
    }
}

fn by_role(values: &BTreeMap<Role, f64>) -> String {
    let column = |role| values.get(&role).map_or(",".into(), |v| format!(",{v}"));
    Role::ALL.into_iter().map(column).collect()
}

impl Ratio {
    /// With its unit.
    pub(crate) fn text(&self, value: f64) -> String {
        match self.unit {
            Kind::Share => share(value),
            Kind::Number => number(value),
        }
    }
}

/// As percents.
pub fn share(value: f64) -> String {
    format!("{:.1}%", 100.0 * value)
}

/// A number of the size of one.
pub fn number(value: f64) -> String {
    format!("{value:.2}")
}

fn finite(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        String::new()
    }
}

pub(crate) fn value(value: f64, figure: &Figure) -> String {
    match figure.counter.unit {
        Unit::Nanos => nanos(value),
        Unit::Count => count(value),
    }
}

/// A time with three digits that count: what one unit of work costs may be microseconds.
pub fn nanos(value: f64) -> String {
    let (value, unit) = match value {
        v if v < 1e3 => (v, "ns"),
        v if v < 1e6 => (v / 1e3, "µs"),
        v if v < 1e9 => (v / 1e6, "ms"),
        v => (v / 1e9, "s"),
    };
    let digits = match value {
        v if v == 0.0 || v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

/// Three digits that count.
pub fn count(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        v if v < 0.001 => format!("{v:.1e}"),
        v if v < 1.0 => format!("{v:.3}"),
        v if v < 100.0 => format!("{v:.1}"),
        v if v < 100_000.0 => grouped(v.round() as u64),
        v if v < 1e7 => format!("{:.0} k", v / 1e3),
        v => format!("{:.1} M", v / 1e6),
    }
}

pub(crate) fn interval(estimate: Estimate) -> String {
    if estimate.value == 0.0 {
        String::new()
    } else if estimate.ci95.is_finite() {
        format!("{:.1}%", 100.0 * estimate.relative())
    } else {
        "?".into()
    }
}

#[cfg(test)]
mod tests {
    use super::{count, nanos};

    #[test]
    fn times_have_the_digits_that_count() {
        for (value, text) in [
            (0.0, "0 ns"),
            (7_312.0, "7.31 µs"),
            (43_210.0, "43.2 µs"),
            (999_960.0, "1000 µs"),
            (954e6, "954 ms"),
            (1.12e9, "1.12 s"),
        ] {
            assert_eq!(nanos(value), text, "{value}");
        }
    }

    #[test]
    fn counts_have_the_digits_that_count() {
        for (value, text) in [
            (0.0, "0"),
            (0.0421, "0.042"),
            (7.25, "7.2"),
            (1234.0, "1,234"),
            (2_345_678.0, "2346 k"),
            (5e8, "500.0 M"),
        ] {
            assert_eq!(count(value), text, "{value}");
        }
    }
}
