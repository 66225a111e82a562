//! `loadline counters` on a real JVM whose units of work are known: the wholesale company.

mod common;

use std::process::{Command, Output};

use common::{Jvm, alone, root, run, run_ok, text};
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
    let (pid, csv) = (jvm.pid(), at("counters.csv"));
    let recorded = run_ok(&[
        "counters", "--pid", &pid, "-d", "3s", "--slice", "200ms", "--unit", UNITS, "--json",
        "--csv", &csv,
    ]);
    let summary = json(&recorded);
    let units = number(&summary["units"]);
    assert!(units > 1_000.0, "{units} transactions in three seconds");
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
}
