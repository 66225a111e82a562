//! `loadline.h`: what native code says, in a JVM that nobody records and in one that is recorded.

mod common;

use std::path::Path;
use std::process::Command;

use common::{alone, java_program, jdks, kernel_level_or_skip, root, run_ok, scratch, sql, text};
use loadline_trace::Trace;

/// Compiles the library of `tests/c/quay.c`, as the documentation says.
fn library(dir: &Path) -> String {
    let (_, home) = jdks().into_iter().next().expect("a JDK");
    let out = dir.join("libquay.so");
    let include = |path: &Path| format!("-I{}", path.display());
    let done = Command::new("cc")
        .args([
            "-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-pthread",
        ])
        .arg(include(&root().join("java/agent/src/main/include")))
        .arg(include(&home.join("include")))
        .arg(include(&home.join("include/linux")))
        .arg(root().join("crates/cli/tests/c/quay.c"))
        .arg("-o")
        .arg(&out)
        .arg("-ldl")
        .output()
        .expect("a C compiler");
    assert!(done.status.success(), "{}", text(&done));
    out.display().to_string()
}

#[test]
fn native_code_is_recorded_on_threads_of_java_and_on_its_own() {
    if !kernel_level_or_skip("native_code_is_recorded") {
        return; // who a thread is that Java does not know, only the kernel level tells
    }
    let _alone = alone();
    let (dir, out) = scratch();
    let library = library(dir.path());
    let program = java_program("Quay");
    let done = run_ok(&[
        "record", "-o", &out, "--", "java", &program, &library, "2500",
    ]);
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    let ships: i64 = stdout
        .lines()
        .find_map(|l| l.strip_prefix("ships "))
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(|| panic!("no line of ships: {}", text(&done)));
    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    let both: i64 = sql(
        &trace,
        "SELECT count(*) FROM spans WHERE kind = 'user' AND name = 'land' AND complete",
    );
    // The agent is there before the program is, and its library is looked for once a second.
    assert!(
        both > ships && both <= 2 * ships,
        "{both} spans of {ships} ships"
    );
    let alone: i64 = sql(
        &trace,
        "SELECT count(*) FROM spans s JOIN threads t ON t.id = s.thread WHERE s.name = 'land' AND t.java_id IS NULL",
    );
    assert!(
        (both / 2 - 1..=both / 2 + 1).contains(&alone),
        "{alone} of {both}"
    );
    let within: i64 = sql(
        &trace,
        "SELECT count(*) FROM marks m JOIN spans s ON s.thread = m.thread AND s.name = 'land'
         WHERE m.kind = 'crates' AND m.ts_ns BETWEEN s.begin_ns AND s.end_ns AND m.value > 0",
    );
    assert_eq!(within, both);
}

#[test]
fn native_code_runs_as_ever_where_nobody_records() {
    let _alone = alone();
    let dir = tempfile::tempdir().expect("a directory");
    let done = Command::new("java")
        .args([&java_program("Quay"), &library(dir.path()), "100"])
        .output()
        .expect("java starts");
    assert!(
        done.status.success() && text(&done).contains("ships "),
        "{}",
        text(&done)
    );
}
