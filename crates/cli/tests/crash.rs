//! Whatever dies in the middle: nothing that was recorded is lost, and nothing stays behind.

mod common;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{
    Jvm, alone, eventually, java_program, loadline, run, run_ok, scratch, signal, sql, text,
};
use loadline_trace::Trace;
use loadline_trace::spool::agent::{self, state};

fn monotonic_ns() -> i64 {
    // SAFETY: clock_gettime writes only into `t`.
    unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t);
        t.tv_sec * 1_000_000_000 + t.tv_nsec
    }
}

/// BPF programs that are loaded on this machine; 0 where one may not ask.
fn bpf_programs() -> usize {
    libbpf_rs::query::ProgInfoIter::default().count()
}

/// What the agent says of itself in its spool's header (the spool is sparse, and gigabytes long).
fn agent_state(out: &str) -> Option<u32> {
    let mut head = [0; 4096];
    File::open(Path::new(out).join("raw/agent.events"))
        .ok()?
        .read_exact(&mut head)
        .ok()?;
    agent::header(&head).map(|h| h.state)
}

/// Starts recording and returns once it has recorded for a while.
fn recording(pid: &str, out: &str) -> std::process::Child {
    let child = loadline()
        .args(["record", "--pid", pid, "-o", out])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    eventually("the agent records", 30, || {
        agent_state(out) == Some(state::RECORDING)
    });
    std::thread::sleep(Duration::from_secs(2));
    child
}

#[test]
fn a_killed_recorder_leaves_nothing_behind_and_loses_at_most_a_second() {
    let _alone = alone();
    let jvm = Jvm::java(&[&java_program("Ticks"), "90"]);
    jvm.line("ready");
    let (dir, out) = scratch();
    let programs = bpf_programs();
    let mut recorder = recording(&jvm.pid(), &out);
    let killed_at = monotonic_ns();
    signal(&recorder, libc::SIGKILL);
    recorder.wait().expect("it is ours");

    let refused = run(&["report", &out]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused).contains("loadline recover"),
        "{}",
        text(&refused)
    );

    eventually("BPF programs vanish with their owner", 10, || {
        bpf_programs() == programs
    });
    eventually("the agent notices and is dormant", 10, || {
        agent_state(&out) == Some(state::STOPPED)
    });
    run_ok(&["recover", &out]);
    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    assert_eq!(trace.meta.ended, "recovered");
    let last_wait: i64 = sql(&trace, "SELECT max(end_ns) FROM waits");
    assert!(
        killed_at - last_wait < 1_000_000_000,
        "the last wait is {} ms before the kill",
        (killed_at - last_wait) / 1_000_000
    );
    if trace.meta.has("kernel") {
        let last_state: i64 = sql(
            &trace,
            "SELECT max(begin_ns) FROM states WHERE state = 'running'",
        );
        assert!(
            killed_at - last_state < 1_000_000_000,
            "the last switch is {} ms before the kill",
            (killed_at - last_state) / 1_000_000
        );
    }
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .expect("the directory")
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(left, ["t.trace"], "files outside the trace");

    // The JVM is as it was: it can be recorded again.
    let (_dir, again) = scratch();
    run_ok(&["record", "--pid", &jvm.pid(), "-o", &again, "-d", "1s"]);
}

#[test]
fn a_killed_jvm_ends_the_recording_and_everything_is_there() {
    let _alone = alone();
    let mut jvm = Jvm::java(&[&java_program("Ticks"), "90"]);
    jvm.line("ready");
    let (_dir, out) = scratch();
    let mut recorder = recording(&jvm.pid(), &out);
    let killed_at = monotonic_ns();
    jvm.child.kill().expect("it is ours");
    jvm.child.wait().expect("it is ours");
    let begin = Instant::now();
    let status = recorder.wait().expect("it is ours");
    assert!(status.success(), "{status}");
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "took {:?} to notice",
        begin.elapsed()
    );
    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    assert_eq!(trace.meta.ended, "target-exited");
    let last: i64 = sql(&trace, "SELECT max(end_ns) FROM waits");
    assert!(
        killed_at - last < 1_000_000_000,
        "the last wait is {} ms before the kill",
        (killed_at - last) / 1_000_000
    );
}

#[test]
fn recover_refuses_a_recording_that_is_under_way() {
    let _alone = alone();
    let jvm = Jvm::java(&[&java_program("Ticks"), "60"]);
    jvm.line("ready");
    let (_dir, out) = scratch();
    let mut recorder = recording(&jvm.pid(), &out);
    let refused = run(&["recover", &out]);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    assert!(
        text(&refused).contains(&recorder.id().to_string()),
        "{}",
        text(&refused)
    );
    signal(&recorder, libc::SIGINT);
    assert!(recorder.wait().expect("it is ours").success());
    Trace::open(out.as_ref()).expect("a finished trace");
}
