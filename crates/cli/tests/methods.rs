//! Methods from filters to the call tree: what is told of a program whose calls are known.

mod common;

use common::{Jvm, alone, java_program, jdks, kernel_level_or_skip, run, run_ok, scratch, text};
use loadline_trace::Trace;

/// Filters of the program's methods but its `main`, which is not over within any recording.
const FILTERS: [&str; 4] = ["--methods", "Orders", "--methods", "!Orders.main"];

fn recorded(more: &[&str]) -> (tempfile::TempDir, Trace, String) {
    let (dir, out) = scratch();
    let program = java_program("Orders");
    let mut args = vec!["record", "--levels", "jvm,app", "-o", &out];
    args.extend(FILTERS);
    args.extend(more);
    args.extend(["--", "java", &program, "200"]);
    let done = run_ok(&args);
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    (dir, trace, stdout)
}

fn paths(trace: &Trace) -> Vec<(String, i64, i64)> {
    let db = loadline_analyze::views::open(trace).expect("views");
    let mut statement = db
        .prepare("SELECT path, invocations, threw FROM call_tree ORDER BY path")
        .expect("sql");
    let rows = statement
        .query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

#[test]
fn the_call_tree_says_what_the_program_did() {
    let _alone = alone();
    let (_dir, trace, stdout) = recorded(&["--method-cpu"]);
    const TREE: [(&str, i64, i64); 7] = [
        ("Orders.order(int)", 200, 0),
        ("Orders.order(int) > Orders.factorial(int)", 100, 0),
        (
            "Orders.order(int) > Orders.factorial(int) > Orders.factorial(int)",
            100,
            0,
        ),
        (
            "Orders.order(int) > Orders.factorial(int) > Orders.factorial(int) > Orders.factorial(int)",
            100,
            0,
        ),
        (
            "Orders.order(int) > Orders.factorial(int) > Orders.factorial(int) > Orders.factorial(int) > Orders.factorial(int)",
            100,
            0,
        ),
        ("Orders.order(int) > Orders.price(String)", 200, 100),
        ("Orders.order(int) > Orders.price(int)", 600, 0),
    ];
    let want = TREE.map(|(path, n, threw)| (path.to_owned(), n, threw));
    assert_eq!(paths(&trace), want);

    let truth: f64 = stdout
        .lines()
        .find_map(|l| l.split_once(" ns "))
        .map(|(_, ns)| ns.parse().expect("a number"))
        .unwrap_or_else(|| panic!("no line of orders: {stdout}"));
    let db = loadline_analyze::views::open(&trace).expect("views");
    let (wall, own, cpu, below): (f64, f64, f64, i64) = db
        .query_row(
            "SELECT wall_ns::DOUBLE, (SELECT sum(self_ns) FROM call_tree)::DOUBLE, cpu_ns::DOUBLE, below FROM call_tree WHERE depth = 0",
            [],
            |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)),
        )
        .expect("the order");
    assert!(wall <= truth && wall > 0.8 * truth, "{wall} of {truth} ns");
    assert_eq!(own, wall, "what each took for itself adds up");
    assert!(cpu > 0.0 && cpu <= wall, "{cpu} of {wall} ns");
    assert_eq!(below, 1200);
    let lost: i64 = db
        .query_row(
            "SELECT count(*) FROM spans s JOIN spans p ON p.id = s.parent
             WHERE s.kind = 'method' AND (s.begin_ns < p.begin_ns OR s.end_ns > p.end_ns OR s.thread <> p.thread)",
            [],
            |r| r.get(0),
        )
        .expect("a count");
    assert_eq!(lost, 0, "each lies in who called it");

    let report = text(&run_ok(&["report", &trace.dir.display().to_string()]));
    assert!(report.contains("recorded methods"), "{report}");
    let flame = trace.dir.with_extension("flame");
    let dir = trace.dir.display().to_string();
    run_ok(&[
        "export",
        &dir,
        "--to",
        "flame",
        "-o",
        &flame.display().to_string(),
    ]);
    let folded = std::fs::read_to_string(flame.join("methods.folded")).expect("stacks");
    assert!(
        folded
            .lines()
            .any(|l| l.starts_with("Orders.order(int);Orders.price(int) ")),
        "{folded}"
    );
}

#[test]
fn short_calls_are_counted_in_who_made_them() {
    let _alone = alone();
    let (_dir, trace, _) = recorded(&["--method-min", "15us"]);
    let db = loadline_analyze::views::open(&trace).expect("views");
    let (invocations, below, left_out): (i64, i64, i64) = db
        .query_row(
            "SELECT invocations, below, left_out FROM call_tree WHERE depth = 0",
            [],
            |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)),
        )
        .expect("the order");
    assert_eq!(invocations, 200);
    assert!(below >= 600, "each price(int) takes 20 µs: {below}");
    assert_eq!(below + left_out, 1200);
}

#[test]
fn a_jvm_that_runs_needs_to_be_armed_and_is_told_so() {
    let _alone = alone();
    let (_dir, out) = scratch();
    let program = java_program("Orders");
    let jvm = Jvm::java(&[&program, "10", "forever"]);
    jvm.line("orders");
    let pid = jvm.pid();
    let record = |out: &str| {
        let mut args = vec![
            "record", "--pid", &pid, "--levels", "jvm,app", "-d", "1s", "-o", out,
        ];
        args.extend(FILTERS);
        let done = run_ok(&args);
        (
            text(&done),
            Trace::open(out.as_ref()).expect("a finished trace"),
        )
    };
    let (says, trace) = record(&out);
    assert!(says.contains("methods"), "{says}");
    let missing = &trace.meta.not_recorded;
    assert!(
        missing
            .iter()
            .any(|n| n.what == "methods" && n.how_to_get.contains("--redefine")),
        "{missing:?}"
    );
    assert_eq!(paths(&trace), []);

    run_ok(&["arm", &pid, "--methods", "Orders"]);
    let (_, trace) = record(&format!("{out}2"));
    assert!(trace.meta.not_recorded.iter().all(|n| n.what != "methods"));
    // An order may be under way when recording begins: what it goes on to call has no caller then.
    let (tree, callerless): (Vec<_>, Vec<_>) = paths(&trace)
        .into_iter()
        .partition(|(path, ..)| path.starts_with("Orders.order(int)"));
    assert_eq!(tree.len(), 7, "{tree:?}");
    assert!(tree[0].1 >= 10, "{tree:?}");
    assert!(callerless.iter().all(|c| c.1 <= 3), "{callerless:?}");
}

#[test]
fn a_class_that_cannot_be_probed_is_told_at_once_and_in_the_trace() {
    let _alone = alone();
    let (dir, out) = scratch();
    // 65,520 bytes of code, of the 65,535 that a method may have: none is left for a probe.
    let adds = "x += 1000;".repeat(10_920);
    let program = dir.path().join("Huge.java");
    std::fs::write(
        &program,
        format!(
            "class Huge {{
                static int add(int x) {{ {adds} return x; }}
                public static void main(String[] args) throws Exception {{
                    System.out.println(add(1));
                    Thread.sleep(1000);
                }}
            }}"
        ),
    )
    .expect("a source");
    let done = run_ok(&[
        "record",
        "--levels",
        "jvm,app",
        "--methods",
        "Huge",
        "-o",
        &out,
        "--",
        "java",
        &program.display().to_string(),
    ]);
    let warning = "methods of Huge cannot be probed";
    let says = text(&done);
    assert!(says.contains(&format!("  note: {warning}")), "{says}");
    assert!(says.contains("10920001"), "it runs as it was: {says}");
    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    let notes = &trace.meta.notes;
    assert!(notes.iter().any(|n| n.starts_with(warning)), "{notes:?}");
}

#[test]
fn filters_that_take_nothing_are_refused() {
    for (args, says) in [
        (
            &["--methods", "!com.shop.**"][..],
            "begin with one that takes some",
        ),
        (
            &["--methods", "com/shop/Cart"],
            "'/' is in no method's name",
        ),
        (&["--method-cpu"], "--methods"),
        (&["--methods", "a.**", "--levels", "kernel"], "to --levels"),
    ] {
        let line: Vec<&str> = ["record", "--pid", "1"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        let out = run(&line);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {}", text(&out));
        assert!(text(&out).contains(says), "{args:?}: {}", text(&out));
    }
}

#[test]
fn the_kernel_level_tells_the_cpu_time_of_invocations() {
    if !kernel_level_or_skip("the_kernel_level_tells_the_cpu_time_of_invocations") {
        return;
    }
    let _alone = alone();
    for (version, home) in jdks() {
        let (_dir, out) = scratch();
        let java = home.join("bin/java").display().to_string();
        let asked = [
            "--methods",
            "Naps",
            "--methods",
            "!Naps.main",
            "--methods",
            "!Naps.lambda$*",
        ];
        let command = ["-o", &out, "--", &java, &java_program("Naps")];
        let done = run_ok(&[&["record"], &asked[..], &command[..]].concat());
        let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
        let truth = stdout.lines().find_map(|l| l.strip_prefix("cpu_ns "));
        let truth: f64 = truth.expect("its time").parse().expect("a number");
        let trace = Trace::open(out.as_ref()).expect("a finished trace");
        let db = loadline_analyze::views::open(&trace).expect("views");
        let of = |path: &str| -> (i64, f64, f64) {
            let found = db.query_row(
                "SELECT invocations, wall_ns::DOUBLE, cpu_ns::DOUBLE FROM call_tree WHERE path = ?",
                [path],
                |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)),
            );
            found.unwrap_or_else(|e| panic!("JDK {version}, {path}: {e}, {:?}", trace.meta.losses))
        };
        let (_, _, cpu) = of("Naps.platform()");
        let off = cpu / truth - 1.0;
        assert!(off.abs() < 0.05, "JDK {version}: {cpu} of {truth} ns");
        // The same work, most of all that the platform thread did; its first rounds are not compiled yet.
        let like = [("platform", 0.8, 1.05), ("virtual", 0.3, 1.2)];
        for (outer, least, most) in &like[..if version < 21 { 1 } else { 2 }] {
            let (naps, slept, awake) = of(&format!("Naps.{outer}() > Naps.nap()"));
            let (works, wall, worked) = of(&format!("Naps.{outer}() > Naps.work()"));
            assert_eq!((naps, works), (20, 20));
            assert!(awake < 0.2 * slept, "{outer}: {awake} of {slept} ns asleep");
            assert!(
                worked > least * truth && worked < most * truth && worked <= wall,
                "{outer}: {worked} of {wall} ns at work, {truth} ns of CPU in all"
            );
        }
    }
}
