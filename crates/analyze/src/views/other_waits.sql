CREATE VIEW other_waits AS
WITH blocked AS (
    SELECT wait, sum(end_ns - begin_ns)::BIGINT AS ns, arg_max(waker, end_ns) AS waker, arg_max(interrupt, end_ns) AS timed
    FROM states WHERE cause = 'other' AND wait IS NOT NULL GROUP BY wait)
SELECT w.id AS wait, w.thread, w.begin_ns, w.end_ns, b.ns, w.kind, w.class, w.object, coalesce(b.waker, w.notifier) AS waker, coalesce(b.timed, false) AS timed, c.code, c.file, c.line,
       r.request, r.name AS request_name
FROM blocked b JOIN waits w ON w.id = b.wait
ASOF JOIN request_pieces r ON r.thread = w.thread AND r.begin_ns <= w.begin_ns
LEFT JOIN stack_code c ON c.stack = w.stack
WHERE r.end_ns > w.begin_ns
