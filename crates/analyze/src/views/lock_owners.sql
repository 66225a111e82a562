CREATE MACRO lock_owners_within(from_ns, to_ns) AS TABLE
    WITH holds AS (
        SELECT class, object, owner, greatest(begin_ns, from_ns) AS begin_ns, least(end_ns, to_ns) AS end_ns
        FROM lock_holds_within(from_ns, to_ns)),
    ends AS (
        SELECT class, object, owner, end_ns AS ts, 1 AS sign FROM holds WHERE owner IS NOT NULL AND end_ns > begin_ns
        UNION ALL
        SELECT class, object, owner, begin_ns, -1 FROM holds WHERE owner IS NOT NULL AND end_ns > begin_ns),
    sums AS (
        SELECT thread, begin_ns, end_ns, cause,
            coalesce(sum(if(cause = 'running', end_ns - begin_ns, 0)) OVER before, 0)::BIGINT AS running,
            coalesce(sum(if(cause = 'runnable', end_ns - begin_ns, 0)) OVER before, 0)::BIGINT AS runnable,
            coalesce(sum(if(cause = 'lock', end_ns - begin_ns, 0)) OVER before, 0)::BIGINT AS lock,
            coalesce(sum(if(cause IN ('socket', 'file'), end_ns - begin_ns, 0)) OVER before, 0)::BIGINT AS io,
            coalesce(sum(if(cause IN ('gc', 'safepoint'), end_ns - begin_ns, 0)) OVER before, 0)::BIGINT AS gc
        FROM states
        -- Of the states that it lies between, a moment needs no others.
        WHERE thread IN (SELECT owner FROM holds) AND begin_ns <= to_ns AND end_ns >= from_ns
        WINDOW before AS (PARTITION BY thread ORDER BY begin_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
    moments AS (
        SELECT e.class, e.object, e.sign, e.ts, s.running, s.runnable, s.lock, s.io, s.gc, s.cause, least(e.ts, s.end_ns) - s.begin_ns AS since
        FROM ends e ASOF JOIN sums s ON s.thread = e.owner AND s.begin_ns <= e.ts),
    spent AS (
        SELECT class, object, sum(sign * ts)::BIGINT AS held_ns,
            sum(sign * (running + if(cause = 'running', since, 0)))::BIGINT AS running_ns,
            sum(sign * (runnable + if(cause = 'runnable', since, 0)))::BIGINT AS runnable_ns,
            sum(sign * (lock + if(cause = 'lock', since, 0)))::BIGINT AS lock_ns,
            sum(sign * (io + if(cause IN ('socket', 'file'), since, 0)))::BIGINT AS io_ns,
            sum(sign * (gc + if(cause IN ('gc', 'safepoint'), since, 0)))::BIGINT AS gc_ns
        FROM moments GROUP BY class, object)
    SELECT *, held_ns - running_ns - runnable_ns - lock_ns - io_ns - gc_ns AS other_ns FROM spent
