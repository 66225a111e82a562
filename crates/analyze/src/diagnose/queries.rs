//! The SQL behind the figures, numbered, so that a reader can run what was run (`loadline query`).
//!
//! Each is one statement over the tables of the trace and the views of [`crate::views`]; none needs
//! a parameter.

use serde::Serialize;

/// A query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Query {
    /// Its name.
    pub name: &'static str,
    /// One statement.
    pub sql: &'static str,
}

/// The number of a query, from 1.
pub fn number(name: &str) -> Option<usize> {
    ALL.iter().position(|q| q.name == name).map(|i| i + 1)
}

/// The SQL of a query that there is.
pub fn sql(name: &str) -> &'static str {
    let known = ALL.iter().find(|q| q.name == name);
    known.map_or("", |q| q.sql)
}

/// All of them.
pub const ALL: &[Query] = &[
    Query {
        name: "time",
        sql: "SELECT phase, cause, sum(duration_ns)::BIGINT AS ns
FROM breakdown
WHERE kind IN ('request', 'tls_handshake') OR (kind = 'connection' AND phase = 'idle' AND cause = 'queue')
GROUP BY ALL ORDER BY ns DESC",
    },
    Query {
        name: "requests",
        sql: "SELECT count(*) FILTER (complete) AS n,
  coalesce(quantile_cont(ms(end_ns - begin_ns), 0.5) FILTER (complete), 0) AS p50,
  coalesce(quantile_cont(ms(end_ns - begin_ns), 0.95) FILTER (complete), 0) AS p95,
  coalesce(quantile_cont(ms(end_ns - begin_ns), 0.99) FILTER (complete), 0) AS p99,
  count(*) FILTER (complete AND status >= 500) AS server_errors,
  count(*) FILTER (open AND end_ns - begin_ns > 1000000000) AS hanging,
  arg_max(begin_ns, end_ns - begin_ns) AS slowest
FROM spans WHERE kind = 'request'",
    },
    Query {
        name: "endpoints",
        sql: "WITH r AS (SELECT id, request_type(name) AS name, begin_ns, end_ns FROM spans WHERE kind = 'request'),
  b AS (SELECT span, sum(duration_ns) FILTER (cause = 'running') AS running FROM breakdown WHERE kind = 'request' GROUP BY span)
SELECT name, count(*) AS n, median(ms(end_ns - begin_ns)) AS p50, avg(ms(coalesce(running, 0))) AS running,
  sum(end_ns - begin_ns) / sum(sum(end_ns - begin_ns)) OVER () AS share, arg_max(begin_ns, end_ns - begin_ns) AS slowest
FROM r LEFT JOIN b ON b.span = r.id GROUP BY name ORDER BY share DESC LIMIT 40",
    },
    Query {
        name: "services",
        sql: "WITH w AS (SELECT thread, count(*) AS n, avg(ms(end_ns - begin_ns)) AS mean, arg_max(begin_ns, end_ns - begin_ns) AS longest
  FROM spans WHERE kind = 'service' GROUP BY thread)
SELECT t.name, w.n, w.mean, (SELECT median(o.mean) FROM w o WHERE o.thread <> w.thread) AS peers, w.longest
FROM w JOIN threads t ON t.id = w.thread ORDER BY w.mean DESC LIMIT 1",
    },
    Query {
        name: "cpu",
        sql: "SELECT t.kind, s.cpu, sum(s.end_ns - s.begin_ns) / 1e9 AS seconds
FROM states s JOIN threads t ON t.id = s.thread WHERE s.state = 'running' GROUP BY ALL ORDER BY seconds DESC",
    },
    Query {
        name: "starved",
        sql: "WITH own AS (SELECT s.state, s.cpu, s.begin_ns, s.end_ns FROM states s JOIN threads t ON t.id = s.thread WHERE t.tid IS NOT NULL AND s.state IN ('running', 'runnable', 'preempted')),
  ran AS (SELECT cpu, sum(end_ns - begin_ns) AS ns FROM own WHERE state = 'running' GROUP BY cpu),
  cpus AS (SELECT count(*) AS n FROM ran WHERE ns > 0.01 * (SELECT sum(ns) FROM ran)),
  steps AS (SELECT begin_ns AS ts, if(state = 'running', 1, 0) AS running, if(state = 'running', 0, 1) AS waiting FROM own
    UNION ALL SELECT end_ns, if(state = 'running', -1, 0), if(state = 'running', 0, -1) FROM own),
  moments AS (SELECT ts, sum(running) AS running, sum(waiting) AS waiting FROM steps GROUP BY ts),
  open AS (SELECT sum(running) OVER (ORDER BY ts) AS running, sum(waiting) OVER (ORDER BY ts) AS waiting, lead(ts) OVER (ORDER BY ts) - ts AS lasted FROM moments)
SELECT coalesce(sum(if(waiting > 0, cpus.n * lasted, 0)), 0) / 1e9 AS waited, coalesce(sum(least(waiting, greatest(0, cpus.n - running)) * lasted), 0) / 1e9 AS starved,
  (SELECT coalesce(quantile_cont(ms(end_ns - begin_ns), 0.999), 0) FROM own WHERE state <> 'running') AS turn_ms FROM open, cpus",
    },
    Query {
        name: "counters",
        sql: "SELECT scope, name, arg_max(value, ts_ns) - arg_min(value, ts_ns) AS change, (max(ts_ns) - min(ts_ns)) / 1e9 AS seconds, arg_max(value, ts_ns) AS last, max(value) AS most
FROM counters GROUP BY ALL",
    },
    Query {
        name: "thirds",
        sql: "WITH b AS (SELECT min(begin_ns) AS b, max(end_ns) AS e FROM states),
  third AS (SELECT least(2, floor(3 * (s.begin_ns - b.b) / (b.e - b.b + 1)))::INT AS third,
      sum(s.end_ns - s.begin_ns) FILTER (t.kind IN ('platform', 'carrier', 'virtual')) / 1e9 AS work,
      sum(s.end_ns - s.begin_ns) FILTER (t.kind = 'compiler') / 1e9 AS compiling, sum(s.end_ns - s.begin_ns) / 1e9 AS seconds
    FROM states s JOIN threads t ON t.id = s.thread, b WHERE s.state = 'running' GROUP BY 1),
  done AS (SELECT least(2, floor(3 * (r.end_ns - b.b) / (b.e - b.b + 1)))::INT AS third, count(*) AS n
    FROM spans r, b WHERE r.kind = 'request' AND r.complete GROUP BY 1)
SELECT third.third, coalesce(work, 0), coalesce(compiling, 0), seconds, coalesce(n, 0) FROM third LEFT JOIN done USING (third) ORDER BY 1",
    },
    Query {
        name: "doors",
        sql: "SELECT count(*) FILTER (kind = 'connection' AND NOT regexp_matches(name, '^stream( |$)') AND begin_ns > start) AS opened,
  count(*) FILTER (kind = 'tls_handshake' AND name = 'full') AS \"full\",
  count(*) FILTER (kind = 'tls_handshake' AND name = 'resumed') AS resumed,
  count(*) FILTER (kind = 'tls_handshake' AND name = 'failed') AS failed,
  count(*) FILTER (kind = 'tls_handshake' AND name = 'unknown' AND complete) AS unknown
FROM spans, (SELECT min(begin_ns) AS start FROM threads)",
    },
    Query {
        name: "locks",
        sql: "WITH sql AS (SELECT thread, begin_ns AS b, end_ns AS e FROM spans WHERE kind = 'sql'),
  pool AS (SELECT thread, begin_ns AS b, end_ns AS e FROM spans WHERE kind = 'pool_wait'),
  placed AS (SELECT w.class, w.object, w.thread, w.owner, w.begin_ns, w.end_ns - w.begin_ns AS ns,
      coalesce(s.e > w.begin_ns, false) AS in_sql, coalesce(p.e > w.begin_ns, false) AS in_pool
    FROM lock_waits w ASOF LEFT JOIN sql s ON s.thread = w.thread AND s.b <= w.begin_ns
    ASOF LEFT JOIN pool p ON p.thread = w.thread AND p.b <= w.begin_ns),
  grouped AS (SELECT class, object, count(*) AS waits, count(DISTINCT p.thread) AS waiters, sum(ns) AS wait_ns,
      coalesce(sum(ns) FILTER (in_sql), 0) AS in_sql_ns, coalesce(sum(ns) FILTER (in_pool), 0) AS in_pool_ns,
      mode(t.name ORDER BY t.name) AS owner, arg_max(p.begin_ns, ns) AS longest
    FROM placed p LEFT JOIN threads t ON t.id = p.owner GROUP BY class, object)
SELECT coalesce(g.class, '(unknown class)') AS class, g.waits, g.waiters, ms(g.wait_ns) AS wait_ms, g.wait_ns / sum(g.wait_ns) OVER () AS part,
  l.convoy, g.in_sql_ns / g.wait_ns AS in_sql, g.in_pool_ns / g.wait_ns AS in_pool, g.owner, g.longest, o.held_ns, o.running_ns, o.runnable_ns, o.lock_ns, o.io_ns, o.gc_ns, o.other_ns
FROM grouped g
LEFT JOIN locks l ON l.class IS NOT DISTINCT FROM g.class AND l.object IS NOT DISTINCT FROM g.object
LEFT JOIN lock_owners o ON o.class IS NOT DISTINCT FROM g.class AND o.object IS NOT DISTINCT FROM g.object
WHERE g.wait_ns > 0 ORDER BY g.wait_ns DESC LIMIT 8",
    },
    Query {
        name: "others",
        sql: "WITH waiters AS (SELECT DISTINCT kind, class, object, thread FROM other_waits),
  sql AS (SELECT thread, begin_ns AS b, end_ns AS e FROM spans WHERE kind = 'sql'),
  w AS (SELECT o.*, p.thread IS NOT NULL AS by_peer, coalesce(q.e > o.begin_ns, false) AS in_sql,
      o.kind = 'monitor_wait' OR o.class LIKE 'java.util.concurrent.Semaphore$%' OR o.class LIKE '%Synchronizer$ConditionObject' AS goes_round,
      if(goes_round, o.object, NULL) AS one
    FROM other_waits o LEFT JOIN waiters p ON p.thread = o.waker AND p.kind = o.kind AND p.class IS NOT DISTINCT FROM o.class AND p.object IS NOT DISTINCT FROM o.object
    ASOF LEFT JOIN sql q ON q.thread = o.thread AND q.b <= o.begin_ns),
  steps AS (SELECT kind, class, one, begin_ns AS ts, 1 AS step FROM w UNION ALL SELECT kind, class, one, end_ns, -1 FROM w),
  open AS (SELECT kind, class, one, sum(step) OVER (PARTITION BY kind, class, one ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS waiting FROM steps),
  most AS (SELECT kind, class, one, max(waiting)::BIGINT AS convoy FROM open GROUP BY ALL),
  sums AS (SELECT thread, begin_ns, end_ns, cause IN ('running', 'runnable') AS busy,
      coalesce(sum(if(cause IN ('running', 'runnable'), end_ns - begin_ns, 0)) OVER (PARTITION BY thread ORDER BY begin_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::BIGINT AS before
    FROM states WHERE thread IN (SELECT waker FROM w WHERE by_peer)),
  ends AS (SELECT kind, class, one, waker, end_ns AS ts, 1 AS sign FROM w WHERE by_peer UNION ALL SELECT kind, class, one, waker, begin_ns, -1 FROM w WHERE by_peer),
  did AS (SELECT e.kind, e.class, e.one, sum(e.sign * (s.before + if(s.busy, least(e.ts, s.end_ns) - s.begin_ns, 0))) / sum(e.sign * e.ts) AS computing
    FROM ends e ASOF JOIN sums s ON s.thread = e.waker AND s.begin_ns <= e.ts GROUP BY ALL)
SELECT w.kind, coalesce(w.class, '') AS class, any_value(w.goes_round) AS goes_round, count(*) AS waits, count(DISTINCT w.thread) AS waiters, any_value(m.convoy) AS convoy,
  ms(sum(w.ns)) AS wait_ms, coalesce(sum(w.ns) FILTER (w.by_peer), 0) / sum(w.ns) AS by_peers, coalesce(sum(w.ns) FILTER (w.in_sql), 0) / sum(w.ns) AS in_sql,
  coalesce(sum(w.ns) FILTER (w.timed), 0) / sum(w.ns) AS timed, any_value(d.computing) AS computing, mode(w.code) AS code, mode(t.name ORDER BY t.name) AS waker, arg_max(w.begin_ns, w.ns) AS longest
FROM w JOIN most m ON m.kind = w.kind AND m.class IS NOT DISTINCT FROM w.class AND m.one IS NOT DISTINCT FROM w.one
LEFT JOIN did d ON d.kind = w.kind AND d.class IS NOT DISTINCT FROM w.class AND d.one IS NOT DISTINCT FROM w.one
LEFT JOIN threads t ON t.id = w.waker
GROUP BY w.kind, w.class, w.one HAVING sum(w.ns) > 0 ORDER BY wait_ms DESC LIMIT 20",
    },
    Query {
        name: "pools",
        sql: "WITH s AS (SELECT name, kind, begin_ns, end_ns, ms(end_ns - begin_ns) AS ms FROM spans WHERE kind IN ('pool_wait', 'pool_use')),
  steps AS (SELECT name, kind, begin_ns AS ts, 1 AS step FROM s WHERE kind = 'pool_use' OR ms > 1
    UNION ALL SELECT name, kind, end_ns, -1 FROM s WHERE kind = 'pool_use' OR ms > 1),
  open AS (SELECT name, kind, ts, sum(step) OVER (PARTITION BY name, kind ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS n,
      lead(ts) OVER (PARTITION BY name, kind ORDER BY ts, step) - ts AS lasted FROM steps),
  most AS (SELECT name, kind, max(n) AS most FROM open GROUP BY ALL),
  \"full\" AS (SELECT name, sum(lasted) AS ns, any_value(most) AS size FROM open JOIN most USING (name, kind) WHERE kind = 'pool_use' AND n = most GROUP BY name)
SELECT s.name, count(*) FILTER (s.kind = 'pool_wait') AS asked, count(*) FILTER (s.kind = 'pool_wait' AND ms > 1) AS waited,
  coalesce(sum(ms) FILTER (s.kind = 'pool_wait'), 0) AS wait_ms, coalesce(avg(ms) FILTER (s.kind = 'pool_use'), 0) AS mean_use,
  coalesce(any_value(f.size), 0)::BIGINT AS size, coalesce(any_value(f.ns), 0) / (SELECT max(end_ns) - min(begin_ns) FROM threads) AS \"full\",
  coalesce(any_value(m.most), 0)::BIGINT AS waiting, arg_max(s.begin_ns, ms) FILTER (s.kind = 'pool_wait') AS longest,
  any_value(l.most) AS may_have
FROM s LEFT JOIN pool_limits l ON l.pool = s.name LEFT JOIN \"full\" f ON f.name = s.name LEFT JOIN most m ON m.name = s.name AND m.kind = 'pool_wait'
GROUP BY s.name HAVING count(*) FILTER (s.kind = 'pool_wait') > 0 ORDER BY wait_ms DESC LIMIT 5",
    },
    Query {
        name: "forgotten",
        sql: "WITH uses AS (SELECT name, begin_ns, end_ns FROM spans WHERE kind = 'pool_use'),
  waits AS (SELECT id, name, thread, begin_ns, end_ns, open FROM spans WHERE kind = 'pool_wait' AND end_ns - begin_ns > 1000000),
  blocked AS (SELECT thread, begin_ns AS b, end_ns AS e FROM states WHERE state = 'blocked' AND thread IN (SELECT thread FROM waits)),
  awake AS (SELECT w.*, greatest(w.begin_ns, least(w.end_ns, coalesce(s.e, w.begin_ns))) AS until FROM waits w ASOF LEFT JOIN blocked s ON s.thread = w.thread AND s.b <= w.end_ns),
  handed AS (SELECT name, until AS begin_ns, end_ns FROM awake WHERE NOT open AND until > begin_ns AND until < end_ns),
  steps AS (SELECT name, begin_ns AS ts, 1 AS step, 0 AS given, 1 AS own FROM uses UNION ALL SELECT name, end_ns, -1, 1, -1 FROM uses
    UNION ALL SELECT name, begin_ns, 1, 0, 0 FROM handed UNION ALL SELECT name, end_ns, -1, 0, 0 FROM handed),
  open AS (SELECT name, ts, sum(step) OVER w AS used, sum(own) OVER w AS kept, sum(given) OVER w AS given, coalesce(lead(ts) OVER (PARTITION BY name ORDER BY ts, step), (SELECT max(end_ns) FROM threads)) AS until FROM steps
    WINDOW w AS (PARTITION BY name ORDER BY ts, step ROWS UNBOUNDED PRECEDING)),
  sized AS (SELECT *, max(kept) OVER (PARTITION BY name) AS size FROM open),
  known AS (SELECT name, min(ts) AS since FROM sized WHERE kept = size GROUP BY name),
  runs AS (SELECT name, ts, until, used < size AS is_free, sum(if(used < size, 0, 1)) OVER (PARTITION BY name ORDER BY ts ROWS UNBOUNDED PRECEDING) AS run FROM sized),
  free AS (SELECT name, min(ts) AS b, max(until) AS e FROM runs JOIN known USING (name) WHERE is_free AND ts >= since GROUP BY name, run HAVING max(until) - min(ts) > 100000000),
  long AS (SELECT * FROM awake WHERE end_ns - begin_ns > 20000000),
  parts AS (SELECT w.id, sum(least(w.until, f.e) - greatest(w.begin_ns, f.b)) AS free_ns FROM long w JOIN free f ON f.name = w.name AND f.b < w.until AND f.e > w.begin_ns GROUP BY w.id),
  counts AS (SELECT w.id, w.until, o.given FROM long w ASOF JOIN open o ON o.name = w.name AND o.ts <= w.until),
  begins AS (SELECT w.id, o.given FROM long w ASOF JOIN open o ON o.name = w.name AND o.ts <= w.begin_ns)
SELECT w.name, t.name AS thread, w.begin_ns, ms(w.end_ns - w.begin_ns) AS wait_ms, ms(coalesce(p.free_ns, 0)) AS free_ms, coalesce(c.given - b.given, 0)::BIGINT AS released, w.open
FROM long w JOIN threads t ON t.id = w.thread LEFT JOIN parts p ON p.id = w.id LEFT JOIN counts c ON c.id = w.id LEFT JOIN begins b ON b.id = w.id ORDER BY free_ms DESC LIMIT 1000",
    },
    Query {
        name: "statements",
        sql: "WITH held AS (SELECT thread, begin_ns AS b, end_ns AS e, sum(end_ns - begin_ns) OVER (PARTITION BY thread ORDER BY begin_ns ROWS UNBOUNDED PRECEDING) AS upto
    FROM states WHERE state IN ('runnable', 'preempted') OR cause IN ('lock', 'gc', 'safepoint')),
  q AS (SELECT name, thread, begin_ns, end_ns FROM spans WHERE kind = 'sql'),
  began AS (SELECT q.*, coalesce(h.upto - greatest(0, h.e - q.begin_ns), 0) AS at_begin FROM q ASOF LEFT JOIN held h ON h.thread = q.thread AND h.b <= q.begin_ns),
  ended AS (SELECT q.*, coalesce(h.upto - greatest(0, h.e - q.end_ns), 0) AS at_end FROM began q ASOF LEFT JOIN held h ON h.thread = q.thread AND h.b <= q.end_ns)
SELECT name, count(*) AS calls, median(ms(end_ns - begin_ns)) AS p50, median(ms((end_ns - begin_ns - (at_end - at_begin))::BIGINT)) AS work,
  sum(ms(end_ns - begin_ns)) AS total, arg_max(begin_ns, end_ns - begin_ns) AS longest
FROM ended GROUP BY name ORDER BY total DESC LIMIT 40",
    },
    Query {
        name: "calls",
        sql: "SELECT name, count(*) AS calls, avg(ms(end_ns - begin_ns)) AS mean, arg_max(begin_ns, end_ns - begin_ns) AS longest
FROM spans WHERE kind = 'call' GROUP BY name ORDER BY sum(end_ns - begin_ns) DESC LIMIT 10",
    },
    Query {
        name: "sql_use",
        sql: "WITH q AS (SELECT thread, begin_ns, end_ns FROM spans WHERE kind = 'sql'),
  u AS (SELECT name, thread, begin_ns AS b, end_ns AS e FROM spans WHERE kind = 'pool_use'),
  steps AS (SELECT begin_ns AS ts, 1 AS step FROM q UNION ALL SELECT end_ns, -1 FROM q),
  open AS (SELECT ts, step, sum(step) OVER (ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS n FROM steps),
  taken AS (SELECT b AS ts, 1 AS step FROM u UNION ALL SELECT e, -1 FROM u),
  used AS (SELECT ts, sum(step) OVER (ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS n FROM taken),
  over AS (SELECT count(*) FILTER (open.n > coalesce(used.n, 0)) AS n FROM (SELECT * FROM open WHERE step = 1) open ASOF LEFT JOIN used ON used.ts <= open.ts)
SELECT count(*) AS calls, count(*) FILTER (coalesce(u.e < q.begin_ns, true)) AS outside, count(DISTINCT q.thread) AS threads,
  (SELECT coalesce(max(n), 0) FROM open)::BIGINT AS at_once,
  (SELECT coalesce(avg(if(n > 1, 1, 0)) FILTER (step = 1), 0) FROM open) AS overlapping, (SELECT n FROM over) AS over_pool,
  (SELECT count(*) FROM u JOIN u AS next ON next.name = u.name AND next.b = u.e AND next.thread <> u.thread) AS not_given_back
FROM q ASOF LEFT JOIN u ON u.thread = q.thread AND u.b <= q.begin_ns",
    },
    Query {
        name: "gc",
        sql: "SELECT begin_ns, end_ns, heap_before, heap_after FROM vm WHERE kind = 'gc' ORDER BY begin_ns",
    },
    Query {
        name: "workers",
        sql: "WITH v AS (SELECT g.thread, g.begin_ns, g.end_ns FROM segments g JOIN spans s ON s.id = g.span WHERE s.kind = 'connection'),
  steps AS (SELECT begin_ns AS ts, 1 AS step FROM v UNION ALL SELECT end_ns, -1 FROM v),
  open AS (SELECT ts, sum(step) OVER (ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS n, lead(ts) OVER (ORDER BY ts, step) - ts AS lasted FROM steps),
  w AS (SELECT count(DISTINCT thread) AS threads FROM v)
SELECT any_value(w.threads) AS threads, coalesce(max(n), 0)::BIGINT AS most, coalesce(sum(n * lasted) / sum(lasted), 0) AS mean,
  coalesce(sum(if(n >= w.threads, lasted, 0)) / sum(lasted), 0) AS all_busy,
  (SELECT CASE WHEN count(most) = count(*) THEN sum(most)::BIGINT END FROM workers) AS may_be
FROM open, w",
    },
    Query {
        name: "carriers",
        sql: "WITH c AS (SELECT id FROM threads WHERE kind = 'carrier')
SELECT (SELECT count(*) FROM c) AS threads, sum(s.end_ns - s.begin_ns)::BIGINT AS ns,
  coalesce(sum(s.end_ns - s.begin_ns) FILTER (s.state IN ('blocked', 'uninterruptible') AND s.cause <> 'idle'), 0)::BIGINT AS blocked,
  coalesce(sum(s.end_ns - s.begin_ns) FILTER (s.state IN ('running', 'carrying')), 0)::BIGINT AS running,
  coalesce(sum(s.end_ns - s.begin_ns) FILTER (s.cause = 'idle'), 0)::BIGINT AS idle,
  (SELECT sum(pinned_ns)::BIGINT FROM mounts) AS pinned
FROM states s JOIN c ON c.id = s.thread",
    },
    Query {
        name: "tiny_reads",
        sql: "SELECT count(*) AS n, coalesce(sum(ms(c.end_ns - c.begin_ns)), 0) AS total, coalesce(mode(r.name ORDER BY r.name), '') AS file
FROM syscalls c LEFT JOIN resources r ON r.id = c.resource
WHERE c.name IN ('read', 'pread64') AND c.size = 1 AND c.result = 1",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_connection_is_as_the_table_says() {
        let doors = ALL.iter().find(|q| q.name == "doors").expect("it");
        assert!(doors.sql.contains(loadline_trace::tables::IS_CONNECTION));
    }
}
