//! SQL views and table macros beside the tables of a trace: what its readers would else write anew.
//!
//! Terms: a *hold* is a time in which one thread had a lock that somebody waited for, as far as it
//! can be told from the waits: it ends where a waiter got the lock, and was the thread's that let go
//! of it; it begins where the first of those began to wait who still wait then, or where the lock changed hands before.
//! Holds of one lock do not overlap, however many threads waited, and leave no gap while one waits. A *path* is the
//! sequence of (thread, cause) that decided when something ended: where a thread was blocked, the path goes on in those
//! who had the lock, one after the other (the last waker alone would lead to what it did before its own turn), or for any
//! other reason in the thread that woke it, for as long as the block lasted.
//!
//! What always holds: the pieces of a critical path follow each other without gap or overlap, so
//! that their durations add up to the request's.
//!
//! Counters of requests: what the kernel's states tell is counted; what was counted per thread and slice only (faults,
//! cycles) is shared out among requests by their time on a CPU in that slice, which is an *estimate*. Virtual threads share
//! what their carriers counted together.
//!
//! Overlaps of intervals are never joined, because such a join does not end on a large trace: time in
//! a state between two moments is the difference of two running sums, each found by an ASOF join. Only `critical_path`, which
//! looks at one request and reads the states around it once, joins ranges.

use loadline_trace::Trace;
use loadline_trace::duckdb::{Connection, Result};

/// A view or table macro for those who ask in SQL.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// As it is called: `lock_holds`, `critical_path(request)`.
    pub name: &'static str,
    /// One row, and the columns.
    pub doc: &'static str,
    /// A statement that uses it; a test runs it.
    pub example: &'static str,
    sql: &'static str,
}

/// Every view, in the order in which they build on each other.
pub const ALL: [View; 23] = [
    View {
        name: "wakings",
        doc: "A blocked interval that somebody ended: thread, thread_name, begin_ns, end_ns, cause, wait, waker, waker_name (null if no thread of the target did), interrupt.",
        example: "SELECT waker_name, thread_name, cause, count(*) AS n, ms(sum(end_ns - begin_ns)) AS ms FROM wakings GROUP BY ALL ORDER BY ms DESC LIMIT 10",
        sql: "CREATE VIEW wakings AS
            SELECT s.thread, t.name AS thread_name, s.begin_ns, s.end_ns, s.cause, s.wait, s.waker, w.name AS waker_name, s.interrupt
            FROM states s JOIN threads t ON t.id = s.thread LEFT JOIN threads w ON w.id = s.waker
            WHERE s.state IN ('blocked', 'uninterruptible') AND (s.waker IS NOT NULL OR s.waker_tid IS NOT NULL)",
    },
    View {
        name: "waking_chain(thread, ns)",
        doc: "From the interval in which a thread was blocked at a moment to who ended it, what that thread had waited for meanwhile, and so on: step, thread, thread_name, begin_ns, end_ns, cause, waker, waker_name.",
        example: "SELECT c.* FROM waking_chain((SELECT thread FROM wakings WHERE cause = 'lock' ORDER BY end_ns - begin_ns DESC LIMIT 1), (SELECT begin_ns FROM wakings WHERE cause = 'lock' ORDER BY end_ns - begin_ns DESC LIMIT 1)) c ORDER BY step",
        sql: "CREATE MACRO waking_chain(of_thread, at_ns) AS TABLE
            WITH RECURSIVE chain AS (
                SELECT 0 AS step, s.thread, s.begin_ns, s.end_ns, s.cause, s.waker
                FROM states s WHERE s.thread = of_thread AND s.begin_ns <= at_ns AND s.end_ns > at_ns
                UNION ALL
                SELECT step + 1, thread, begin_ns, end_ns, cause, waker FROM (
                    SELECT c.step, s.thread, s.begin_ns, s.end_ns, s.cause, s.waker,
                           row_number() OVER (ORDER BY s.end_ns DESC) AS latest
                    FROM chain c JOIN states s ON s.thread = c.waker AND s.end_ns > c.begin_ns AND s.end_ns <= c.end_ns
                    WHERE c.step < 64 AND s.waker IS NOT NULL AND s.state IN ('blocked', 'uninterruptible'))
                WHERE latest = 1)
            SELECT c.step, c.thread, t.name AS thread_name, c.begin_ns, c.end_ns, c.cause, c.waker, w.name AS waker_name
            FROM chain c JOIN threads t ON t.id = c.thread LEFT JOIN threads w ON w.id = c.waker",
    },
    View {
        name: "lock_waits",
        doc: "Waits for monitors and for owned locks of java.util.concurrent, as in waits.",
        example: "SELECT class, count(*) AS waits, ms(sum(end_ns - begin_ns)) AS ms FROM lock_waits GROUP BY class ORDER BY ms DESC",
        sql: "CREATE VIEW lock_waits AS SELECT * FROM waits WHERE kind = 'monitor_enter' OR (kind = 'park' AND owner IS NOT NULL)",
    },
    View {
        name: "lock_holds_within(begin_ns, end_ns)",
        doc: "As lock_holds, as far as the waits tell that reach into the time between two moments.",
        example: "SELECT count(*) AS holds FROM lock_holds_within((SELECT min(begin_ns) FROM spans), (SELECT max(end_ns) FROM spans))",
        sql: "CREATE MACRO lock_holds_within(from_ns, to_ns) AS TABLE
            SELECT class, object, owner, id AS wait, least(end_ns, greatest(first, coalesce(lag(end_ns) OVER (PARTITION BY class, object ORDER BY end_ns, id), first))) AS begin_ns, end_ns
            FROM (SELECT *, min(begin_ns) OVER (PARTITION BY class, object ORDER BY end_ns, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS first
                  FROM lock_waits WHERE begin_ns < to_ns AND end_ns > from_ns)",
    },
    View {
        name: "lock_holds",
        doc: "A time in which a thread had a lock that another waited for: class, object, owner, wait (the one that its end ended), begin_ns, end_ns. Those of one lock do not overlap, and leave no gap while one waits.",
        example: "SELECT h.class, t.name AS owner, count(*) AS holds, ms(avg(h.end_ns - h.begin_ns)) AS mean FROM lock_holds h JOIN threads t ON t.id = h.owner GROUP BY ALL ORDER BY holds DESC LIMIT 10",
        sql: "CREATE VIEW lock_holds AS
            SELECT * FROM lock_holds_within(-9223372036854775807, 9223372036854775807)",
    },
    View {
        name: "critical_path(request)",
        doc: "The pieces of time that decided when a request (its spans.id) ended, gapless: begin_ns, end_ns, thread, thread_name, cause, hops (0: the request's own thread; 1: the one that it waited for; …), wait.",
        example: "SELECT thread_name, cause, hops, ms(sum(end_ns - begin_ns)) AS ms FROM critical_path((SELECT id FROM spans WHERE kind = 'request' ORDER BY end_ns - begin_ns DESC LIMIT 1)) GROUP BY ALL ORDER BY ms DESC",
        sql: include_str!("views/critical_path.sql"),
    },
    View {
        name: "lock_owners_within(begin_ns, end_ns)",
        doc: "As lock_owners, of the time between two moments only.",
        example: "SELECT class, ms(sum(held_ns)) AS held FROM lock_owners_within((SELECT min(begin_ns) FROM spans), (SELECT max(end_ns) FROM spans)) GROUP BY class ORDER BY held DESC",
        sql: include_str!("views/lock_owners.sql"),
    },
    View {
        name: "lock_owners",
        doc: "Per lock, what its owners were doing while others waited for it: class, object, held_ns, running_ns, runnable_ns, lock_ns (they waited for another), io_ns, gc_ns (stopped by a collection, or another safepoint), other_ns.",
        example: "SELECT class, ms(sum(held_ns)) AS held, round(sum(runnable_ns) / sum(held_ns), 2) AS runnable FROM lock_owners GROUP BY class ORDER BY held DESC",
        sql: "CREATE VIEW lock_owners AS
            SELECT * FROM lock_owners_within(-9223372036854775807, 9223372036854775807)",
    },
    View {
        name: "locks",
        doc: "Per lock: class, object, waits, waiters (threads), wait_ns, longest_ns, convoy (most threads that waited at a time), held_ns (in which somebody waited).",
        example: "SELECT class, waits, waiters, ms(wait_ns) AS ms, convoy FROM locks ORDER BY wait_ns DESC LIMIT 5",
        sql: "CREATE VIEW locks AS
            WITH steps AS (
                SELECT class, object, begin_ns AS ts, 1 AS step FROM lock_waits
                UNION ALL SELECT class, object, end_ns, -1 FROM lock_waits),
            open AS (SELECT class, object, sum(step) OVER (PARTITION BY class, object ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS waiting FROM steps),
            most AS (SELECT class, object, max(waiting)::BIGINT AS convoy FROM open GROUP BY ALL),
            held AS (SELECT class, object, sum(end_ns - begin_ns)::BIGINT AS held_ns FROM lock_holds GROUP BY ALL)
            SELECT w.class, w.object, count(*) AS waits, count(DISTINCT w.thread) AS waiters, sum(w.end_ns - w.begin_ns)::BIGINT AS wait_ns,
                   max(w.end_ns - w.begin_ns) AS longest_ns, any_value(m.convoy) AS convoy, any_value(h.held_ns) AS held_ns
            FROM lock_waits w
            JOIN most m ON m.class IS NOT DISTINCT FROM w.class AND m.object IS NOT DISTINCT FROM w.object
            JOIN held h ON h.class IS NOT DISTINCT FROM w.class AND h.object IS NOT DISTINCT FROM w.object
            GROUP BY w.class, w.object",
    },
    View {
        name: "request_pieces",
        doc: "Where a request was worked on: its one thread, or each that it was handed to: request (spans.id), name, thread, begin_ns, end_ns.",
        example: "SELECT t.name AS thread, count(*) AS pieces, ms(sum(p.end_ns - p.begin_ns)) AS ms FROM request_pieces p JOIN threads t ON t.id = p.thread GROUP BY ALL ORDER BY ms DESC LIMIT 10",
        sql: include_str!("views/request_pieces.sql"),
    },
    View {
        name: "pool_limits",
        doc: "A pool that says how many connections it may have: pool (as spans of kind pool_use are named), most (as it was configured last).",
        example: "SELECT s.name, count(*) AS uses, any_value(l.most) AS may_have FROM spans s LEFT JOIN pool_limits l ON l.pool = s.name WHERE s.kind = 'pool_use' GROUP BY s.name",
        sql: "CREATE VIEW pool_limits AS
            SELECT substr(scope, 6) AS pool, arg_max(value, ts_ns)::BIGINT AS most FROM counters WHERE name = 'connections_max' GROUP BY scope",
    },
    View {
        name: "workers",
        doc: "The threads that served connections, by name without its number: name, threads, most (that their executor may have, as it was configured last; null if it has no limit, or did not say).",
        example: "SELECT * FROM workers ORDER BY threads DESC",
        sql: "CREATE VIEW workers AS
            WITH served AS (SELECT DISTINCT g.thread FROM segments g JOIN spans s ON s.id = g.span WHERE s.kind = 'connection'),
            named AS (SELECT regexp_replace(t.name, '[0-9]+$', '') AS name, count(*) AS threads FROM threads t JOIN served ON served.thread = t.id GROUP BY ALL)
            SELECT n.name, n.threads, arg_max(c.value, c.ts_ns)::BIGINT AS most
            FROM named n LEFT JOIN counters c ON c.scope = 'executor ' || n.name AND c.name = 'threads_max' GROUP BY n.name, n.threads",
    },
    View {
        name: "stack_frames(stack)",
        doc: "The frames of a stack, the innermost first: id, depth, kind, name, file, line.",
        example: "SELECT name, line FROM stack_frames((SELECT stack FROM waits WHERE stack IS NOT NULL ORDER BY end_ns - begin_ns DESC LIMIT 1)) ORDER BY depth DESC",
        sql: "CREATE MACRO stack_frames(of_stack) AS TABLE
            WITH RECURSIVE up AS (
                SELECT * FROM stacks WHERE id = of_stack
                UNION ALL
                SELECT s.* FROM stacks s JOIN up ON s.id = up.parent)
            SELECT id, depth, kind, name, file, line FROM up ORDER BY depth DESC",
    },
    View {
        name: "stack_code",
        doc: "What a stack's code is: stack (stacks.id), code (its innermost method that is not the JDK's; if all are, the innermost), file, line.",
        example: "SELECT s.kind, c.code, c.line, count(*) AS samples FROM samples s JOIN stack_code c USING (stack) GROUP BY ALL ORDER BY samples DESC LIMIT 10",
        sql: include_str!("views/stack_code.sql"),
    },
    View {
        name: "wait_code",
        doc: "A wait whose stack was taken, with the code that waited and the request that it was in: wait (waits.id), thread, begin_ns, end_ns, kind, class, object, stack, code, file, line, request (spans.id), request_name.",
        example: "SELECT request_name, code, line, count(*) AS waits, ms(sum(end_ns - begin_ns)) AS ms FROM wait_code WHERE request IS NOT NULL GROUP BY ALL ORDER BY ms DESC LIMIT 10",
        sql: include_str!("views/wait_code.sql"),
    },
    View {
        name: "other_waits",
        doc: "A wait of a request for what no thread owns (a semaphore's permits, a latch, a future, a condition, time to pass), but a pool's connection: wait (waits.id; null of a sleep), thread, begin_ns, end_ns, ns (of it blocked), kind (as in waits, or sleep), class, object, waker (thread that ended it), timed (a timer did), code, file, line (null where no stack was taken), request (spans.id), request_name.",
        example: "SELECT o.class, o.code, t.name AS waker, count(*) AS waits, ms(sum(o.ns)) AS ms FROM other_waits o LEFT JOIN threads t ON t.id = o.waker GROUP BY ALL ORDER BY ms DESC LIMIT 10",
        sql: include_str!("views/other_waits.sql"),
    },
    View {
        name: "cpu_code",
        doc: "A sample of what ran on a CPU, with its code and the request that it was in: ts_ns, thread, weight (ns of CPU time that it stands for), stack, code, file, line, request (spans.id), request_name.",
        example: "SELECT request_name, code, count(*) AS samples, ms(sum(weight)) AS cpu FROM cpu_code GROUP BY ALL ORDER BY cpu DESC LIMIT 10",
        sql: include_str!("views/cpu_code.sql"),
    },
    View {
        name: "allocations",
        doc: "A sample of what was allocated (--allocations), with its code and the request that it was in: ts_ns, thread, class, bytes (that it stands for), size (of the object), stack, code, file, line, request (spans.id), request_name.",
        example: "SELECT class, count(*) AS samples, sum(bytes) / 1e6 AS megabytes FROM allocations GROUP BY class ORDER BY megabytes DESC LIMIT 10",
        sql: include_str!("views/allocations.sql"),
    },
    View {
        name: "allocation_sites",
        doc: "A place in the code that allocated objects of a class in requests of a type: request_type (null outside of requests), code, file, line, class, samples, bytes (that they stand for), objects (likewise), bytes_per_request, stack (of most samples).",
        example: "SELECT request_type, code, line, class, round(bytes_per_request / 1e3, 1) AS kilobytes FROM allocation_sites WHERE request_type IS NOT NULL ORDER BY bytes DESC LIMIT 10",
        sql: include_str!("views/allocation_sites.sql"),
    },
    View {
        name: "object_sites",
        doc: "A place in the code that allocated objects of a chosen class (--allocation-of): class, code, file, line (null where no stack was taken), allocated, bytes, freed (found dead by the collector), alive (at the end), mean_life_ns (of those freed).",
        example: "SELECT class, code, line, allocated, freed, alive, round(mean_life_ns / 1e6, 1) AS life_ms FROM object_sites ORDER BY allocated DESC LIMIT 10",
        sql: include_str!("views/object_sites.sql"),
    },
    View {
        name: "call_tree",
        doc: "A path of recorded methods (--methods), all invocations through it together: stack (stacks.id), parent (its caller's path), depth, method, path (null below 64 callers), invocations, threw (ended by an exception), wall_ns, self_ns (without those below), min_ns, max_ns, cpu_ns, self_cpu_ns (null if that of any is not known: without the kernel level and --method-cpu, or where records were lost), below (recorded invocations below it), left_out (calls left out in it and below).",
        example: "SELECT repeat('  ', depth) || method AS method, invocations, ms(wall_ns) AS wall, ms(self_ns) AS self, ms(cpu_ns) AS cpu FROM call_tree WHERE wall_ns > (SELECT max(wall_ns) FROM call_tree) / 100 ORDER BY path LIMIT 40",
        sql: include_str!("views/call_tree.sql"),
    },
    View {
        name: "request_counters_within(begin_ns, end_ns)",
        doc: "As request_counters, of the requests that lie between two times only: what one asks of a large trace.",
        example: "SELECT c.name, c.value, c.estimated FROM (SELECT id, begin_ns, end_ns FROM spans WHERE kind = 'request' ORDER BY end_ns - begin_ns DESC LIMIT 1) r JOIN request_counters c ON c.request = r.id",
        sql: include_str!("views/request_counters.sql"),
    },
    View {
        name: "request_counters",
        doc: "What a request cost the machine: request (spans.id), name, value, estimated. Exact, from the kernel level: cpu_ns, run_queue_ns, voluntary_switches (it blocked), involuntary_switches (it was preempted), migrations. Estimated, where counters were recorded: all others, each slice's shared out by time on a CPU.",
        example: "SELECT name, avg(value) AS per_request, any_value(estimated) AS estimated FROM request_counters GROUP BY name ORDER BY name",
        sql: "CREATE VIEW request_counters AS SELECT * FROM request_counters_within(-9223372036854775807, 9223372036854775807)",
    },
];

/// A database with the tables of the trace and every view.
pub fn open(trace: &Trace) -> loadline_trace::Result<Connection> {
    let db = trace.sql()?;
    install(&db)?;
    Ok(db)
}

/// Adds the views to a database that has the tables.
pub fn install(db: &Connection) -> Result<()> {
    ALL.iter().try_for_each(|v| db.execute_batch(v.sql))
}
