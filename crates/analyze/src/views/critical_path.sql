CREATE MACRO critical_path(of_request) AS TABLE
WITH RECURSIVE request AS MATERIALIZED (SELECT id, thread, begin_ns AS b, end_ns AS e FROM spans WHERE id = of_request),
pieces AS (
    SELECT coalesce(g.thread, r.thread) AS thread, coalesce(g.begin_ns, r.b) AS b, coalesce(g.end_ns, r.e) AS e
    FROM request r LEFT JOIN segments g ON g.span = r.id),
near AS MATERIALIZED (
    SELECT x.thread, x.begin_ns, x.end_ns, x.cause, x.wait, x.waker,
           x.state IN ('blocked', 'uninterruptible') AND x.cause <> 'idle' AS waits
    FROM states x WHERE x.begin_ns < (SELECT e FROM request) AND x.end_ns > (SELECT b FROM request)),
-- Of an interval that waited for a lock: who had it, one after the other, and where that ends.
held AS MATERIALIZED (
    SELECT n.thread, n.begin_ns AS of_ns, n.end_ns AS until_ns, h.owner,
           greatest(n.begin_ns, h.begin_ns) AS begin_ns, least(n.end_ns, h.end_ns) AS end_ns
    FROM near n JOIN lock_waits w ON w.id = n.wait
    JOIN lock_holds_within((SELECT b FROM request), (SELECT e FROM request)) h
        ON h.class IS NOT DISTINCT FROM w.class AND h.object IS NOT DISTINCT FROM w.object AND h.begin_ns < n.end_ns AND h.end_ns > n.begin_ns
    WHERE n.waits AND h.owner <> n.thread AND h.end_ns > h.begin_ns),
-- The parts of it in which nobody is known to have had it.
gaps AS (
    SELECT thread, of_ns, coalesce(lag(end_ns) OVER nth, of_ns) AS begin_ns, begin_ns AS end_ns FROM held WINDOW nth AS (PARTITION BY thread, of_ns ORDER BY begin_ns)
    UNION ALL SELECT thread, of_ns, max(end_ns), any_value(until_ns) FROM held GROUP BY thread, of_ns),
-- Every state in parts, each with the thread that the path goes on in: none where it stays.
parts AS MATERIALIZED (
    SELECT n.thread, p.begin_ns, p.end_ns, n.cause, n.wait,
           if(p.next <> n.thread AND w.begin_ns <= p.begin_ns AND w.end_ns >= p.end_ns, p.next, NULL) AS next
    FROM (SELECT thread, of_ns, begin_ns, end_ns, owner AS next FROM held
          UNION ALL SELECT g.thread, g.of_ns, g.begin_ns, g.end_ns, n.waker FROM gaps g JOIN near n ON n.thread = g.thread AND n.begin_ns = g.of_ns WHERE g.end_ns > g.begin_ns
          UNION ALL SELECT n.thread, n.begin_ns, greatest(n.begin_ns, (SELECT b FROM request)), least(n.end_ns, (SELECT e FROM request)), if(n.waits, n.waker, NULL)
                    FROM near n WHERE NOT EXISTS (SELECT 1 FROM held h WHERE h.thread = n.thread AND h.of_ns = n.begin_ns)) p
    JOIN near n ON n.thread = p.thread AND n.begin_ns = p.of_ns LEFT JOIN threads w ON w.id = p.next),
path AS (
    SELECT x.thread, greatest(x.begin_ns, p.b) AS begin_ns, least(x.end_ns, p.e) AS end_ns, x.cause, x.wait, 0 AS hops, x.next
    FROM pieces p JOIN parts x ON x.thread = p.thread AND x.begin_ns < p.e AND x.end_ns > p.b
    UNION ALL
    SELECT x.thread, greatest(x.begin_ns, r.begin_ns), least(x.end_ns, r.end_ns), x.cause, x.wait, r.hops + 1, if(r.hops < 63, x.next, NULL)
    FROM path r JOIN parts x ON x.thread = r.next AND x.begin_ns < r.end_ns AND x.end_ns > r.begin_ns)
SELECT p.begin_ns, p.end_ns, p.thread, t.name AS thread_name, p.cause, p.hops, p.wait
FROM path p JOIN threads t ON t.id = p.thread WHERE p.next IS NULL ORDER BY p.begin_ns
