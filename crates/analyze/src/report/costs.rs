//! What a request cost the machine, where counters were recorded.

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

use super::Report;
use super::page::Page;
use super::table::{Align, Table};

/// One counter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// As in the view `request_counters`.
    pub name: String,
    /// Mean of all requests.
    pub per_request: f64,
    /// Shared out by time on a CPU, not counted.
    pub estimated: bool,
}

pub(super) fn costs(db: &Connection) -> Result<Vec<Cost>> {
    let counted: i64 = db.query_row("SELECT count(*) FROM thread_counters", [], |r| r.get(0))?;
    if counted == 0 {
        return Ok(Vec::new());
    }
    let mut statement = db.prepare(
        "SELECT name, sum(value) / (SELECT count(*) FROM spans WHERE kind = 'request') AS per_request, bool_or(estimated) AS estimated
         FROM request_counters GROUP BY name HAVING per_request > 0
         ORDER BY estimated, name <> 'cpu_ns', name",
    )?;
    let costs = statement.query_map([], |r| {
        Ok(Cost {
            name: r.get(0)?,
            per_request: r.get(1)?,
            estimated: r.get(2)?,
        })
    })?;
    Ok(costs.collect::<Result<_, _>>()?)
}

impl Report {
    pub(super) fn costs(&self, out: &mut Page) {
        if self.costs.is_empty() {
            return;
        }
        out.title(
            "a request's counters",
            "mean; ~ is shared out by time on a CPU",
        );
        let mut table = Table::new([("", Align::Left), ("per request", Align::Right)]);
        for cost in &self.costs {
            let value = match cost.name.strip_suffix("_ns") {
                Some(_) => super::table::duration(cost.per_request / 1e6),
                None => super::render::significant(cost.per_request),
            };
            let name = cost.name.trim_end_matches("_ns").replace('_', " ");
            let mark = if cost.estimated { "~ " } else { "" };
            table.row([name, format!("{mark}{value}")]);
        }
        out.table(&table);
    }
}
