//! `loadline doctor` on real JVMs: what it says is what a recording then finds.

mod common;

use std::process::Output;

use common::{Jvm, alone, auction, java_program, run, run_ok, text, with_the_agent};
use serde_json::Value;

/// Findings of the JVM that was asked for, or without one of the machine.
fn findings(out: &Output) -> Vec<Value> {
    let subjects: Vec<Value> =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(out)));
    let last = subjects.last().expect("the machine at least");
    last["findings"].as_array().expect("a list").clone()
}

fn of<'a>(findings: &'a [Value], what: &str) -> &'a Value {
    findings
        .iter()
        .find(|f| f["what"] == what)
        .unwrap_or_else(|| panic!("nothing about {what}: {findings:?}"))
}

#[test]
fn the_machine_says_of_the_kernel_level_what_a_recording_finds() {
    let _one = alone();
    let found = findings(&run(&["doctor", "--json"]));
    let kernel = of(&found, "kernel level");
    let jvm = Jvm::java(&[&java_program("Ticks"), "20"]);
    jvm.line("ready");
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("t.trace");
    run_ok(&[
        "record",
        "--pid",
        &jvm.pid(),
        "-d",
        "300ms",
        "-o",
        &out.display().to_string(),
    ]);
    let trace = loadline_trace::Trace::open(&out).expect("a trace");
    let level = &trace.meta.levels["kernel"];
    assert_eq!(
        kernel["can"] == "yes",
        level.recorded,
        "{kernel} but {level:?}"
    );
    if !level.recorded {
        assert_ne!(kernel["remedy"], "", "{kernel}");
    }
}

#[test]
fn a_jvm_whose_attaching_is_off_can_have_the_kernel_level_only() {
    let _one = alone();
    let jvm = Jvm::java(&["-XX:+DisableAttachMechanism", &java_program("Ticks"), "20"]);
    jvm.line("ready");
    let out = run(&["doctor", &jvm.pid(), "--json"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    let found = findings(&out);
    let level = of(&found, "jvm level");
    assert_eq!(level["can"], "no");
    assert!(
        level["why"]
            .as_str()
            .is_some_and(|w| w.contains("DisableAttachMechanism")),
        "{level}"
    );
    assert_ne!(level["remedy"], "");
    assert_eq!(of(&found, "app level")["can"], "no");
}

#[test]
fn a_tomcat_in_a_jar_is_seen_and_statements_ask_for_the_agent() {
    let _one = alone();
    let agent = with_the_agent();
    for woven in [false, true] {
        let java: &[&str] = if woven { &[&agent] } else { &[] };
        let (jvm, _) = auction(java, &[]);
        let out = run_ok(&["doctor", &jvm.pid(), "--json"]);
        let found = findings(&out);
        assert_eq!(of(&found, "server level")["can"], "yes", "{}", text(&out));
        let sql = of(&found, "SQL, calls and pools");
        assert_eq!(sql["can"], if woven { "yes" } else { "partly" }, "{sql}");
        assert_eq!(
            sql["remedy"]
                .as_str()
                .is_some_and(|r| r.contains("-javaagent:")),
            !woven,
            "{sql}"
        );
        let page = text(&run_ok(&["doctor", &jvm.pid()]));
        assert!(page.contains("Tomcat 1") && page.contains("JDK "), "{page}");
        let can = if woven { "yes" } else { "partly" };
        let row = format!("  SQL, calls and pools  {can} ");
        assert!(page.contains(&row), "{page}");
    }
}

#[test]
fn what_is_no_jvm_is_an_error() {
    let out = run(&["doctor", &std::process::id().to_string()]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    assert!(
        text(&out).contains("not a Java virtual machine"),
        "{}",
        text(&out)
    );
    let none = run(&["doctor", "no-such-program"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none).contains("running JVMs"), "{}", text(&none));
}
