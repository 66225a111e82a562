//! The parts of every measure of a recording, read with SQL.

use std::collections::BTreeMap;

use anyhow::Result;
use loadline_trace::Trace;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

use super::Recording;
use super::judge::{Measure, Part, Side};

/// Parts of a recording per measure of requests: enough for its batches, and few enough to hold.
const PARTS: i64 = 64;
/// Parts per measure of occurrences: those of what is rare are single ones.
const SINGLE: i64 = 256;

/// Occurrences from which on something that only one side has is no coincidence.
const FEWEST_ALONE: f64 = 30.0;

/// What occurred on one side only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lone {
    /// As of [`Measure`].
    pub kind: &'static str,
    /// Which one.
    pub name: String,
    /// `ms per request`, …
    pub unit: &'static str,
    /// Mean in that unit.
    pub mean: f64,
    /// All together, ms.
    pub total_ms: f64,
}

/// Kind, name and unit of a measure.
type Key = (&'static str, String, &'static str);

/// A recording and its measures.
pub struct Read {
    pub recording: Recording,
    parts: BTreeMap<Key, Vec<Part>>,
}

/// Measures whose occurrences are rows with a duration: kind, unit, and SQL of `name, begin_ns, ms`.
const PER_OCCURRENCE: [(&str, &str, &str); 4] = [
    (
        "endpoint",
        "ms per request",
        "SELECT name, begin_ns, ms(end_ns - begin_ns) AS ms FROM spans WHERE kind = 'request' AND complete",
    ),
    (
        "sql",
        "ms per call",
        "SELECT name, begin_ns, ms(end_ns - begin_ns) AS ms FROM spans WHERE kind = 'sql' AND complete",
    ),
    (
        "handshake",
        "ms per handshake",
        "SELECT name, begin_ns, ms(end_ns - begin_ns) AS ms FROM spans WHERE kind = 'tls_handshake' AND complete",
    ),
    (
        "vm",
        "ms per pause",
        "SELECT kind AS name, begin_ns, ms(end_ns - begin_ns) AS ms FROM vm WHERE kind IN ('gc', 'safepoint')",
    ),
];

/// Measures that are shares of all requests: kind, unit, and SQL of `name, begin_ns, ms`, per request.
const PER_REQUEST: [(&str, &str, &str); 3] = [
    (
        "phase",
        "ms per request",
        "SELECT b.phase AS name, s.begin_ns, ms(b.duration_ns) AS ms FROM breakdown b JOIN spans s ON s.id = b.span
         WHERE b.kind = 'request' AND s.complete AND b.phase <> 'idle'",
    ),
    (
        "cause",
        "ms per request",
        "SELECT b.cause AS name, s.begin_ns, ms(b.duration_ns) AS ms FROM breakdown b JOIN spans s ON s.id = b.span
         WHERE b.kind = 'request' AND s.complete",
    ),
    (
        "lock",
        "ms per request",
        "SELECT class AS name, begin_ns, ms(end_ns - begin_ns) AS ms FROM waits
         WHERE class IS NOT NULL AND (kind = 'monitor_enter' OR (kind = 'park' AND owner IS NOT NULL))",
    ),
];

/// Reads a recording.
pub fn read(trace: &Trace) -> Result<Read> {
    let db = trace.sql()?;
    let mut parts = BTreeMap::new();
    for (kind, unit, rows) in PER_OCCURRENCE {
        // Parts of equally many occurrences.
        let sql = format!(
            "SELECT name, tile, sum(ms), count(*)::DOUBLE FROM
               (SELECT name, ms, ntile({SINGLE}) OVER (PARTITION BY name ORDER BY begin_ns) AS tile FROM ({rows}))
             GROUP BY ALL ORDER BY name, tile"
        );
        collect(&db, &sql, kind, unit, &mut parts)?;
    }
    let requests: i64 = db.query_row(
        "SELECT count(*) FROM spans WHERE kind = 'request' AND complete",
        [],
        |r| r.get(0),
    )?;
    if requests > 0 {
        let length = trace.meta.duration_ns().max(1);
        let tile = format!(
            "least(((begin_ns - {}) * {PARTS}) // {length}, {PARTS} - 1)",
            trace.meta.begin_ns
        );
        for (kind, unit, rows) in PER_REQUEST {
            // Parts of equal time; one without this cause, but with requests, counts.
            let sql = format!(
                "WITH r AS (SELECT {tile} AS tile, count(*)::DOUBLE AS n FROM spans WHERE kind = 'request' AND complete GROUP BY 1),
                      v AS (SELECT name, {tile} AS tile, sum(ms) AS ms FROM ({rows}) GROUP BY ALL),
                      names AS (SELECT DISTINCT name FROM v)
                 SELECT names.name, r.tile, coalesce(v.ms, 0.0), r.n FROM names CROSS JOIN r
                 LEFT JOIN v ON v.name = names.name AND v.tile = r.tile ORDER BY 1, 2"
            );
            collect(&db, &sql, kind, unit, &mut parts)?;
        }
    }
    let grown = |scope: &str, name: &str| -> Result<Option<f64>> {
        Ok(db.query_row(
            "SELECT max(value) - min(value) FROM counters WHERE scope = ? AND name = ?",
            [scope, name],
            |r| r.get(0),
        )?)
    };
    let machine = trace.meta.seconds().max(1e-9) * f64::from(trace.meta.machine.cpus.max(1));
    let recording = Recording {
        trace: trace.dir.display().to_string(),
        seconds: trace.meta.seconds(),
        requests_per_s: requests as f64 / trace.meta.seconds().max(1e-9),
        others: grown("machine", "others_seconds")?.map(|s| s / machine),
        steal: grown("machine", "steal_seconds")?.map(|s| s / machine),
    };
    Ok(Read { recording, parts })
}

fn collect(
    db: &Connection,
    sql: &str,
    kind: &'static str,
    unit: &'static str,
    into: &mut BTreeMap<Key, Vec<Part>>,
) -> Result<()> {
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |r| {
        Ok((
            r.get::<_, String>(0)?,
            (r.get::<_, f64>(2)?, r.get::<_, f64>(3)?),
        ))
    })?;
    for row in rows {
        let (name, part) = row?;
        into.entry((kind, name, unit)).or_default().push(part);
    }
    Ok(())
}

/// Measures that both sides have, and what only one has.
pub fn pair(a: Vec<Read>, b: Vec<Read>) -> (Vec<Measure>, [Vec<Lone>; 2]) {
    let mut all: BTreeMap<Key, [Side; 2]> = BTreeMap::new();
    for (side, reads) in [a, b].into_iter().enumerate() {
        for read in reads {
            for (key, parts) in read.parts {
                all.entry(key).or_default()[side].0.push(parts);
            }
        }
    }
    let mut both = Vec::new();
    let mut lone = [Vec::new(), Vec::new()];
    for ((kind, name, unit), sides) in all {
        match sides.iter().position(|s| s.0.is_empty()) {
            None => both.push(Measure {
                kind,
                name,
                unit,
                sides,
            }),
            Some(missing) => {
                let there = 1 - missing;
                let (ms, count) = sides[there]
                    .0
                    .iter()
                    .flatten()
                    .fold((0.0, 0.0), |(ms, n), part| (ms + part.0, n + part.1));
                if count >= FEWEST_ALONE {
                    lone[there].push(Lone {
                        kind,
                        name,
                        unit,
                        mean: ms / count,
                        total_ms: ms,
                    });
                }
            }
        }
    }
    for side in &mut lone {
        side.sort_by(|x, y| y.total_ms.total_cmp(&x.total_ms));
    }
    (both, lone)
}
