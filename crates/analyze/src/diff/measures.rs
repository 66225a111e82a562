//! The parts of every measure of a recording, read with SQL.

use std::collections::BTreeMap;

use anyhow::Result;
use loadline_trace::Trace;
use loadline_trace::duckdb::Connection;

use super::Recording;
use super::breakdown::{self, Sums};
use super::judge::Part;
use crate::views;

/// Parts of a recording per measure of requests: enough for its batches, and few enough to hold.
const PARTS: i64 = 64;
/// Parts per measure of occurrences: those of what is rare are single ones.
const SINGLE: i64 = 256;

/// Kind, name and unit of a measure.
pub type Key = (&'static str, String, &'static str);

/// Kind, unit, and SQL of `name, begin_ns, ms`.
type Question = (&'static str, &'static str, &'static str);

/// The parts of a measure in a recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// In the order of time.
    pub parts: Vec<Part>,
    /// Occurrences behind them: calls, waits, samples.
    pub seen: f64,
}

/// A recording and its measures.
pub struct Read {
    pub recording: Recording,
    /// What occurred.
    pub parts: BTreeMap<Key, Parts>,
    /// Per kind and unit of those measures that are shares of something, the parts of one that did not occur.
    pub nothing: BTreeMap<(&'static str, &'static str), Vec<Part>>,
    pub breakdown: Sums,
}

/// Measures whose occurrences are rows with a duration: kind, unit, and SQL of `name, begin_ns, ms`.
const PER_OCCURRENCE: [Question; 5] = [
    (
        "endpoint",
        "ms per request",
        "SELECT request_type(name) AS name, begin_ns, ms(end_ns - begin_ns) AS ms FROM spans WHERE kind = 'request' AND complete",
    ),
    (
        "sql",
        "ms per call",
        "SELECT name, begin_ns, ms(end_ns - begin_ns) AS ms FROM spans WHERE kind = 'sql' AND complete",
    ),
    (
        "service called",
        "ms per call",
        "SELECT name, begin_ns, ms(end_ns - begin_ns) AS ms FROM spans WHERE kind = 'call' AND complete",
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
const PER_REQUEST: [Question; 5] = [
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
    (CODE, "ms of CPU per request", CPU),
    (
        WAITING,
        "ms per request",
        "SELECT code AS name, begin_ns, ms(end_ns - begin_ns) AS ms FROM wait_code WHERE request IS NOT NULL",
    ),
];

/// What ran on a CPU, by the innermost method that is not the JDK's.
pub const CODE: &str = "code";
/// What requests waited in, likewise, where the stacks of waits were taken.
pub const WAITING: &str = "waiting in";
const CPU: &str = "SELECT c.code AS name, s.ts_ns AS begin_ns, ms(s.weight) AS ms FROM samples s JOIN stack_code c USING (stack) WHERE s.kind = 'cpu'";
/// Of a recording without requests: its samples as shares of time.
const PER_TIME: Question = (CODE, "% of a CPU", CPU);
/// What they are counted in, ms: so that a mean is per cent.
const PER_CENT_MS: f64 = 100.0;

/// Reads a recording.
pub fn read(trace: &Trace) -> Result<Read> {
    let db = views::open(trace)?;
    let mut parts = BTreeMap::new();
    for (kind, unit, rows) in PER_OCCURRENCE {
        // Parts of equally many occurrences.
        let sql = format!(
            "SELECT name, sum(ms), count(*)::DOUBLE, count(*)::DOUBLE FROM
               (SELECT name, ms, ntile({SINGLE}) OVER (PARTITION BY name ORDER BY begin_ns) AS tile FROM ({rows}))
             GROUP BY name, tile ORDER BY name, tile"
        );
        collect(&db, &sql, kind, unit, &mut parts)?;
    }
    let (shares, of) = shares(&db, trace)?;
    let none: Vec<Part> = second(&db, &of)?.into_iter().map(|n| (0.0, n)).collect();
    let mut nothing = BTreeMap::new();
    let tile = tile(trace);
    for (kind, unit, rows) in shares {
        // Parts of equal time; one in which this did not occur counts.
        let sql = format!(
            "WITH v AS (SELECT name, {tile} AS tile, sum(ms) AS ms, count(*) AS seen FROM ({rows}) GROUP BY ALL),
                  names AS (SELECT DISTINCT name FROM v), tiles AS ({of})
             SELECT names.name, coalesce(v.ms, 0.0), n, coalesce(v.seen, 0)::DOUBLE FROM names CROSS JOIN tiles
             LEFT JOIN v ON v.name = names.name AND v.tile = tiles.tile ORDER BY names.name, tiles.tile"
        );
        collect(&db, &sql, kind, unit, &mut parts)?;
        nothing.insert((kind, unit), none.clone());
    }
    Ok(Read {
        recording: recording(&db, trace)?,
        breakdown: breakdown::read(&db)?,
        parts,
        nothing,
    })
}

/// The part of a recording that `begin_ns` lies in, in SQL.
fn tile(trace: &Trace) -> String {
    let length = trace.meta.duration_ns().max(1);
    format!(
        "least(greatest(((begin_ns - {}) * {PARTS}) // {length}, 0), {PARTS} - 1)",
        trace.meta.begin_ns
    )
}

/// The measures that are shares of this recording's requests or, without any, of its time; and SQL of what each part of it
/// has of those: `tile, n`, in order.
fn shares(db: &Connection, trace: &Trace) -> Result<(Vec<Question>, String)> {
    if requests(db)? == 0 {
        let each = trace.meta.duration_ns() as f64 / 1e6 / PARTS as f64 / PER_CENT_MS;
        let of =
            format!("SELECT range AS tile, {each}::DOUBLE AS n FROM range({PARTS}) ORDER BY tile");
        return Ok((vec![PER_TIME], of));
    }
    let tile = tile(trace);
    let of = format!(
        "SELECT range AS tile, coalesce(n, 0.0) AS n FROM range({PARTS}) LEFT JOIN
           (SELECT {tile} AS tile, count(*)::DOUBLE AS n FROM spans WHERE kind = 'request' AND complete GROUP BY 1) ON tile = range
         ORDER BY 1"
    );
    Ok((PER_REQUEST.to_vec(), of))
}

fn requests(db: &Connection) -> Result<i64> {
    let sql = "SELECT count(*) FROM spans WHERE kind = 'request' AND complete";
    Ok(db.query_row(sql, [], |r| r.get(0))?)
}

fn recording(db: &Connection, trace: &Trace) -> Result<Recording> {
    let grown = |scope: &str, name: &str| -> Result<Option<f64>> {
        Ok(db.query_row(
            "SELECT max(value) - min(value) FROM counters WHERE scope = ? AND name = ?",
            [scope, name],
            |r| r.get(0),
        )?)
    };
    let machine = trace.meta.seconds().max(1e-9) * f64::from(trace.meta.machine.cpus.max(1));
    Ok(Recording {
        trace: trace.dir.display().to_string(),
        seconds: trace.meta.seconds(),
        requests_per_s: requests(db)? as f64 / trace.meta.seconds().max(1e-9),
        others: grown("machine", "others_seconds")?.map(|s| s / machine),
        steal: grown("machine", "steal_seconds")?.map(|s| s / machine),
    })
}

/// Rows of `name, sum, count, seen`, those of a name together and in the order of time.
fn collect(
    db: &Connection,
    sql: &str,
    kind: &'static str,
    unit: &'static str,
    into: &mut BTreeMap<Key, Parts>,
) -> Result<()> {
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |r| {
        Ok((
            r.get::<_, String>(0)?,
            (r.get(1)?, r.get(2)?),
            r.get::<_, f64>(3)?,
        ))
    })?;
    for row in rows {
        let (name, part, seen) = row?;
        let of = into.entry((kind, name, unit)).or_default();
        of.parts.push(part);
        of.seen += seen;
    }
    Ok(())
}

/// The second column.
fn second(db: &Connection, sql: &str) -> Result<Vec<f64>> {
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |r| r.get(1))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
