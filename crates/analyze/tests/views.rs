//! The SQL views, on a convoy of three threads whose every interval is known.

use std::path::Path;

use loadline_analyze::testing::{KernelSpool, Recording};
use loadline_analyze::{build, query, report, views};
use loadline_trace::Trace;
use loadline_trace::spool::RawDir;
use loadline_trace::spool::agent::kind as ev;
use loadline_trace::spool::counters::{Counter, Line, Slice, Unit};
use loadline_trace::spool::kernel::{LEFT_BLOCKED, LEFT_RUNNABLE};

const MS: i64 = 1_000_000;

/// 11 serves a request and waits for a lock from 149 to 201 ms. 12 has it: it runs until 160, is blocked until 13,
/// which runs all the time, wakes it at 180 (in the midst of a job), gets a CPU at 185 and lets go at 190.
fn convoy() -> (tempfile::TempDir, Trace) {
    built(&recording(), "")
}

fn recording() -> Recording {
    let ran: [&[Stretch]; 3] = [
        &[(100, 13, 102, Some(150)), (190, 12, 200, Some(300))],
        &[(119, 13, 120, Some(160)), (180, 13, 185, Some(400))],
        &[(10, 12, 11, None)],
    ];
    let mut r = workers(ran, [90, 103, 121, 125], &[(11, 149, 201, &CODE)]);
    let a = &mut r.agent;
    a.event(12, 115 * MS, ev::SPAN_BEGIN, 5, 0, "job");
    a.event(12, 300 * MS, ev::SPAN_END, 5, 0, "");
    // In the request twice, and by another thread that has none: an array of 1,024 bytes that stands for 512 KiB, …
    for (tid, at, method, line, class, bytes) in [
        (11, 131, "shop.Cache.put", 41, "[B", 524_800),
        (11, 147, "shop.Cache.put", 41, "[B", 524_800),
        (11, 148, "java.util.HashMap.put", 9, "shop.Entry", 524_300),
        (12, 289, "shop.Job.run", 8, "shop.Entry", 524_300),
    ] {
        let stack = a.stack(&[CODE[0], CODE[1], (method, line)]);
        let size = if class == "[B" { 1024 } else { 24 };
        a.event(
            tid,
            at * MS,
            ev::ALLOCATION,
            bytes,
            stack | (size / 8),
            class,
        );
    }
    // Three objects of a chosen class, one of which is dead 90 ms later; the stack of one would have been too dear.
    for (number, at, stack) in [(1, 132, true), (2, 133, true), (3, 134, false)] {
        let stack = if stack { a.stack(&CODE[..2]) } else { 0 };
        a.event(11, at * MS, ev::OBJECT_NEW, number, stack | 3, "shop.Cart");
    }
    a.event(13, 222 * MS, ev::OBJECT_FREED, 1, 0, "");
    a.event(13, 223 * MS, ev::OBJECT_FREED, 77, 0, "");
    // The native half writes samples into a chunk of nobody's.
    const WRITES: Code = &[("libc.so.6!write", 0), ("kernel!system call", 0)];
    for (tid, at, method, line, native) in [
        (11, 130, "shop.Cache.put", 40, &[][..]),
        (11, 146, "shop.Cache.put", 40, WRITES),
        (12, 290, "shop.Job.run", 7, &WRITES[..1]),
        (77, 291, "shop.Nobody.run", 7, &[]),
    ] {
        let stack = a.stack(&[&[CODE[0], (method, line)], native].concat());
        a.event(0, at * MS, ev::SAMPLE, tid, stack | 20_000, "");
    }
    r
}

/// Methods and lines, the outermost first.
type Code = &'static [(&'static str, i32)];

const CODE: [(&str, i32); 3] = [
    ("java.lang.Thread.run", 840),
    ("shop.Cache.get", 31),
    ("java.util.HashMap.computeIfAbsent", 1220),
];

/// A time on a CPU, in ms: when it was woken, by which thread, there from, and to, if it left.
type Stretch = (i64, u32, i64, Option<i64>);

/// Three workers, 11 to 13, each on a CPU of its own. 11 serves a request until 250 ms on a connection; it is opened, visited,
/// parsed and its request begins at `at`. Of each (thread, from, to, code) a wait for the cache's monitor.
fn workers(ran: [&[Stretch]; 3], at: [i64; 4], waits: &[(u32, i64, i64, Code)]) -> Recording {
    const WORKERS: [(u32, &str); 3] = [(11, "exec-1"), (12, "exec-2"), (13, "exec-3")];
    let mut r = Recording::new(0, 1000 * MS);
    r.threads(MS, &WORKERS.map(|(tid, name)| (tid as i32, name, 'S')));
    let futex = Some(libc::SYS_futex as u32);
    for ((cpu, (tid, name)), ran) in (0..).zip(WORKERS).zip(ran) {
        let mut k = KernelSpool::default();
        for &(woken, by, from, to) in ran {
            k.waking(woken * MS, tid, by)
                .switch(from * MS, cpu, 0, LEFT_RUNNABLE, tid);
            if let Some(to) = to {
                k.switch_in(to * MS, cpu, tid, LEFT_BLOCKED, 0, futex, None);
            }
        }
        r.kernel.push(k);
        r.agent
            .event(tid, 2 * MS, ev::THREAD, u64::from(tid) + 20, 0, name);
    }
    let a = &mut r.agent;
    let [opened, visited, parsed, begun] = at.map(|ms| ms * MS);
    a.event(12, opened, ev::CONN_OPEN, 7, 5000, "127.0.0.1");
    a.event(11, visited, ev::VISIT_BEGIN, 7, 0, "");
    a.event(11, parsed, ev::REQUEST_PARSE, 0, 0, "");
    a.event(11, begun, ev::REQUEST, 0, 0, "GET /item/17");
    for &(tid, from, to, code) in waits {
        a.event(tid, from * MS, ev::MONITOR_ENTER, 99, 0, "shop.Cache");
        let stack = a.stack(code);
        a.event(tid, to * MS, ev::MONITOR_ENTERED, 99, stack, "shop.Cache");
    }
    a.event(11, 240 * MS, ev::STATUS, 0, 200, "");
    a.event(11, 250 * MS, ev::REQUEST_END, 0, 0, "");
    a.event(11, 260 * MS, ev::VISIT_END, 7, 0, "");
    r
}

/// The trace of a recording, with what its threads counted.
fn built(r: &Recording, counted: &str) -> (tempfile::TempDir, Trace) {
    let dir = tempfile::tempdir().expect("a directory");
    r.write(dir.path()).expect("spools");
    if !counted.is_empty() {
        std::fs::write(RawDir::of(dir.path()).counters(), counted).expect("a spool");
    }
    build(dir.path(), false, &mut |_, _| {}).expect("a trace");
    let trace = Trace::open(dir.path()).expect("it opens");
    (dir, trace)
}

fn answer(trace: &Trace, sql: &str) -> Vec<Vec<String>> {
    let rows = query::run(trace, sql)
        .unwrap_or_else(|e| panic!("{sql}: {e}"))
        .rows;
    rows.into_iter()
        .map(|r| {
            r.into_iter()
                .map(|c| c.unwrap_or_else(|| "-".into()))
                .collect()
        })
        .collect()
}

#[test]
fn what_the_owner_did_while_another_waited_adds_up_to_the_hold() {
    let (_dir, trace) = convoy();
    let sql = "SELECT class, ms(held_ns), ms(running_ns), ms(runnable_ns), ms(lock_ns), ms(io_ns), ms(other_ns) FROM lock_owners";
    let want = ["shop.Cache", "52.0", "27.0", "5.0", "0.0", "0.0", "20.0"];
    assert_eq!(answer(&trace, sql), [want]);
    let locks = answer(
        &trace,
        "SELECT class, waits, waiters, ms(wait_ns), convoy, ms(held_ns) FROM locks",
    );
    assert_eq!(locks, [["shop.Cache", "1", "1", "52.0", "1", "52.0"]]);
}

#[test]
fn the_critical_path_goes_through_those_who_were_waited_for_and_adds_up() {
    let (_dir, trace) = convoy();
    let path = "critical_path((SELECT id FROM spans WHERE kind = 'request'))";
    let waited = answer(
        &trace,
        &format!(
            "SELECT thread_name, cause, hops, begin_ns // 1000000, end_ns // 1000000 FROM {path} WHERE end_ns > 150000000 AND begin_ns < 200000000 ORDER BY begin_ns"
        ),
    );
    let want = [
        ["exec-2", "running", "1", "150", "160"],
        ["exec-3", "running", "2", "160", "180"],
        ["exec-2", "runnable", "1", "180", "185"],
        ["exec-2", "running", "1", "185", "190"],
        ["exec-1", "runnable", "0", "190", "200"],
    ];
    assert_eq!(waited, want);
    let gaps = answer(
        &trace,
        &format!(
            "SELECT sum(end_ns - begin_ns) = (SELECT end_ns - begin_ns FROM spans WHERE kind = 'request') FROM {path}"
        ),
    );
    assert_eq!(gaps, [["true"]]);
}

/// 11 waits for a lock from 100 to 200 ms. 12 has it until 150 and hands it to 13, which waited since 120 and did something
/// else before; 13 hands it to 11.
fn handed_on() -> Recording {
    let ran: [&[Stretch]; 3] = [
        &[(50, 13, 50, Some(100)), (200, 13, 200, Some(300))],
        &[(20, 11, 20, Some(400))],
        &[(10, 12, 10, Some(120)), (150, 12, 150, Some(400))],
    ];
    workers(
        ran,
        [30, 51, 52, 53],
        &[(11, 99, 201, &[]), (13, 119, 151, &[])],
    )
}

#[test]
fn a_critical_path_through_a_lock_is_that_of_its_owners_in_turn() {
    let (_dir, trace) = built(&handed_on(), "");
    let path = "critical_path((SELECT id FROM spans WHERE kind = 'request'))";
    let waited = answer(
        &trace,
        &format!(
            "SELECT thread_name, cause, hops, begin_ns // 1000000, end_ns // 1000000 FROM {path} ORDER BY begin_ns"
        ),
    );
    // Not what 13, which woke 11, did before its own turn.
    assert_eq!(
        waited[1..waited.len() - 1],
        [
            ["exec-2", "running", "1", "100", "151"],
            ["exec-3", "running", "1", "151", "200"]
        ]
    );
    let holds = answer(
        &trace,
        "SELECT t.name, h.begin_ns // 1000000, h.end_ns // 1000000 FROM lock_holds h JOIN threads t ON t.id = h.owner ORDER BY 2",
    );
    assert_eq!(holds, [["exec-2", "99", "151"], ["exec-3", "151", "201"]]);
}

#[test]
fn a_waking_chain_leads_to_who_was_waited_for_in_the_end() {
    let (_dir, trace) = convoy();
    let sql = "SELECT step, thread_name, begin_ns // 1000000, end_ns // 1000000, waker_name FROM waking_chain((SELECT id FROM threads WHERE name = 'exec-1'), 160000000) ORDER BY step";
    let want = [
        ["0", "exec-1", "150", "190", "exec-2"],
        ["1", "exec-2", "160", "180", "exec-3"],
    ];
    assert_eq!(answer(&trace, sql), want);
}

#[test]
fn the_code_that_waited_is_the_innermost_that_is_not_the_jdks() {
    let (_dir, trace) = convoy();
    let sql = "SELECT w.code, w.file, w.line, w.request_name, f.name FROM wait_code w, stack_frames(w.stack) f ORDER BY f.depth DESC";
    let of = |frame| ["shop.Cache.get", "Shop.java", "31", "GET /item/17", frame];
    let want = [
        of("java.util.HashMap.computeIfAbsent"),
        of("shop.Cache.get"),
        of("java.lang.Thread.run"),
    ];
    assert_eq!(answer(&trace, sql), want);

    let report = report::report(&trace).expect("a report");
    let places: Vec<_> = report
        .code
        .iter()
        .map(|c| (c.of, &*c.name, &*c.code, c.count, c.total_ms, c.stack.len()))
        .collect();
    let want = [
        ("lock", "shop.Cache", "shop.Cache.get", 1, 52.0, 3),
        ("request", "GET /item/#", "shop.Cache.get", 1, 52.0, 3),
        ("cpu", "GET /item/#", "shop.Cache.put", 2, 40.0, 2),
    ];
    assert_eq!(places, want);
    assert_eq!(report.code[0].share, 1.0);
    let page = report.render(false);
    assert!(
        page.contains("shop.Cache.get:31") && page.lines().all(|l| l.chars().count() <= 100),
        "{page}"
    );
}

#[test]
fn what_ran_is_told_per_sample_with_its_code_and_request() {
    let (_dir, trace) = convoy();
    let sql = "SELECT t.name, c.ts_ns // 1000000, c.weight // 1000000, c.code, c.line, c.request_name FROM cpu_code c JOIN threads t ON t.id = c.thread ORDER BY 2";
    let of = |thread, at, code, line, request| [thread, at, "20", code, line, request];
    let want = [
        of("exec-1", "130", "shop.Cache.put", "40", "GET /item/17"),
        of("exec-1", "146", "shop.Cache.put", "40", "GET /item/17"),
        of("exec-2", "290", "shop.Job.run", "7", "-"),
    ];
    assert_eq!(
        answer(&trace, sql),
        want,
        "a thread that nobody knows has none, and what native code does is its caller's"
    );
    let sql = "SELECT f.kind, f.name, f.file FROM cpu_code c, stack_frames(c.stack) f WHERE c.ts_ns // 1000000 = 146 ORDER BY f.depth DESC";
    let want = [
        ["kernel", "system call", "-"],
        ["native", "write", "libc.so.6"],
        ["java", "shop.Cache.put", "Shop.java"],
        ["java", "java.lang.Thread.run", "Shop.java"],
    ];
    assert_eq!(answer(&trace, sql), want);
}

#[test]
fn every_view_has_an_example_that_runs_and_stands_in_the_documentation() {
    let (_dir, trace) = convoy();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/query.md");
    let page = std::fs::read_to_string(page).expect("docs/query.md");
    for view in views::ALL {
        answer(&trace, view.example);
        assert!(
            page.contains(view.example),
            "docs/query.md lacks the example of {}:\n{}",
            view.name,
            view.example
        );
        assert!(
            page.contains(&format!("`{}`", view.name)),
            "docs/query.md lacks {}",
            view.name
        );
    }
}

#[test]
fn every_query_of_a_diagnosis_runs_by_itself() {
    let (_dir, trace) = convoy();
    let found = loadline_analyze::diagnose::diagnose(&trace).expect("a diagnosis");
    assert!(found.queries.len() > 10);
    for q in &found.queries {
        answer(&trace, q.sql);
    }
    for f in &found.findings {
        assert!(
            f.queries
                .iter()
                .all(|n| (1..=found.queries.len()).contains(n)),
            "{}",
            f.name
        );
    }
}

#[test]
fn every_hypothesis_stands_in_the_documentation_with_its_claim() {
    let (_dir, trace) = convoy();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnose.md");
    let page = std::fs::read_to_string(page).expect("docs/diagnose.md");
    let found = loadline_analyze::diagnose::diagnose(&trace).expect("a diagnosis");
    for f in &found.findings {
        let row = format!("| `{}` | {} |", f.name, f.hypothesis);
        assert!(page.contains(&row), "docs/diagnose.md lacks: {row}");
    }
}

#[test]
fn what_the_kernel_saw_of_a_request_is_counted() {
    let (_dir, trace) = convoy();
    // On a worker from 103 to 260 ms: it ran until 150, waited for the lock until 190 and for a CPU until 200, and ran on.
    let sql = "SELECT name, value::BIGINT, estimated FROM request_counters ORDER BY name";
    let begin: i64 = answer(
        &trace,
        "SELECT (SELECT begin_ns FROM spans WHERE kind = 'request') // 1000000",
    )[0][0]
        .parse()
        .expect("a number");
    let running = (150 - begin + 50) * MS;
    let want = [
        ["cpu_ns".to_owned(), running.to_string(), "false".into()],
        ["involuntary_switches".into(), "0".into(), "false".into()],
        ["migrations".into(), "0".into(), "false".into()],
        ["run_queue_ns".into(), (10 * MS).to_string(), "false".into()],
        ["voluntary_switches".into(), "1".into(), "false".into()],
    ];
    assert_eq!(answer(&trace, sql), want);
    // The same, asked for a time in which it lies; and nothing for one that it reaches out of.
    let within = |from: i64, to: i64| {
        let sql = format!("SELECT count(*) FROM request_counters_within({from}, {to})");
        answer(&trace, &sql)[0][0].clone()
    };
    assert_eq!(within(begin * MS, 250 * MS), "5");
    assert_eq!(within((begin + 1) * MS, 250 * MS), "0");
}

/// Two slices of 200 ms, in which 11 ran for 48 and for 100 ms.
fn counted() -> String {
    let counter = |name: &str, unit| Counter {
        name: name.into(),
        title: name.into(),
        unit,
    };
    let slice = |at: i64, cpu: i64, faults: f64, ended: f64| {
        Line::Slice(Slice {
            begin_ns: at * 200 * MS,
            end_ns: (at + 1) * 200 * MS,
            threads: [(11, ("exec-1".to_owned(), vec![(cpu * MS) as f64, faults]))].into(),
            ended: vec![ended * MS as f64, 0.0],
        })
    };
    let lines = [
        Line::Head {
            counters: vec![
                counter("cpu_ns", Unit::Nanos),
                counter("minor_faults", Unit::Count),
            ],
        },
        slice(0, 48, 96.0, 3.0),
        slice(1, 100, 10.0, -1.0),
        Line::End {
            notes: vec!["groups took turns".into()],
            never: vec![],
        },
    ];
    let text = |line| serde_json::to_string(line).expect("plain data") + "\n";
    lines.iter().map(text).collect()
}

#[test]
fn what_a_thread_counted_is_shared_out_by_time_on_a_cpu() {
    let (_dir, trace) = built(&recording(), &counted());
    // 47 of the 48 ms on a CPU in the first slice, and 50 of the 100 in the second, are the request's.
    let sql = "SELECT value, estimated FROM request_counters WHERE name = 'minor_faults'";
    assert_eq!(answer(&trace, sql), [["99.0", "true"]]);
    let exact = "SELECT value / 1e6, estimated FROM request_counters WHERE name = 'cpu_ns'";
    assert_eq!(answer(&trace, exact), [["97.0", "false"]]);
    assert!(trace.meta.notes.contains(&"groups took turns".to_owned()));
    let report = loadline_analyze::report::report(&trace).expect("a report");
    assert_eq!(report.costs.len(), 4, "{:?}", report.costs);
    let page = report.render(false);
    assert!(
        page.contains("minor faults") && page.contains("~ 99"),
        "{page}"
    );
}

#[test]
fn lanes_begin_with_nothing_and_add_up() {
    let (_dir, trace) = built(&recording(), &counted());
    let sql = "SELECT ts_ns // 1000000, scope, value / 1e6 FROM counters WHERE name = 'cpu_ns' ORDER BY scope, ts_ns";
    let want = [
        ["0", "role ended", "0.0"],
        ["200", "role ended", "3.0"],
        ["400", "role ended", "2.0"],
        ["0", "role workers", "0.0"],
        ["200", "role workers", "48.0"],
        ["400", "role workers", "148.0"],
    ];
    assert_eq!(answer(&trace, sql), want);
    let rows = "SELECT count(*), sum(value) FILTER (name = 'minor_faults') FROM thread_counters";
    assert_eq!(answer(&trace, rows), [["4", "106.0"]]);
}

#[test]
fn allocations_are_told_by_request_code_and_class() {
    let (dir, trace) = convoy();
    let sql = "SELECT t.name, class, a.bytes, a.size, code, line, request_name FROM allocations a JOIN threads t ON t.id = a.thread ORDER BY ts_ns";
    assert_eq!(
        answer(&trace, sql),
        [
            [
                "exec-1",
                "byte[]",
                "524800",
                "1024",
                "shop.Cache.put",
                "41",
                "GET /item/17"
            ],
            [
                "exec-1",
                "byte[]",
                "524800",
                "1024",
                "shop.Cache.put",
                "41",
                "GET /item/17"
            ],
            // The innermost that is not the JDK's.
            [
                "exec-1",
                "shop.Entry",
                "524300",
                "24",
                "shop.Cache.get",
                "31",
                "GET /item/17"
            ],
            [
                "exec-2",
                "shop.Entry",
                "524300",
                "24",
                "shop.Job.run",
                "8",
                "-"
            ],
        ]
    );
    let sql = "SELECT request_type, code, class, samples, bytes, objects, bytes_per_request FROM allocation_sites WHERE class = 'byte[]'";
    assert_eq!(
        answer(&trace, sql),
        [[
            "GET /item/#",
            "shop.Cache.put",
            "byte[]",
            "2",
            "1049600",
            "1025.0",
            "1049600.0"
        ]]
    );
    let report = report::report(&trace).expect("a report");
    let places: Vec<_> = report
        .allocated
        .iter()
        .map(|a| (a.name.as_str(), a.code.as_str(), a.class.as_str(), a.bytes))
        .collect();
    assert_eq!(
        places,
        [
            ("GET /item/#", "shop.Cache.put", "byte[]", 1_049_600),
            ("GET /item/#", "shop.Cache.get", "shop.Entry", 524_300),
        ]
    );
    let page = report.render(false);
    assert!(
        page.contains("the code that allocates") && page.contains("67%"),
        "{page}"
    );

    // A trace that was made before sizes were told.
    let file = dir.path().join("samples.parquet");
    let older = dir.path().join("older.parquet");
    let (from, to) = (file.display(), older.display());
    let db = loadline_trace::duckdb::Connection::open_in_memory().expect("DuckDB");
    db.execute_batch(&format!(
        "COPY (SELECT * EXCLUDE size FROM '{from}') TO '{to}'"
    ))
    .expect("copied");
    std::fs::rename(&older, &file).expect("renamed");
    let older = Trace::open(dir.path()).expect("it opens");
    let sql =
        "SELECT count(*), count(size), count(DISTINCT class) FROM samples WHERE kind = 'alloc'";
    assert_eq!(answer(&older, sql), [["4", "0", "2"]]);
}

#[test]
fn objects_of_chosen_classes_have_lives() {
    let (_dir, trace) = convoy();
    let sql = "SELECT class, code, line, allocated, bytes, freed, alive, mean_life_ns FROM object_sites ORDER BY allocated DESC";
    assert_eq!(
        answer(&trace, sql),
        [
            [
                "shop.Cart",
                "shop.Cache.get",
                "31",
                "2",
                "48",
                "1",
                "1",
                "90000000.0"
            ],
            ["shop.Cart", "-", "-", "1", "24", "0", "1", "-"],
        ]
    );
    let page = report::report(&trace).expect("a report").render(false);
    assert!(
        page.contains("objects of chosen classes") && page.contains("(no stack)"),
        "{page}"
    );
}
