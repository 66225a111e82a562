CREATE MACRO request_counters_within(from_ns, to_ns) AS TABLE
WITH pieces AS (
    SELECT p.request, p.thread, p.begin_ns AS b, p.end_ns AS e FROM request_pieces p
    SEMI JOIN (SELECT id FROM spans WHERE kind = 'request' AND begin_ns >= from_ns AND end_ns <= to_ns) r ON r.id = p.request),
-- Each interval with what the thread was before.
steps AS (
    SELECT thread, begin_ns, end_ns, state, cpu, lag(state) OVER so_far AS before,
        last_value(cpu IGNORE NULLS) OVER (so_far ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_cpu
    FROM states WHERE end_ns > from_ns AND begin_ns < to_ns AND thread IN (SELECT thread FROM pieces)
    WINDOW so_far AS (PARTITION BY thread ORDER BY begin_ns)),
-- Running sums: times before an interval, and how often something had happened when it began.
sums AS (
    SELECT thread, begin_ns, end_ns, state,
        coalesce(sum(if(state = 'running', end_ns - begin_ns, 0)) OVER earlier, 0)::BIGINT AS running,
        coalesce(sum(if(state IN ('runnable', 'preempted'), end_ns - begin_ns, 0)) OVER earlier, 0)::BIGINT AS waiting,
        (count(*) FILTER (before = 'running' AND state IN ('blocked', 'uninterruptible')) OVER so_far)::BIGINT AS blocked,
        (count(*) FILTER (before = 'running' AND state = 'preempted') OVER so_far)::BIGINT AS preempted,
        (count(*) FILTER (state = 'running' AND cpu <> last_cpu) OVER so_far)::BIGINT AS migrated
    FROM steps
    WINDOW so_far AS (PARTITION BY thread ORDER BY begin_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
        earlier AS (PARTITION BY thread ORDER BY begin_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
moments AS (
    SELECT p.request, p.sign, s.running + if(s.state = 'running', least(p.ts, s.end_ns) - s.begin_ns, 0) AS running,
        s.waiting + if(s.state IN ('runnable', 'preempted'), least(p.ts, s.end_ns) - s.begin_ns, 0) AS waiting,
        s.blocked, s.preempted, s.migrated
    FROM (SELECT request, thread, b AS ts, -1 AS sign FROM pieces UNION ALL SELECT request, thread, e, 1 FROM pieces) p
    ASOF JOIN sums s ON s.thread = p.thread AND s.begin_ns <= p.ts),
-- Without the kernel level no thread is known to run.
known AS (SELECT 1 FROM states WHERE state = 'running' LIMIT 1),
exact AS (
    SELECT request, sum(sign * running)::DOUBLE AS cpu_ns, sum(sign * waiting)::DOUBLE AS run_queue_ns, sum(sign * blocked)::DOUBLE AS voluntary_switches,
        sum(sign * preempted)::DOUBLE AS involuntary_switches, sum(sign * migrated)::DOUBLE AS migrations
    FROM moments WHERE EXISTS (SELECT * FROM known) GROUP BY request),
slices AS (
    SELECT begin_ns, end_ns, row_number() OVER (ORDER BY begin_ns) AS nr
    FROM (SELECT DISTINCT begin_ns, end_ns FROM thread_counters WHERE end_ns > from_ns AND begin_ns < to_ns)),
-- Pieces cut at the slices: few of them reach over more than one.
reaching AS (
    SELECT p.*, coalesce(f.nr, 1) AS first, l.nr AS last
    FROM pieces p ASOF LEFT JOIN slices f ON f.begin_ns <= p.b ASOF JOIN slices l ON l.begin_ns < p.e),
cut AS (
    SELECT c.request, c.thread, s.nr, greatest(c.b, s.begin_ns) AS b, least(c.e, s.end_ns) AS e
    FROM (SELECT request, thread, b, e, unnest(range(first, last + 1)) AS nr FROM reaching) c JOIN slices s USING (nr)
    WHERE least(c.e, s.end_ns) > greatest(c.b, s.begin_ns)),
-- Threads whose counters are one: carriers, for the virtual threads on them.
pools AS (SELECT id AS thread, if(kind IN ('carrier', 'virtual'), -1, id) AS pool FROM threads),
shares AS (
    SELECT p.request, t.pool, p.nr, sum(p.sign * (s.running + if(s.state = 'running', least(p.ts, s.end_ns) - s.begin_ns, 0))) AS on_cpu
    FROM (SELECT request, thread, nr, b AS ts, -1 AS sign FROM cut UNION ALL SELECT request, thread, nr, e, 1 FROM cut) p
    ASOF JOIN sums s ON s.thread = p.thread AND s.begin_ns <= p.ts
    JOIN pools t ON t.thread = p.thread GROUP BY ALL),
counted AS (
    SELECT t.pool, s.nr, c.name, sum(c.value) AS value
    FROM thread_counters c JOIN slices s USING (begin_ns, end_ns) JOIN pools t USING (thread) GROUP BY ALL),
-- What a thread did not count in a slice has no row, and is 0.
names AS (
    SELECT DISTINCT name FROM thread_counters
    WHERE name NOT IN ('cpu_ns', 'run_queue_ns', 'voluntary_switches', 'involuntary_switches', 'migrations')),
estimates AS (
    SELECT x.request, n.name, coalesce(sum(c.value * least(1, x.on_cpu / cpu.value)), 0) AS value
    FROM shares x JOIN counted cpu ON cpu.pool = x.pool AND cpu.nr = x.nr AND cpu.name = 'cpu_ns'
    CROSS JOIN names n LEFT JOIN counted c ON c.pool = x.pool AND c.nr = x.nr AND c.name = n.name
    GROUP BY ALL)
SELECT request, name, value, false AS estimated FROM (UNPIVOT exact ON cpu_ns, run_queue_ns, voluntary_switches, involuntary_switches, migrations INTO NAME name VALUE value)
UNION ALL
SELECT request, name, value, true FROM estimates
