//! Bad input gets a clear error that names the place and the remedy, and the right exit code.

mod common;

use std::fs;

use common::{Jvm, alone, java_program, loadline, run, scratch, text};

/// Runs it and checks the exit code and that the message has every part.
fn refuses(args: &[&str], code: i32, parts: &[&str]) {
    let out = run(args);
    let said = text(&out);
    assert_eq!(out.status.code(), Some(code), "loadline {args:?}:\n{said}");
    for part in parts {
        assert!(
            said.contains(part),
            "loadline {args:?} does not say {part:?}:\n{said}"
        );
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_pid_that_does_not_exist() {
    let (_dir, out) = scratch();
    refuses(
        &["record", "--pid", "4194000", "-o", &out],
        1,
        &["4194000", "no process"],
    );
    assert!(!std::path::Path::new(&out).exists(), "it left {out}");
}

#[test]
fn a_process_that_is_not_a_jvm_is_named_and_left_alone() {
    let mut sleeper = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .expect("sleep starts");
    let (_dir, out) = scratch();
    let pid = sleeper.id().to_string();
    refuses(
        &["record", "--pid", &pid, "-o", &out],
        1,
        &["not a Java virtual machine", "sleep"],
    );
    // SIGQUIT, which attaching sends to a JVM, would have ended it.
    assert!(
        sleeper.try_wait().expect("it is ours").is_none(),
        "the process was ended"
    );
    sleeper.kill().expect("it is ours");
    sleeper.wait().expect("it is ours");
}

#[test]
fn a_name_that_fits_no_jvm() {
    refuses(
        &["record", "--pid", "no-such-application-runs-here"],
        1,
        &["no-such-application-runs-here"],
    );
}

#[test]
fn an_output_directory_in_use() {
    let _alone = alone();
    let (_dir, out) = scratch();
    fs::create_dir_all(format!("{out}/precious")).expect("a directory");
    let jvm = Jvm::java(&[&java_program("Ticks"), "30"]);
    jvm.line("ready");
    refuses(
        &["record", "--pid", &jvm.pid(), "-o", &out, "-d", "1s"],
        1,
        &[&out, "not empty"],
    );
    assert!(std::path::Path::new(&out).join("precious").exists());
}

#[test]
fn wrong_usage_is_exit_code_2() {
    refuses(&["record"], 2, &["--pid"]);
    refuses(&["record", "--pid", "1", "--restore"], 2, &["--redefine"]);
    for (options, why) in [
        (&["--when", "p95>250"][..], "write 250ms"),
        (&["--when", "p95>250ms"], "--keep 60s or --flight 256M"),
        (&["--at-max", "drop-oldest"], "needs --max-size"),
        (
            &["--keep", "60s", "--at-max", "stop"],
            "--keep drops the oldest",
        ),
        (&["--flight", "1M"], "32M or more"),
        (&["--allocations", "10"], "from 1K to 1G"),
        (
            &["--allocations", "512k", "--levels", "kernel"],
            "needs the jvm level",
        ),
        (&["--allocation-of", "*"], "name a class"),
        (
            &["--allocation-of", "shop.Cart", "--allocations", "512k"],
            "leave --allocations out",
        ),
        (&["--vm", "jit"], "compilations"),
        (
            &["--vm", "all", "--levels", "kernel"],
            "needs the jvm level",
        ),
        (
            &["--keep", "1s", "--levels", "kernel", "--when", "gc>1s"],
            "needs the jvm level",
        ),
    ] {
        refuses(&[&["record", "--pid", "1"], options].concat(), 2, &[why]);
    }
    refuses(&["arm"], 2, &["PID|NAME"]);
    refuses(&["arm", "4194000"], 1, &["4194000", "running JVMs"]);
    refuses(&["record", "--pid", "1", "-d", "0s"], 2, &["0"]);
    refuses(
        &["record", "--pid", "1", "--levels", "kernel,astral"],
        2,
        &["astral"],
    );
    refuses(
        &["record", "--pid", "1", "--ring", "100000"],
        2,
        &["power of two"],
    );
    refuses(
        &["record", "--pid", "1", "--levels", "jvm", "--syscalls"],
        2,
        &["kernel"],
    );
    refuses(&["nonsense"], 2, &["nonsense"]);
}

#[test]
fn a_directory_that_is_no_trace() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().display().to_string();
    for command in ["report", "open"] {
        refuses(&[command, &path], 1, &["is not a trace", &path]);
    }
    refuses(&["query", &path, "SELECT 1"], 1, &["is not a trace"]);
    refuses(&["recover", &path], 1, &[&path]);
}

#[test]
fn a_trace_of_another_version_is_refused_by_name() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(
        dir.path().join("trace.json"),
        r#"{"format": "loadline-trace", "schema": 99, "writer": "loadline 9.0"}"#,
    )
    .expect("a file");
    let path = dir.path().display().to_string();
    refuses(
        &["report", &path],
        1,
        &["version 99", "reads versions 1 to 2", "loadline 9.0"],
    );
    fs::write(dir.path().join("trace.json"), "{").expect("a file");
    refuses(&["report", &path], 1, &["trace.json"]);
}

#[test]
fn every_command_shows_examples() {
    for command in [
        "record", "arm", "recover", "report", "open", "query", "load", "simulate",
    ] {
        let out = run(&[command, "--help"]);
        assert!(out.status.success());
        assert!(
            text(&out).contains("Example"),
            "{command} --help has no example"
        );
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let out = loadline()
        .arg("--help")
        .stdout(std::process::Stdio::piped())
        .output()
        .expect("runs");
    assert!(out.status.success());
}

/// A trace without a row: all that commands need to refuse what is asked of it.
fn empty_trace(dir: &std::path::Path) -> String {
    let fixture = common::root().join("crates/trace/tests/data/schema-1");
    let to = dir.join("t.trace");
    fs::create_dir(&to).expect("a new directory");
    for file in fs::read_dir(fixture).expect("the fixture") {
        let file = file.expect("an entry");
        fs::copy(file.path(), to.join(file.file_name())).expect("copied");
    }
    to.display().to_string()
}

#[test]
fn exports_comparisons_and_metrics_that_make_no_sense() {
    let dir = tempfile::tempdir().expect("a directory");
    let trace = empty_trace(dir.path());
    let there = dir.path().join("there.pftrace").display().to_string();
    fs::write(&there, "mine").expect("written");
    refuses(
        &["export", &trace, "--to", "excel"],
        2,
        &["excel", "perfetto", "paraver"],
    );
    refuses(
        &["export", &trace, "--to", "perfetto", "-o", &there],
        1,
        &["there.pftrace exists already", "-o"],
    );
    assert_eq!(fs::read_to_string(&there).expect("it is there"), "mine");
    refuses(&["diff", &trace, &trace], 2, &["is on both sides"]);
    refuses(
        &["diff", "--threshold", "ten", &trace, "other.trace"],
        2,
        &["ten", "10%"],
    );
    refuses(
        &["query", &trace, "--out", "rows.xlsx", "SELECT 1"],
        2,
        &["rows.xlsx", ".parquet"],
    );
    let metrics = dir.path().join("m.toml").display().to_string();
    fs::write(&metrics, "[[metric]]\nname = \"a\"\nSQL = \"SELECT 1\"\n").expect("written");
    refuses(
        &["report", "--metrics", &metrics, &trace],
        1,
        &["m.toml:3", "SQL"],
    );
}
