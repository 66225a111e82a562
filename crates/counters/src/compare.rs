//! Two counts side by side: which figures differ by more than their intervals allow.

use anyhow::{Context, Result, bail};
use loadline_analyze::report::table::{Align, Table};
use serde_json::Value;

use crate::text::{count, nanos};

/// A figure of one count, as its JSON has it.
struct Read {
    title: String,
    nanos: bool,
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
        let show = |r: &Read| {
            if r.nanos {
                nanos(r.value)
            } else {
                count(r.value)
            }
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
    rows.iter()
        .map(|row| {
            let estimate = if row["per_unit"].is_object() {
                &row["per_unit"]
            } else {
                &row["per_second"]
            };
            Some(Read {
                title: row["title"].as_str()?.to_owned(),
                nanos: row["unit"].as_str()? == "nanos",
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
