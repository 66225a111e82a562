//! Invocations of methods in a recording whose every record is known.

use loadline_analyze::testing::{KernelSpool, Recording};
use loadline_analyze::{build, views};
use loadline_trace::Trace;
use loadline_trace::spool::agent::{kind as ev, method};
use loadline_trace::spool::kernel::{LEFT_BLOCKED, LEFT_RUNNABLE};

/// `b` of a record: depth, CPU time, and whether an exception ended it.
fn how(depth: u64, cpu: Option<u64>, threw: bool) -> u64 {
    let has_cpu = u64::from(cpu.is_some()) << method::HAS_CPU_SHIFT;
    cpu.unwrap_or(0)
        | has_cpu
        | depth << method::DEPTH_SHIFT
        | u64::from(threw) << method::THREW_SHIFT
}

/// A recording from 1000 to 2000 of (thread, end, duration, depth, name), whose CPU time is half of the duration.
fn built(
    calls: &[(u32, i64, u64, u64, &str)],
    more: &dyn Fn(&mut Recording),
) -> (tempfile::TempDir, Trace) {
    let mut r = Recording::new(1000, 2000);
    r.threads(1000, &[(11, "exec-1", 'S'), (12, "exec-2", 'S')]);
    for tid in [11, 12] {
        r.agent
            .event(tid, 1001, ev::THREAD, u64::from(tid) + 20, 0, "exec");
    }
    for &(tid, end, duration, depth, name) in calls {
        r.agent.event(
            tid,
            end,
            ev::METHOD,
            duration,
            how(depth, Some(duration / 2), false),
            name,
        );
    }
    more(&mut r);
    let dir = tempfile::tempdir().expect("a directory");
    r.write(dir.path()).expect("written");
    build(dir.path(), false, &mut |_, _| {}).expect("built");
    let trace = Trace::open(dir.path()).expect("it opens");
    (dir, trace)
}

/// The rows of a query, each as one text.
fn rows(trace: &Trace, sql: &str) -> Vec<String> {
    let db = views::open(trace).expect("views");
    let mut statement = db.prepare(sql).expect("sql");
    let rows = statement.query_map([], |r| r.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("texts")
}

const TREE: &str = "SELECT concat_ws(' ', path, invocations, wall_ns, self_ns, cpu_ns, self_cpu_ns, min_ns, max_ns, below, left_out) FROM call_tree ORDER BY path";

#[test]
fn calls_lie_in_who_made_them_whatever_other_threads_do() {
    let calls = [
        (11, 1120, 10, 1, "a.B.leaf()"),
        (12, 1125, 5, 0, "a.B.leaf()"),
        (11, 1140, 20, 2, "a.B.leaf()"),
        (11, 1150, 40, 1, "a.B.inner()"),
        (11, 1200, 100, 0, "a.B.outer()"),
        (11, 1300, 60, 0, "a.B.outer()"),
    ];
    let (_dir, trace) = built(&calls, &|r| {
        r.agent
            .event(11, 1400, ev::METHOD_LEFT_OUT, 7, 0, "a.B.outer()");
        r.agent.event(
            11,
            1400,
            ev::METHOD,
            40,
            how(0, Some(20), true),
            "a.B.outer()",
        );
    });
    assert_eq!(
        rows(&trace, TREE),
        [
            "a.B.leaf() 1 5 5 2 2 5 5 0 0",
            "a.B.outer() 3 200 150 100 75 40 100 3 7",
            "a.B.outer() > a.B.inner() 1 40 20 20 10 40 40 1 0",
            "a.B.outer() > a.B.inner() > a.B.leaf() 1 20 20 10 10 20 20 0 0",
            "a.B.outer() > a.B.leaf() 1 10 10 5 5 10 10 0 0",
        ]
    );
    let spans = rows(
        &trace,
        "SELECT concat_ws(' ', s.name, s.begin_ns, coalesce(p.name, '-'), p.begin_ns, c.threw) FROM spans s
         JOIN calls c ON c.span = s.id LEFT JOIN spans p ON p.id = s.parent ORDER BY s.begin_ns, s.id",
    );
    assert_eq!(
        spans,
        [
            "a.B.outer() 1100 - false",
            "a.B.leaf() 1110 a.B.outer() 1100 false",
            "a.B.inner() 1110 a.B.outer() 1100 false",
            "a.B.leaf() 1120 - false",
            "a.B.leaf() 1120 a.B.inner() 1110 false",
            "a.B.outer() 1240 - false",
            "a.B.outer() 1360 - true",
        ]
    );
}

#[test]
fn what_was_not_all_recorded_is_no_caller() {
    let calls = [
        (11, 1050, 10, 1, "a.B.leaf()"),
        (11, 1060, 500, 0, "a.B.outer()"), // it began before
        (11, 1150, 10, 1, "a.B.leaf()"),   // the record of who called it was lost
        (11, 1250, 10, 1, "a.B.leaf()"),
        (11, 1260, 30, 0, "a.B.outer()"),
        (11, 1990, 10, 1, "a.B.leaf()"), // who called it was not over
    ];
    let (_dir, trace) = built(&calls, &|_| {});
    let paths = rows(
        &trace,
        "SELECT concat_ws(' ', path, invocations) FROM call_tree ORDER BY path",
    );
    assert_eq!(
        paths,
        [
            "a.B.leaf() 3",
            "a.B.outer() 1",
            "a.B.outer() > a.B.leaf() 1"
        ]
    );
}

#[test]
fn an_outermost_call_lies_in_the_request_that_made_it() {
    let calls = [
        (11, 1180, 50, 0, "a.B.outer()"),
        (11, 1450, 400, 0, "a.B.filter()"),
    ];
    let (_dir, trace) = built(&calls, &|r| {
        let a = &mut r.agent;
        a.event(11, 1060, ev::CONN_OPEN, 7, 5000, "127.0.0.1");
        a.event(11, 1100, ev::VISIT_BEGIN, 7, 0, "");
        a.event(11, 1110, ev::REQUEST, 0, 0, "GET /");
        a.event(11, 1200, ev::STATUS, 0, 200, "");
        a.event(11, 1210, ev::REQUEST_END, 0, 0, "");
        a.event(11, 1220, ev::VISIT_END, 7, 0, "");
        a.event(11, 1300, ev::CONN_CLOSE, 7, 0, "");
    });
    let parents = rows(
        &trace,
        "SELECT concat_ws(' ', s.name, coalesce(p.kind, '-'), c.kind) FROM spans s
         LEFT JOIN spans p ON p.id = s.parent LEFT JOIN spans c ON c.id = s.connection WHERE s.kind = 'method' ORDER BY s.begin_ns",
    );
    assert_eq!(
        parents,
        ["a.B.filter() -", "a.B.outer() request connection"]
    );
}

#[test]
fn the_kernel_says_the_cpu_time_that_no_clock_was_read_for() {
    let calls = [
        (1140, 20, 2, "a.B.leaf()"),
        (1160, 50, 1, "a.B.inner()"),
        (1270, 10, 1, "a.B.leaf()"),
        (1300, 195, 0, "a.B.outer()"),
        (1420, 40, 0, "a.B.outer()"),
    ];
    let clockless = |r: &mut Recording| {
        for (end, duration, depth, name) in calls {
            r.agent
                .event(11, end, ev::METHOD, duration, how(depth, None, false), name);
        }
    };
    let (_dir, trace) = built(&[], &|r| {
        clockless(r);
        let mut k = KernelSpool::default();
        k.switch(1100, 0, 0, LEFT_RUNNABLE, 11)
            .switch(1150, 0, 11, LEFT_BLOCKED, 0)
            .waking(1200, 11, 12)
            .switch(1250, 0, 0, LEFT_RUNNABLE, 11)
            .switch(1410, 0, 11, LEFT_BLOCKED, 0);
        r.kernel = vec![k];
    });
    assert_eq!(
        rows(&trace, TREE),
        [
            "a.B.outer() 2 235 175 125 75 40 195 3 0",
            "a.B.outer() > a.B.inner() 1 50 30 40 20 50 50 1 0",
            "a.B.outer() > a.B.inner() > a.B.leaf() 1 20 20 20 20 20 20 0 0",
            "a.B.outer() > a.B.leaf() 1 10 10 10 10 10 10 0 0",
        ]
    );
    let told = "SELECT concat_ws(' ', s.begin_ns, s.cpu_ns, c.cpu_ns) FROM spans s JOIN calls c ON c.span = s.id ORDER BY s.begin_ns";
    assert_eq!(
        rows(&trace, told),
        [
            "1105 95 95",
            "1110 40 40",
            "1120 20 20",
            "1260 10 10",
            "1380 30 30"
        ]
    );

    // Without records of the scheduler only the call whose clock was read has one, and its path's sum is not known.
    let (_dir, trace) = built(&[(11, 1500, 40, 0, "a.B.outer()")], &clockless);
    let known = "SELECT concat_ws(' ', begin_ns, cpu_ns) FROM calls WHERE cpu_ns IS NOT NULL";
    assert_eq!(rows(&trace, known), ["1460 20"]);
    let sums =
        "SELECT concat_ws(' ', method, cpu_ns, self_cpu_ns) FROM call_tree ORDER BY path LIMIT 1";
    assert_eq!(rows(&trace, sums), ["a.B.outer()"]);
}
