//! Two counts side by side: which figures differ by more than their intervals allow.

use anyhow::{Context, Result, bail};
use loadline_analyze::report::table::{Align, Table};
use serde_json::Value;

use crate::text::{count, nanos, number, share};
use crate::topdown;

/// A figure of one count, as its JSON has it.
struct Read {
    title: String,
    unit: String,
    value: f64,
    /// Half of the 95% interval; infinite if it was too short to tell.
    ci95: f64,
}

/// The table of `a` and `b`, both as `loadline counters --json` printed them, named as given.
///
/// Differs: the intervals of the difference (their halves in quadrature, as of independent means) leaves zero out.
pub fn compare(a: (&str, &Value), b: (&str, &Value)) -> Result<String> {
    let unit = |(name, v): (&str, &Value)| -> Result<String> {
        let units = v["units"].as_u64().with_context(|| {
            format!("{name} is not what `loadline counters --json` prints: it has no units")
        })?;
        Ok(match v["unit"].as_str() {
            Some(unit) if units > 0 => unit.to_owned(),
            _ => "second".to_owned(),
        })
    };
    let (per_a, per_b) = (unit(a)?, unit(b)?);
    if per_a != per_b {
        bail!(
            "{} counts per {per_a} and {} per {per_b}: count both with the same --unit",
            a.0,
            b.0
        );
    }
    let (left, right) = (figures(a)?, figures(b)?);
    let per = format!("per {per_a}");
    let mut table = Table::new([
        (per.as_str(), Align::Left),
        (a.0, Align::Right),
        (b.0, Align::Right),
        ("ratio", Align::Right),
        ("", Align::Left),
    ]);
    for x in &left {
        let Some(y) = right.iter().find(|y| y.title == x.title) else {
            continue;
        };
        let show = |r: &Read| match r.unit.as_str() {
            "nanos" => nanos(r.value),
            "share" => share(r.value),
            "number" => number(r.value),
            _ => count(r.value),
        };
        let ratio = if x.value > 0.0 {
            format!("{:.2}", y.value / x.value)
        } else {
            "-".into()
        };
        let verdict = if differs(x, y) { "differs" } else { "" };
        table.row([x.title.clone(), show(x), show(y), ratio, verdict.into()]);
    }
    Ok(table.render("  "))
}

fn differs(x: &Read, y: &Read) -> bool {
    let half = x.ci95.hypot(y.ci95);
    half.is_finite() && (x.value - y.value).abs() > half
}

fn figures((name, count): (&str, &Value)) -> Result<Vec<Read>> {
    let rows = count["figures"].as_array().with_context(|| {
        format!("{name} is not what `loadline counters --json` prints: it has no figures")
    })?;
    // Counts of an older version have no ratios.
    let ratios = count["ratios"].as_array().into_iter().flatten();
    rows.iter()
        .chain(ratios)
        .filter(|row| !row["name"].as_str().is_some_and(topdown::is_part))
        .map(|row| {
            let estimate = ["value", "per_unit", "per_second"]
                .map(|key| &row[key])
                .into_iter()
                .find(|estimate| estimate.is_object())?;
            Some(Read {
                title: row["title"].as_str()?.to_owned(),
                unit: row["unit"].as_str()?.to_owned(),
                value: estimate["value"].as_f64()?,
                ci95: estimate["ci95"].as_f64().unwrap_or(f64::INFINITY),
            })
        })
        .collect::<Option<_>>()
        .with_context(|| format!("{name}: a figure lacks its title, unit or value"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn counted(unit: Option<&str>, cpu: f64, ci95: f64) -> Value {
        json!({"unit": unit, "units": if unit.is_some() { 9 } else { 0 }, "figures": [
            {"name": "cpu_ns", "title": "CPU time", "unit": "nanos", "per_second": {"value": cpu, "ci95": ci95}, "per_unit": null}]})
    }

    #[test]
    fn only_what_is_more_than_noise_differs() {
        let table = |b, ci| {
            compare(
                ("a", &counted(None, 1e6, 5e4)),
                ("b", &counted(None, b, ci)),
            )
            .unwrap()
        };
        assert!(table(1.2e6, 5e4).contains("differs"));
        assert!(!table(1.05e6, 5e4).contains("differs"));
        assert!(
            !table(9e6, f64::INFINITY).contains("differs"),
            "too short to tell"
        );
        assert!(table(1.2e6, 5e4).contains("1.20"));
    }

    #[test]
    fn ratios_are_compared_as_what_they_are() {
        let with = |ipc: f64| {
            let mut count = counted(None, 1e6, 1e3);
            count["ratios"] = json!([
                {"name": "ipc_user", "title": "instructions per cycle, user", "unit": "number", "value": {"value": ipc, "ci95": 0.1}},
                {"name": "topdown_retiring_share", "title": "slots: retiring", "unit": "share", "value": {"value": 0.25, "ci95": 0.01}}]);
            count
        };
        let table = compare(("a", &with(1.5)), ("b", &with(0.75))).unwrap();
        let row = |title: &str| {
            table
                .lines()
                .find(|l| l.contains(title))
                .unwrap()
                .to_owned()
        };
        let ipc = row("instructions per cycle");
        assert!(
            ipc.contains("1.50") && ipc.contains("0.50") && ipc.contains("differs"),
            "{ipc}"
        );
        assert!(row("retiring").contains("25.0%") && !row("retiring").contains("differs"));
        // One of them is older and has none: what both have is compared.
        assert!(
            !compare(("a", &with(1.5)), ("b", &counted(None, 1e6, 1e3)))
                .unwrap()
                .contains("per cycle")
        );
    }

    #[test]
    fn counts_of_different_units_are_not_compared() {
        let e = compare(
            ("a", &counted(Some("request"), 1.0, 0.1)),
            ("b", &counted(None, 1.0, 0.1)),
        )
        .unwrap_err();
        assert!(
            e.to_string().contains("per request and b per second"),
            "{e}"
        );
        assert!(compare(("a", &json!({})), ("b", &json!({}))).is_err());
    }
}
