//! What a recording says of a closed program: its units of work as a load, and what its threads did for one.

use std::path::Path;

use anyhow::{Context, Result};
use loadline_analyze::units::{self, Choice};
use loadline_trace::Trace;

use super::{ByCause, CAUSES, PhaseTime, Side};
use crate::measured::{Load, Quantiles, Second};

/// Throughput and response times of the units of work `asked` for (none: those that suit), second by second; the inner
/// error says why there are none.
pub fn load(dir: &Path, asked: &[String]) -> Result<std::result::Result<Load, String>> {
    let trace = Trace::open(dir)?;
    let names = match units::choose(&trace, asked)? {
        Choice::Names(names) => names,
        Choice::None(why) => return Ok(Err(why)),
    };
    let which = units::is_one_of(&names);
    let done = format!(
        "SELECT (end_ns - begin_ns) / 1e6 AS ms, ((end_ns - {}) // 1000000000)::BIGINT AS second FROM ({}) WHERE {which}",
        trace.meta.begin_ns,
        units::DONE
    );
    let quantiles = |p: f64| format!("coalesce(quantile_cont(ms, {p}), 0)::DOUBLE");
    let db = trace.sql()?;
    let response = db
        .query_row(
            &format!(
                "SELECT count(*), coalesce(avg(ms), 0)::DOUBLE, {}, {}, {}, {}, coalesce(max(ms), 0)::DOUBLE FROM ({done})",
                quantiles(0.5),
                quantiles(0.9),
                quantiles(0.95),
                quantiles(0.99)
            ),
            [],
            |r| {
                Ok(Quantiles {
                    count: r.get::<_, i64>(0)?.max(0) as u64,
                    mean_ms: r.get(1)?,
                    p50_ms: r.get(2)?,
                    p90_ms: r.get(3)?,
                    p95_ms: r.get(4)?,
                    p99_ms: r.get(5)?,
                    max_ms: r.get(6)?,
                })
            },
        )
        .with_context(|| format!("cannot count the units of work in {}", dir.display()))?;
    let seconds = trace.meta.seconds();
    let mut statement = db.prepare(&format!(
        "SELECT second, count(*), {}, {}, {} FROM ({done}) GROUP BY second ORDER BY second",
        quantiles(0.5),
        quantiles(0.95),
        quantiles(0.99)
    ))?;
    let rows = statement.query_map([], |r| {
        Ok((
            r.get::<_, i64>(0)?,
            Second {
                goodput: r.get::<_, i64>(1)?.max(0) as u64,
                failures: 0,
                p50_ms: r.get(2)?,
                p95_ms: r.get(3)?,
                p99_ms: r.get(4)?,
            },
        ))
    })?;
    // Whole seconds only; one in which nothing ended is one of nothing.
    let mut series = vec![Second::default(); seconds.floor() as usize];
    for row in rows {
        let (at, second) = row?;
        if let Some(place) = usize::try_from(at).ok().and_then(|at| series.get_mut(at)) {
            *place = second;
        }
    }
    Ok(Ok(Load {
        seconds,
        replies: response.count,
        replies_per_s: response.count as f64 / seconds.max(1e-3),
        response,
        series,
        ..Load::default()
    }))
}

/// A recording on one side of the load line: what the application's threads did, per unit of work.
pub fn side(dir: &Path, asked: &[String], rate: f64, load: Load, skip_s: f64) -> Result<Side> {
    let mut side = super::read(dir, rate, load, skip_s)?;
    let trace = Trace::open(dir)?;
    let from = trace.meta.begin_ns + (1e9 * skip_s) as i64;
    let Choice::Names(names) = units::choose(&trace, asked)? else {
        return Ok(side);
    };
    let db = trace.sql()?;
    let n: i64 = db.query_row(
        &format!(
            "SELECT count(*) FROM ({}) WHERE {} AND end_ns >= {from}",
            units::DONE,
            units::is_one_of(&names)
        ),
        [],
        |r| r.get(0),
    )?;
    // Of a carrier only what it does without a virtual thread: the rest is that thread's own.
    let mut statement = db.prepare(&format!(
        "SELECT s.cause, sum(s.end_ns - greatest(s.begin_ns, {from}))::DOUBLE / 1e6 FROM states s JOIN threads t ON t.id = s.thread
         WHERE t.kind IN ('platform', 'virtual', 'carrier') AND s.state <> 'carrying' AND s.end_ns > {from} GROUP BY s.cause"
    ))?;
    let rows = statement.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get::<_, f64>(1)?)))?;
    let mut ms = ByCause::new();
    for row in rows {
        let (cause, all) = row?;
        // Threads without work wait for it, which is no part of a unit.
        if cause == "idle" || cause == "socket" {
            continue;
        }
        let cause = if CAUSES.contains(&cause.as_str()) {
            cause
        } else {
            "other".into()
        };
        *ms.entry(cause).or_default() += all / n.max(1) as f64;
    }
    side.phases = CAUSES
        .iter()
        .filter_map(|cause| {
            let of = *ms.get(*cause).filter(|ms| **ms > 0.0)?;
            Some(PhaseTime {
                label: format!("threads, {cause}"),
                ms: [((*cause).to_owned(), of)].into(),
            })
        })
        .collect();
    Ok(side)
}
