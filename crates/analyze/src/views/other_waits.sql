CREATE VIEW other_waits AS
WITH blocked AS (
    SELECT wait, sum(end_ns - begin_ns)::BIGINT AS ns, arg_max(waker, end_ns) AS waker, arg_max(interrupt, end_ns) AS timed
    FROM states WHERE cause = 'other' AND wait IS NOT NULL GROUP BY wait),
all_waits AS (
    SELECT w.id AS wait, w.thread, w.begin_ns, w.end_ns, b.ns, w.kind, w.class, w.object, coalesce(b.waker, w.notifier) AS waker,
           coalesce(b.timed, false) AS timed, c.code, c.file, c.line
    FROM blocked b JOIN waits w ON w.id = b.wait LEFT JOIN stack_code c ON c.stack = w.stack
    UNION ALL BY NAME
    -- Blocked for nothing that the JVM tells of, until a timer: Thread.sleep.
    SELECT thread, begin_ns, end_ns, end_ns - begin_ns AS ns, 'sleep' AS kind, true AS timed
    FROM states WHERE cause = 'other' AND wait IS NULL AND interrupt)
SELECT w.*, r.request, r.name AS request_name
FROM all_waits w ASOF JOIN request_pieces r ON r.thread = w.thread AND r.begin_ns <= w.begin_ns
WHERE r.end_ns > w.begin_ns
