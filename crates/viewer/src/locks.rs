//! What threads waited for of each other: locks, their waits and holds, and what their owners did meanwhile.
//!
//! All figures are those of the views `locks`, `lock_holds` and `lock_owners`, of a range of time: waits and holds are cut to
//! it. A lock that nobody waited for then is not here.

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use crate::confined::Session;
use crate::model::Model;

/// What one row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// All locks of a class.
    Class = 0,
    /// One object.
    Object = 1,
}

/// Rows at most.
const MAX_LOCKS: usize = 500;

/// Locks, and how many there are whether told or not.
#[derive(Debug, Serialize)]
pub struct Locks {
    total: i64,
    locks: Vec<Lock>,
}

/// A lock, or all of a class. Times are ns; moments since the recording began.
#[derive(Debug, Serialize)]
pub struct Lock {
    class: Option<String>,
    object: Option<i64>,
    /// Objects of the class that were waited for.
    objects: i64,
    /// monitor, or lock (of `java.util.concurrent`).
    kind: String,
    waits: i64,
    wait_ns: i64,
    longest_ns: i64,
    /// Threads that waited.
    waiters: i64,
    /// Most threads that waited at a time, and when.
    convoy: i64,
    convoy_at: i64,
    /// Times that it was held while somebody waited, and how long.
    holds: i64,
    held_ns: i64,
    longest_hold_ns: i64,
    /// Who held it longest while others waited, and for what part of that time.
    owner: Option<String>,
    owner_ns: i64,
    owners: i64,
    /// What its owners did while others waited: running, runnable, lock, I/O, other.
    meanwhile: [i64; 5],
    /// The longest wait: thread, begin, end.
    longest: (i64, i64, i64),
}

/// The locks that threads waited for within `[begin, end)`, longest first.
pub fn locks(model: &Model, sql: Session<'_>, by: By, (begin, end): (i64, i64)) -> Result<Locks> {
    let zero = model.meta.begin_ns;
    let (from, to) = (zero.saturating_add(begin), zero.saturating_add(end));
    let cut = |rows: &str| {
        format!(
            "SELECT * REPLACE (greatest(begin_ns, {from}) AS begin_ns, least(end_ns, {to}) AS end_ns)
             FROM {rows} WHERE begin_ns < {to} AND end_ns > {from}"
        )
    };
    let waits_of = cut("lock_waits");
    let holds_of = cut(&format!("lock_holds_within({from}, {to})"));
    let object = match by {
        By::Class => "NULL::BIGINT",
        By::Object => "object",
    };
    let same = |a: &str| {
        format!(
            "{a}.class IS NOT DISTINCT FROM w.class AND {a}.object IS NOT DISTINCT FROM w.object"
        )
    };
    let answer = sql.own(&format!(
        "WITH waits_within AS ({waits_of}),
         w AS (
            SELECT class, {object} AS object, count(DISTINCT object) AS objects, if(mode(kind) = 'park', 'lock', 'monitor') AS kind,
                   count(*) AS waits, sum(end_ns - begin_ns)::BIGINT AS wait_ns, max(end_ns - begin_ns) AS longest_ns, count(DISTINCT thread) AS waiters,
                   arg_max(thread, end_ns - begin_ns) AS thread, arg_max(begin_ns, end_ns - begin_ns) AS longest_begin, arg_max(end_ns, end_ns - begin_ns) AS longest_end
            FROM waits_within GROUP BY ALL),
         steps AS (
            SELECT class, object, begin_ns AS ts, 1 AS step FROM waits_within UNION ALL SELECT class, object, end_ns, -1 FROM waits_within),
         open AS (SELECT class, object, ts, sum(step) OVER (PARTITION BY class, object ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS waiting FROM steps),
         convoys AS (SELECT class, {object} AS object, max(waiting)::BIGINT AS convoy, arg_max(ts, waiting) AS convoy_at FROM open GROUP BY ALL),
         holds AS (SELECT class, {object} AS object, owner, end_ns - begin_ns AS ns FROM ({holds_of}) WHERE end_ns > begin_ns),
         held AS (SELECT class, object, count(*) AS holds, sum(ns)::BIGINT AS held_ns, max(ns) AS longest_hold_ns, count(DISTINCT owner) AS owners FROM holds GROUP BY ALL),
         of_owner AS (SELECT class, object, owner, sum(ns)::BIGINT AS ns FROM holds WHERE owner IS NOT NULL GROUP BY ALL),
         top AS (SELECT class, object, arg_max(owner, ns) AS owner, max(ns) AS ns FROM of_owner GROUP BY ALL),
         did AS (SELECT class, {object} AS object, sum(running_ns)::BIGINT AS a, sum(runnable_ns)::BIGINT AS b, sum(lock_ns)::BIGINT AS c,
                        sum(io_ns)::BIGINT AS d, sum(gc_ns + other_ns)::BIGINT AS e FROM lock_owners_within({from}, {to}) GROUP BY ALL)
         SELECT w.class, w.object, w.objects, w.kind, w.waits, w.wait_ns, w.longest_ns, w.waiters, c.convoy, c.convoy_at - {zero},
                coalesce(h.holds, 0), coalesce(h.held_ns, 0), coalesce(h.longest_hold_ns, 0), t.name, coalesce(o.ns, 0), coalesce(h.owners, 0),
                coalesce(d.a, 0), coalesce(d.b, 0), coalesce(d.c, 0), coalesce(d.d, 0), coalesce(d.e, 0),
                w.thread, w.longest_begin - {zero}, w.longest_end - {zero}, count(*) OVER ()
         FROM w JOIN convoys c ON {} LEFT JOIN held h ON {} LEFT JOIN top o ON {} LEFT JOIN threads t ON t.id = o.owner LEFT JOIN did d ON {}
         ORDER BY w.wait_ns DESC, w.class, w.object LIMIT {MAX_LOCKS}",
        same("c"), same("h"), same("o"), same("d"),
    ))?;
    let number = |v: &Value| v.as_i64().unwrap_or_default();
    let text = |v: &Value| v.as_str().map(String::from);
    let total = answer.rows.first().map_or(0, |r| number(&r[24]));
    let lock = |r: &Vec<Value>| Lock {
        class: text(&r[0]),
        object: r[1].as_i64(),
        objects: number(&r[2]),
        kind: text(&r[3]).unwrap_or_default(),
        waits: number(&r[4]),
        wait_ns: number(&r[5]),
        longest_ns: number(&r[6]),
        waiters: number(&r[7]),
        convoy: number(&r[8]),
        convoy_at: number(&r[9]),
        holds: number(&r[10]),
        held_ns: number(&r[11]),
        longest_hold_ns: number(&r[12]),
        owner: text(&r[13]),
        owner_ns: number(&r[14]),
        owners: number(&r[15]),
        meanwhile: [16, 17, 18, 19, 20].map(|i| number(&r[i])),
        longest: (number(&r[21]), number(&r[22]), number(&r[23])),
    };
    Ok(Locks {
        total,
        locks: answer.rows.iter().map(lock).collect(),
    })
}
