//! `loadline counters` on a real JVM whose units of work are known: the wholesale company.

mod common;

use std::process::{Command, Output, Stdio};

use common::{
    Jvm, alone, auction, kernel_level_or_skip, loadline, root, run, run_ok, scratch, text,
};
use loadline_analyze::query;
use loadline_trace::Trace;
use serde_json::Value;

const UNITS: &str = "new-order,payment,order-status,delivery,stock-level";

fn wholesale(seconds: u32) -> Jvm {
    let jar = root().join("bed/wholesale/target/wholesale.jar");
    assert!(
        jar.exists(),
        "{} is missing: run `make build`",
        jar.display()
    );
    let mut java = Command::new("java");
    java.arg("-jar")
        .arg(jar)
        .args(["--warehouses", "2", "--items", "500", "--ramp", "1"])
        .args(["--measure", &seconds.to_string()]);
    let jvm = Jvm::start(java);
    jvm.line("wholesale: ");
    jvm
}

fn json(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(out)))
}

fn figure<'a>(summary: &'a Value, name: &str) -> &'a Value {
    summary["figures"]
        .as_array()
        .and_then(|all| all.iter().find(|f| f["name"] == name))
        .unwrap_or_else(|| panic!("no figure {name} in {summary}"))
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_unit_of_work_costs_what_its_program_used_over_what_it_did() {
    let _one = alone();
    let jvm = wholesale(60);
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name).display().to_string();
    let (pid, csv, html) = (jvm.pid(), at("counters.csv"), at("counters.html"));
    let recorded = run_ok(&[
        "counters",
        "--pid",
        &pid,
        "-d",
        "6s",
        "--slice",
        "200ms",
        "--unit",
        UNITS,
        "--json",
        "--csv",
        &csv,
        "--html",
        &html,
        "--events",
        "msr/tsc/,alignment-faults",
    ]);
    let summary = json(&recorded);
    let units = number(&summary["units"]);
    assert!(units > 1_000.0, "{units} transactions in six seconds");
    let cpu = figure(&summary, "cpu_ns");
    let total = number(&cpu["total"]);
    assert!((number(&cpu["per_unit"]["value"]) * units / total - 1.0).abs() < 1e-6);
    assert!(number(&cpu["per_unit"]["ci95"]) > 0.0);
    // Two warehouses never wait for anything but a CPU: workers use most of what the process does.
    assert!(number(&cpu["by_role"]["workers"]) > 0.5 * total, "{cpu}");
    let modes = number(&figure(&summary, "user_ns")["total"])
        + number(&figure(&summary, "kernel_ns")["total"]);
    assert!(
        (modes / total - 1.0).abs() < 0.1,
        "user and kernel time are {modes} of {total}"
    );
    let rows = std::fs::read_to_string(&csv).expect("the CSV");
    assert!(
        rows.starts_with("counter,unit,total") && rows.contains("\ncpu_ns,ns,"),
        "{rows}"
    );

    // A page with the same figures, which fetches nothing.
    let page = std::fs::read_to_string(&html).expect("the page");
    assert!(
        page.contains("CPU time by role") && page.contains("<svg") && page.contains("<td>"),
        "{page}"
    );
    assert!(
        page.contains("involuntary") && !page.contains("NaN") && !page.contains("src="),
        "{page}"
    );
    // Slices are longer than asked where a reading is dear or has to wait for a CPU: what they hold is the whole all the
    // same.
    let slices = summary["over_time"].as_array().expect("slices");
    assert!(slices.len() > 8, "{slices:?}");
    let units_by_slice: f64 = slices.iter().map(|s| number(&s["units"])).sum();
    assert_eq!(units_by_slice, units);
    let seconds: f64 = slices.iter().map(|s| number(&s["seconds"])).sum();
    assert!((4.0..7.0).contains(&seconds), "{seconds} s");
    // An event by the kernel's name, through its sysfs: time stamps pass while threads are on a CPU.
    let has = |name: &str| {
        summary["figures"]
            .as_array()
            .is_some_and(|all| all.iter().any(|f| f["name"] == name))
    };
    match (has("msr_tsc"), has("perf_alignment_faults")) {
        (true, _) => {
            let ticks = number(&figure(&summary, "msr_tsc")["total"]);
            let per_ns = ticks / total;
            assert!(
                (0.3..10.0).contains(&per_ns),
                "{ticks} ticks in {total} ns on a CPU"
            );
        }
        (_, there) => common::skip(
            "an event by the kernel's name",
            &format!("no msr/tsc/ here (software events: {there})"),
        ),
    }

    // From outside, without a recording; and counts beside each other.
    let outside = run_ok(&[
        "counters", "--pid", &pid, "-d", "2s", "--slice", "200ms", "--unit", "none", "--json",
    ]);
    let summary = json(&outside);
    assert_eq!(summary["units"], 0);
    assert!(number(&figure(&summary, "cpu_ns")["by_role"]["workers"]) > 0.0);
    let (a, b, c) = (at("a.json"), at("b.json"), at("c.json"));
    for (file, out) in [(&a, &outside), (&b, &outside), (&c, &recorded)] {
        std::fs::write(file, &out.stdout).expect("a file");
    }
    let same = text(&run_ok(&["counters", "--compare", &a, &b]));
    assert!(
        same.contains("CPU time") && same.contains("1.00") && !same.contains("differs"),
        "{same}"
    );
    let other = run(&["counters", "--compare", &a, &c]);
    assert_eq!(other.status.code(), Some(1));
    assert!(text(&other).contains("--unit"), "{}", text(&other));
}

#[test]
fn a_unit_that_does_not_exist_is_named_beside_those_that_do() {
    let _one = alone();
    let jvm = wholesale(30);
    let page = text(&run_ok(&[
        "counters",
        "--pid",
        &jvm.pid(),
        "-d",
        "1500ms",
        "--slice",
        "200ms",
        "--unit",
        "parcel",
    ]));
    assert!(
        page.contains("no parcel ended meanwhile; there were") && page.contains("new-order"),
        "{page}"
    );
    assert!(page.contains("per second"), "{page}");
}

#[test]
fn what_is_no_count_is_refused_by_name() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("x.json").display().to_string();
    std::fs::write(&file, "{}").expect("a file");
    let done = run(&["counters", "--compare", &file, &file]);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        text(&done).contains("x is not what `loadline counters --json` prints"),
        "{}",
        text(&done)
    );
    let other = run(&["counters", "--pid", "1", "--unit", "none", "-d", "1s"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(
        text(&other).contains("process 1 is not a Java virtual machine"),
        "{}",
        text(&other)
    );
    let wrong = run(&["counters", "--pid", "x", "--slice", "1ms"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong));
    for command in [
        &["counters", "--pid", "1", "--unit", "none"][..],
        &["record", "--pid", "1", "--counters"],
    ] {
        let unknown = run(&[command, &["--events", "no-such-event"]].concat());
        assert_eq!(unknown.status.code(), Some(2), "{}", text(&unknown));
        assert!(
            text(&unknown).contains("the kernel has no event no-such-event"),
            "{}",
            text(&unknown)
        );
    }
}

fn asked(trace: &Trace, sql: &str) -> Vec<Vec<String>> {
    let rows = query::run(trace, sql)
        .unwrap_or_else(|e| panic!("{sql}: {e}"))
        .rows;
    let text = |row: Vec<Option<String>>| row.into_iter().map(Option::unwrap_or_default).collect();
    rows.into_iter().map(text).collect()
}

fn one(trace: &Trace, sql: &str) -> f64 {
    let value = asked(trace, sql)[0][0].clone();
    value.parse().unwrap_or_else(|_| panic!("{sql}: {value:?}"))
}

#[test]
fn lanes_of_a_trace_add_up_to_what_its_process_used() {
    let _one = alone();
    let jvm = wholesale(60);
    let (_dir, out) = scratch();
    run_ok(&[
        "record",
        "--pid",
        &jvm.pid(),
        "-o",
        &out,
        "-d",
        "4s",
        "--counters",
        "--levels",
        "jvm,app",
    ]);
    let trace = Trace::open(out.as_ref()).expect("a trace");
    let grown = |counter: &str, scope: &str| {
        format!(
            "SELECT sum(grown) FROM (SELECT last(value ORDER BY ts_ns) - first(value ORDER BY ts_ns) AS grown FROM counters
             WHERE name = '{counter}' AND scope LIKE '{scope}' GROUP BY scope)"
        )
    };
    let lanes = one(&trace, &grown("cpu_ns", "role %")) / 1e9;
    let process = one(&trace, &grown("cpu_seconds", "process"));
    assert!(
        process > 2.0 && (lanes / process - 1.0).abs() < 0.05,
        "lanes {lanes} s, process {process} s"
    );
    // Two warehouses do nothing but work.
    let workers = one(&trace, &grown("cpu_ns", "role workers")) / 1e9;
    assert!(workers > 0.5 * process, "workers {workers} of {process} s");
    let modes =
        one(&trace, &grown("user_ns", "role %")) + one(&trace, &grown("kernel_ns", "role %"));
    assert!(
        (modes / 1e9 / process - 1.0).abs() < 0.1,
        "user and kernel {modes} ns of {process} s"
    );
    let readings = one(
        &trace,
        "SELECT count(DISTINCT ts_ns) FROM counters WHERE scope = 'role workers'",
    );
    assert!(
        (8.0..=24.0).contains(&readings),
        "{readings} readings of 200 ms in 4 s"
    );
    // What each thread counted adds up to the lanes, but for what ended.
    let threads = one(
        &trace,
        "SELECT sum(value) / 1e9 FROM thread_counters WHERE name = 'cpu_ns'",
    );
    assert!(
        (threads / process - 1.0).abs() < 0.05,
        "threads {threads} s, process {process} s"
    );
}

#[test]
fn a_request_has_what_it_cost() {
    if !kernel_level_or_skip("a_request_has_what_it_cost") {
        return;
    }
    let _one = alone();
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    let (server, url) = auction(&[], &[]);
    let mut load = loadline()
        .args(["load", &url, "--insecure"])
        .args(["--users", "8", "--think", "50ms", "-d", "9s"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the load generator starts");
    let out = at("shop.trace").display().to_string();
    run_ok(&[
        "record",
        "--pid",
        &server.pid(),
        "-o",
        &out,
        "-d",
        "4s",
        "--counters",
    ]);
    load.wait().expect("it ends");
    let trace = Trace::open(out.as_ref()).expect("a trace");
    // Exact figures are those of the breakdown, which is made of the same states in another way.
    let sql = "SELECT count(*), max(abs(c.value - coalesce(b.ns, 0))) FROM request_counters c
        LEFT JOIN (SELECT span, sum(duration_ns) AS ns FROM breakdown WHERE kind = 'request' AND cause = 'running' GROUP BY span) b ON b.span = c.request
        WHERE c.name = 'cpu_ns' AND NOT c.estimated";
    let row = asked(&trace, sql).remove(0);
    assert!(row[0].parse::<f64>().is_ok_and(|n| n > 50.0), "{row:?}");
    assert_eq!(row[1].parse::<f64>().ok(), Some(0.0), "{row:?}");
    // Estimates: a request's user and kernel time are about its time on a CPU, on average.
    let mean = |names: &str| {
        one(
            &trace,
            &format!(
                "SELECT sum(value) / count(DISTINCT request) FROM request_counters WHERE name IN ({names})"
            ),
        )
    };
    let (cpu, modes) = (mean("'cpu_ns'"), mean("'user_ns', 'kernel_ns'"));
    assert!((0.6..1.4).contains(&(modes / cpu)), "{modes} of {cpu} ns");
    let estimated = asked(
        &trace,
        "SELECT DISTINCT name FROM request_counters WHERE estimated ORDER BY 1",
    );
    assert!(
        estimated.iter().any(|n| n[0] == "minor_faults"),
        "{estimated:?}"
    );
    let page = text(&run_ok(&["report", &out]));
    assert!(
        page.contains("a request's counters") && page.contains("~ "),
        "{page}"
    );
    // Lanes go into other tools by the table.
    let perfetto = at("shop.pftrace");
    run_ok(&[
        "export",
        "--to",
        "perfetto",
        "-o",
        &perfetto.display().to_string(),
        &out,
    ]);
    let bytes = std::fs::read(&perfetto).expect("the file");
    let track = b"role workers cpu_ns";
    assert!(
        bytes.windows(track.len()).any(|w| w == track),
        "no track of the lane"
    );
}

#[test]
fn figures_of_a_program_that_it_starts_are_alone_on_stdout() {
    let _one = alone();
    let jar = root().join("bed/wholesale/target/wholesale.jar");
    let out = run_ok(&[
        "counters",
        "-d",
        "1500ms",
        "--slice",
        "200ms",
        "--unit",
        UNITS,
        "--json",
        "--",
        "java",
        "-jar",
        &jar.display().to_string(),
        "--warehouses",
        "1",
        "--items",
        "500",
        "--ramp",
        "1",
        "--measure",
        "3",
    ]);
    assert!(number(&figure(&json(&out), "cpu_ns")["total"]) > 0.0);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(
        said.contains("wholesale: "),
        "its own output is on stderr: {said}"
    );
}
