//! What a recording says of threads must be what the kernel and the JVM know to be true.

mod common;

use common::{
    Jvm, alone, compiled_program, java_program, jdks, kernel_level_or_skip, run_ok, scratch, sql,
    text,
};
use loadline_trace::Trace;

#[test]
fn running_time_is_the_cpu_time_of_the_process_and_states_have_no_gaps() {
    if !kernel_level_or_skip("running_time_is_the_cpu_time_of_the_process") {
        return;
    }
    let _alone = alone();
    let (_dir, out) = scratch();
    let recorded = run_ok(&[
        "record",
        "-o",
        &out,
        "--",
        "java",
        &java_program("Compute"),
        "4",
        "3000",
    ]);
    let stdout = String::from_utf8_lossy(&recorded.stdout).into_owned();
    let (cpu_ns, until) = stdout
        .lines()
        .find_map(|l| l.strip_prefix("cpu_ns ")?.split_once(' '))
        .unwrap_or_else(|| panic!("no cpu_ns line in:\n{}", text(&recorded)));
    let cpu_ns: f64 = cpu_ns.parse().expect("a number");
    let until: i64 = until.parse().expect("a time");
    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    assert_eq!(trace.meta.lost(), 0, "{:?}", trace.meta.losses);

    let running: f64 = sql(
        &trace,
        &format!(
            "SELECT sum(least(end_ns, {until}) - begin_ns)::DOUBLE FROM states WHERE state = 'running' AND begin_ns < {until}"
        ),
    );
    // What a hypervisor takes from a CPU counts as running, and is nobody's CPU time.
    let stolen: f64 = sql(
        &trace,
        "SELECT (max(value) - min(value)) * 1e9 FROM counters WHERE scope = 'machine' AND name = 'steal_seconds'",
    );
    let apart = running - cpu_ns;
    assert!(
        apart > -0.01 * cpu_ns && apart < 0.01 * cpu_ns + stolen,
        "running {running} ns, the process says {cpu_ns} ns, {stolen} were stolen: {:.2}% apart",
        apart / cpu_ns * 100.0
    );

    let computing: i64 = sql(
        &trace,
        "SELECT count(*) FROM threads WHERE name LIKE 'compute-%'",
    );
    assert_eq!(computing, 4);
    let with_gaps: i64 = sql(
        &trace,
        "SELECT count(*) FROM (
             SELECT t.id, t.begin_ns, t.end_ns, min(s.begin_ns) b, max(s.end_ns) e, sum(s.end_ns - s.begin_ns) total
             FROM threads t LEFT JOIN states s ON s.thread = t.id WHERE t.tid IS NOT NULL GROUP BY ALL)
         WHERE b IS DISTINCT FROM begin_ns OR e IS DISTINCT FROM end_ns OR total IS DISTINCT FROM end_ns - begin_ns",
    );
    assert_eq!(
        with_gaps, 0,
        "threads whose states do not add up to their lifetime"
    );
    let overlaps: i64 = sql(
        &trace,
        "SELECT count(*) FROM (SELECT begin_ns, lag(end_ns) OVER (PARTITION BY thread ORDER BY begin_ns) AS before FROM states)
         WHERE before IS NOT NULL AND before <> begin_ns",
    );
    assert_eq!(
        overlaps, 0,
        "intervals that do not begin where the one before ended"
    );
}

#[test]
fn a_held_monitor_is_a_wait_of_that_time_with_class_and_owner() {
    let _alone = alone();
    let (_dir, out) = scratch();
    let recorded = run_ok(&[
        "record",
        "-o",
        &out,
        "--",
        "java",
        &java_program("Hold"),
        "5",
        "200",
    ]);
    let stdout = String::from_utf8_lossy(&recorded.stdout).into_owned();
    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    let db = trace.sql().expect("views");
    // Its first: at its end it may wait for its own monitor, which whoever joins it has.
    let mut waits = db
        .prepare(
            "SELECT w.end_ns - w.begin_ns, w.class, o.name, w.begin_ns FROM waits w
             JOIN threads t ON t.id = w.thread LEFT JOIN threads o ON o.id = w.owner
             WHERE t.name = ? AND w.kind = 'monitor_enter' ORDER BY w.begin_ns",
        )
        .expect("sql");
    let truth: Vec<(i64, i64)> = stdout
        .lines()
        .filter_map(|l| l.strip_prefix("waited "))
        .filter_map(|l| l.split_once(' '))
        .map(|(b, e)| (b.parse().expect("begin"), e.parse().expect("end")))
        .collect();
    assert_eq!(truth.len(), 5, "{}", text(&recorded));
    let planted: i64 = loadline_analyze::views::open(&trace)
        .expect("views")
        .query_row(
            "SELECT count(*) FROM wait_code WHERE class LIKE '%Treasure' AND code LIKE 'Hold.lambda$main$%' AND file = 'Hold.java'",
            [],
            |r| r.get(0),
        )
        .expect("a count");
    assert_eq!(planted, 5, "waits of 200 ms with the code that waited");
    // A busy machine may hold a thread up between its reading of the clock and its waiting, and end
    // its last sleep by the JVM's own timer instead of by the owner: not most of the time.
    let (mut exact, mut owned) = (0, 0);
    for (i, (begin, end)) in truth.into_iter().enumerate() {
        let (duration, class, owner, at): (i64, String, Option<String>, i64) = waits
            .query_row([format!("waiter-{i}")], |r| {
                Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?))
            })
            .unwrap_or_else(|e| panic!("no wait of waiter-{i}: {e}"));
        assert!(
            at >= begin - 1_000_000 && at + duration <= end + 1_000_000,
            "{duration} ns from {at} on, the waiter saw {begin} to {end}"
        );
        exact += i32::from(end - begin - duration < 1_000_000);
        assert!(class.contains("Treasure"), "class {class}");
        if let Some(owner) = owner {
            assert_eq!(owner, format!("owner-{i}"));
            owned += 1;
        }
    }
    assert!(exact >= 3, "{exact} of 5 waits as long as the waiter saw");
    if trace.meta.has("kernel") {
        assert!(owned >= 3, "{owned} of 5 owners known");
    }
}

#[test]
fn a_jvm_started_without_the_agent_is_recorded_twice_and_goes_on() {
    let _alone = alone();
    let jvm = Jvm::java(&[&java_program("Ticks"), "60"]);
    jvm.line("ready");
    for _ in 0..2 {
        let (_dir, out) = scratch();
        run_ok(&["record", "--pid", &jvm.pid(), "-o", &out, "-d", "1s"]);
        let trace = Trace::open(out.as_ref()).expect("a finished trace");
        let waits: i64 = sql(
            &trace,
            "SELECT count(*) FROM waits w JOIN threads t ON t.id = w.thread WHERE t.name LIKE 'tick-%' AND w.kind = 'monitor_wait'",
        );
        assert!(
            waits > 20,
            "{waits} waits in a second of two threads that wait at most 5 ms each"
        );
        assert!(
            !std::path::Path::new(&out).join("raw").exists(),
            "raw spools are left"
        );
    }
}

#[test]
fn the_tables_are_plain_parquet_that_duckdb_reads_without_us() {
    let _alone = alone();
    let (_dir, out) = scratch();
    run_ok(&[
        "record",
        "--samples",
        "5ms",
        "-o",
        &out,
        "--",
        "java",
        &java_program("Compute"),
        "1",
        "200",
    ]);
    let db = loadline_trace::duckdb::Connection::open_in_memory().expect("DuckDB");
    for table in loadline_trace::tables::all() {
        let mut statement = db
            .prepare(&format!(
                "DESCRIBE SELECT * FROM read_parquet('{out}/{}.parquet')",
                table.name
            ))
            .expect("a readable file");
        let columns: Vec<(String, String)> = statement
            .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))
            .expect("columns")
            .map(|r| r.expect("a column"))
            .collect();
        let wanted: Vec<(String, String)> = table
            .columns
            .iter()
            .map(|c| (c.name.into(), c.sql_type.into()))
            .collect();
        assert_eq!(columns, wanted, "{}", table.name);
    }
    let named: i64 = db
        .query_row(
            &format!("SELECT count(*) FROM '{out}/threads.parquet' WHERE name = 'compute-0'"),
            [],
            |r| r.get(0),
        )
        .expect("a count");
    assert_eq!(named, 1);

    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    let sampled: i64 = sql(
        &trace,
        "SELECT count(*) FROM samples s JOIN threads t ON t.id = s.thread WHERE t.name = 'compute-0'",
    );
    assert!(sampled >= 5, "{sampled} samples of 200 ms or so");
    let hottest: String = sql(
        &trace,
        "SELECT s.name FROM samples p JOIN threads t ON t.id = p.thread JOIN stacks s ON s.id = p.stack
         WHERE t.name = 'compute-0' GROUP BY s.name ORDER BY sum(p.weight) DESC LIMIT 1",
    );
    assert!(hottest.starts_with("Compute.lambda$main$"), "{hottest}");
}

#[test]
fn what_the_jvm_does_itself_and_what_is_allocated_is_told_on_request() {
    let _alone = alone();
    for (version, home) in jdks() {
        let (dir, out) = scratch();
        let java = home.join("bin/java").display().to_string();
        // Apart, as what the compiler allocates spends the samples' CPU time.
        let classes = compiled_program(&home, "Inside", dir.path());
        let asked = ["--vm", "all", "--allocations", "64k"];
        let command = [
            "-o", &out, "--", &java, "-Xmx256m", "-cp", &classes, "Inside",
        ];
        run_ok(&[&["record"], &asked[..], &command[..]].concat());
        let trace = Trace::open(out.as_ref()).expect("a finished trace");
        let has_kernel = trace.meta.has("kernel");
        let count =
            |what: &str| -> i64 { sql(&trace, &format!("SELECT count(*) FROM vm WHERE {what}")) };
        let on = format!(
            "JDK {version}, notes {:?}, lost {:?}",
            trace.meta.notes, trace.meta.losses
        );
        assert_eq!(
            count("kind = 'class_load' AND name = 'Inside$Late'"),
            1,
            "{on}"
        );
        let trapped = "kind = 'deoptimization' AND name = 'Inside.work'";
        assert!(count(trapped) >= 1, "{on}");
        let compiled = "kind = 'compilation' AND name = 'Inside.work' AND cause LIKE 'C2%'";
        assert!(count(compiled) >= 1, "{on}");
        if has_kernel {
            // Where the kernel lost a record nobody knows when the compiler was done.
            let odd: Option<String> = sql(
                &trace,
                &format!(
                    "SELECT string_agg(concat_ws(' ', cause, begin_ns, end_ns), '; ') FROM vm
                     WHERE {compiled} AND (end_ns <= begin_ns OR end_ns - begin_ns > 1000000000) AND NOT EXISTS (
                         FROM states s JOIN threads t ON t.id = s.thread WHERE t.name LIKE 'C2 %' AND s.state = 'unknown'
                         AND s.begin_ns <= vm.end_ns AND s.end_ns >= vm.begin_ns)"
                ),
            );
            assert_eq!(odd, None, "{on}");
        }
        // The pause that System.gc() made, as JVMTI told of it, and a phase of the log's that is the same.
        let paused = "kind = 'gc_phase' AND name LIKE 'Pause Full%' AND EXISTS (FROM vm g WHERE g.kind = 'gc' AND g.begin_ns < vm.end_ns AND g.end_ns > vm.begin_ns)";
        assert!(count(paused) >= 1, "{on}");
        let inner = "kind = 'gc_phase' AND cause LIKE 'Pause Full%'";
        assert!(count(inner) >= 3, "{on}");
        let allocated: f64 = sql(
            &trace,
            "SELECT sum(weight)::DOUBLE FROM samples s JOIN stacks c ON c.id = s.stack WHERE s.kind = 'alloc' AND s.class = 'byte[]' AND c.name = 'Inside.allocate'",
        );
        let off = allocated / f64::from(64 << 20) - 1.0;
        assert!(
            off.abs() < 0.15,
            "{off} off, where a standard error is 3%; {on}"
        );
        if has_kernel {
            let made: bool = sql(
                &trace,
                "SELECT p.name = 'maker' AND t.end_ns - t.begin_ns BETWEEN 60000000 AND 500000000 AND t.begin_ns > p.begin_ns
                 FROM threads t JOIN threads p ON p.id = t.parent WHERE t.name = 'made'",
            );
            assert!(made, "who made it, and how long it was; {on}");
        }
    }
}
