//! A user's own metrics: named SQL in a TOML file.
//!
//! ```toml
//! [[metric]]
//! name = "checkout, p95"
//! unit = "ms"
//! at_most = 250          # or at_least; without them it is only shown
//! sql = "SELECT quantile_cont(ms(end_ns - begin_ns), 0.95) FROM spans WHERE name = 'POST /checkout'"
//! ```
//!
//! A metric's SQL gives one number (one row, one column); null is "no value", which breaks no bound.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use loadline_trace::Trace;
use loadline_trace::duckdb::types::Value as Sql;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::query::said;

/// What `--example-metrics` prints.
pub const EXAMPLE: &str = include_str!("metrics.toml");

/// A metric as it is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// The unit of its value; may be empty.
    pub unit: String,
    /// Gives its value.
    #[serde(skip)]
    pub sql: String,
    /// Largest value that is well.
    pub at_most: Option<f64>,
    /// Smallest value that is well.
    pub at_least: Option<f64>,
    /// Where it stands: `metrics.toml:4`.
    #[serde(skip)]
    place: String,
}

/// A metric's value in a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// The metric.
    #[serde(flatten)]
    pub metric: Metric,
    /// Its value; null if there was nothing to measure.
    pub value: Option<f64>,
    /// Whether it is within its bounds.
    pub well: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    metric: Vec<Spanned<RawMetric>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMetric {
    name: String,
    #[serde(default)]
    unit: String,
    sql: String,
    at_most: Option<f64>,
    at_least: Option<f64>,
}

/// Reads metrics; errors name file and line.
pub fn load(path: &Path) -> Result<Vec<Metric>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text, &path.display().to_string())
}

fn parse(text: &str, path: &str) -> Result<Vec<Metric>> {
    let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let raw: Raw = toml::from_str(text).map_err(|e| {
        let at = e.span().map_or(0, |s| s.start);
        anyhow!("{path}:{}: {}", line(at), e.message())
    })?;
    let mut metrics: Vec<Metric> = Vec::new();
    for raw in raw.metric {
        let place = format!("{path}:{}", line(raw.span().start));
        let raw = raw.into_inner();
        for (key, value) in [("name", &raw.name), ("sql", &raw.sql)] {
            if value.trim().is_empty() {
                bail!("{place}: {key} is empty");
            }
        }
        if metrics.iter().any(|m| m.name == raw.name) {
            bail!("{place}: a metric named {:?} is there already", raw.name);
        }
        metrics.push(Metric {
            name: raw.name,
            unit: raw.unit,
            sql: raw.sql.trim().trim_end_matches(';').to_owned(),
            at_most: raw.at_most,
            at_least: raw.at_least,
            place,
        });
    }
    Ok(metrics)
}

/// Measures a trace.
pub fn measure(trace: &Trace, metrics: &[Metric]) -> Result<Vec<Measured>> {
    let db = crate::views::open(trace)?;
    let each = metrics.iter().map(|m| {
        let at = || format!("{}: metric {:?}", m.place, m.name);
        let mut statement = db.prepare(&m.sql).map_err(said).with_context(at)?;
        let mut rows = statement.query([]).map_err(said).with_context(at)?;
        let value = match rows.next().map_err(said).with_context(at)? {
            None => None,
            Some(row) if row.as_ref().column_count() != 1 => {
                bail!(
                    "{}: its SQL gives {} columns; it must give one number",
                    at(),
                    row.as_ref().column_count()
                )
            }
            Some(row) => number(row.get(0)?).map_err(|what| {
                anyhow!("{}: its SQL gives {what}; it must give one number", at())
            })?,
        };
        if rows.next().map_err(said).with_context(at)?.is_some() {
            bail!(
                "{}: its SQL gives more than one row; it must give one number",
                at()
            );
        }
        let well = value.is_none_or(|v| {
            m.at_most.is_none_or(|most| v <= most) && m.at_least.is_none_or(|least| v >= least)
        });
        Ok(Measured {
            metric: m.clone(),
            value,
            well,
        })
    });
    each.collect()
}

fn number(value: Sql) -> Result<Option<f64>, &'static str> {
    Ok(Some(match value {
        Sql::Null => return Ok(None),
        Sql::Boolean(b) => f64::from(u8::from(b)),
        Sql::TinyInt(n) => n.into(),
        Sql::SmallInt(n) => n.into(),
        Sql::Int(n) => n.into(),
        Sql::BigInt(n) => n as f64,
        Sql::HugeInt(n) => n as f64,
        Sql::UTinyInt(n) => n.into(),
        Sql::USmallInt(n) => n.into(),
        Sql::UInt(n) => n.into(),
        Sql::UBigInt(n) => n as f64,
        Sql::Float(n) => n.into(),
        Sql::Double(n) => n,
        Sql::Decimal(d) => d
            .to_string()
            .parse()
            .map_err(|_| "a decimal that is too long")?,
        Sql::Text(_) => return Err("a text"),
        _ => return Err("a value that is no number"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_can_be_read() {
        let metrics = parse(EXAMPLE, "metrics.toml").expect("it is well-formed");
        assert!(metrics.len() >= 3);
        assert_eq!(metrics[0].place, "metrics.toml:4");
    }

    #[test]
    fn errors_name_file_and_line() {
        let error = |text| parse(text, "m.toml").expect_err(text).to_string();
        assert!(error("[[metric]]\nname = \"a\"").starts_with("m.toml:1: "));
        assert!(
            error("[[metric]]\nname = \"a\"\nsql = \"SELECT 1\"\nmost = 3")
                .starts_with("m.toml:4: ")
        );
        assert_eq!(
            error("\n[[metric]]\nname = \"a\"\nsql = \" \""),
            "m.toml:2: sql is empty"
        );
        let twice = "[[metric]]\nname = \"a\"\nsql = \"SELECT 1\"\n";
        assert!(error(&format!("{twice}{twice}")).starts_with("m.toml:4: a metric named \"a\""));
    }
}
