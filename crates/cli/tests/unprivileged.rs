//! Without the privileges for eBPF, and without room on the disk, the rest still works and says so.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Jvm, alone, eventually, java_program, root, run, scratch, skip, sql, text};
use loadline_trace::Trace;
use tempfile::TempDir;

const NOBODY: &str = "65534";

fn is_root_with(tool: &str, test: &str) -> bool {
    // SAFETY: geteuid cannot fail and touches nothing.
    let root = unsafe { libc::geteuid() } == 0;
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|d| d.join(tool).exists());
    if !(root && found) {
        skip(test, &format!("needs root and {tool}"));
    }
    root && found
}

fn as_nobody(program: &Path) -> Command {
    let mut c = Command::new("setpriv");
    c.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"])
        .arg(program)
        .stdin(Stdio::null());
    c
}

/// The binary and its companions where nobody can read them, and a place where nobody can write.
fn nobodys_copy(dir: &Path) -> PathBuf {
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o777)).expect("chmod");
    let from = root().join("target/release");
    for name in [
        "loadline",
        "libduckdb.so",
        "loadline-agent.jar",
        "libloadline-agent.so",
    ] {
        std::fs::copy(from.join(name), dir.join(name))
            .unwrap_or_else(|e| panic!("{name}: {e}: run `make build`"));
        std::fs::set_permissions(dir.join(name), std::fs::Permissions::from_mode(0o755))
            .expect("chmod");
    }
    std::fs::copy(java_program("Ticks"), dir.join("Ticks.java")).expect("a source file");
    dir.join("loadline")
}

/// A JVM of that user, which runs a program that [`nobodys_copy`] put there.
fn nobodys_jvm(dir: &Path) -> Jvm {
    let mut java = as_nobody(Path::new("java"));
    java.arg(dir.join("Ticks.java")).arg("60");
    let jvm = Jvm::start(java);
    jvm.line("ready");
    jvm
}

/// Both, and where they are.
fn nobodys() -> (TempDir, PathBuf, Jvm) {
    let dir = tempfile::tempdir().expect("a directory");
    let loadline = nobodys_copy(dir.path());
    let jvm = nobodys_jvm(dir.path());
    (dir, loadline, jvm)
}

fn output(mut c: Command) -> Output {
    c.output().expect("it starts")
}

#[test]
fn without_privileges_three_levels_are_recorded_and_the_report_says_how_to_get_the_fourth() {
    if !is_root_with("setpriv", "without_privileges_three_levels_are_recorded") {
        return;
    }
    let _alone = alone();
    let (dir, loadline, jvm) = nobodys();
    let out = dir.path().join("t.trace");
    let mut record = as_nobody(&loadline);
    record
        .args(["record", "--pid", &jvm.pid(), "-d", "1s", "-o"])
        .arg(&out);
    let recorded = output(record);
    assert!(recorded.status.success(), "{}", text(&recorded));
    assert!(text(&recorded).contains("CAP_BPF"), "{}", text(&recorded));
    let trace = Trace::open(&out).expect("a finished trace");
    assert!(!trace.meta.has("kernel"));
    assert!(trace.meta.has("jvm") && trace.meta.has("server") && trace.meta.has("app"));
    let waits: i64 = sql(&trace, "SELECT count(*) FROM waits");
    assert!(waits > 20, "{waits}");
    let report = text(&run(&["report", &out.display().to_string()]));
    let first: String = report.lines().take(12).collect();
    assert!(
        first.contains("kernel") && first.contains("CAP_BPF"),
        "{report}"
    );
}

/// The attach socket of a JVM that was killed stays, and ids come again: the next JVM of that id may be another user's.
#[test]
fn what_a_killed_jvm_of_another_user_left_is_named_and_root_removes_it() {
    if !is_root_with("setpriv", "what_a_killed_jvm_of_another_user_left") {
        return;
    }
    let _alone = alone();
    let (dir, loadline, jvm) = nobodys();
    let left = format!("/tmp/.java_pid{}", jvm.pid());
    drop(UnixListener::bind(&left).expect("a socket of root's"));
    let out = dir.path().join("t.trace");
    let arguments = ["record", "--levels", "jvm", "--pid", &jvm.pid(), "-d", "1s"];
    let mut refused = as_nobody(&loadline);
    refused.args(arguments).arg("-o").arg(&out);
    let begin = Instant::now();
    let refused = output(refused);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    assert!(text(&refused).contains(&left), "{}", text(&refused));
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "no waiting for it"
    );
    let mut recorded = Command::new(&loadline);
    recorded.args(arguments).arg("-o").arg(&out);
    let recorded = output(recorded);
    assert!(recorded.status.success(), "{}", text(&recorded));
    assert!(Trace::open(&out).expect("a trace").meta.has("jvm"));
}

#[test]
fn with_the_two_capabilities_alone_all_levels_are_recorded() {
    const TEST: &str = "with_the_two_capabilities_alone_all_levels_are_recorded";
    if !is_root_with("setpriv", TEST) || !common::kernel_level_or_skip(TEST) {
        return;
    }
    let _alone = alone();
    let (dir, loadline, jvm) = nobodys();
    let out = dir.path().join("t.trace");
    let mut record = Command::new("setpriv");
    record.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
    record
        .args([
            "--inh-caps",
            "+bpf,+perfmon",
            "--ambient-caps",
            "+bpf,+perfmon",
        ])
        .arg(&loadline);
    record.stdin(Stdio::null());
    record
        .args(["record", "--pid", &jvm.pid(), "-d", "1s", "-o"])
        .arg(&out);
    let recorded = output(record);
    assert!(recorded.status.success(), "{}", text(&recorded));
    let trace = Trace::open(&out).expect("a finished trace");
    assert!(trace.meta.has("kernel"), "{:?}", trace.meta.levels);
    let running: i64 = sql(
        &trace,
        "SELECT count(*) FROM states WHERE state = 'running'",
    );
    assert!(running > 20, "{running}");
}

#[test]
fn another_users_jvm_is_refused_with_the_remedy() {
    if !is_root_with("setpriv", "another_users_jvm_is_refused") {
        return;
    }
    let _alone = alone();
    let dir = tempfile::tempdir().expect("a directory");
    let loadline = nobodys_copy(dir.path());
    let jvm = Jvm::java(&[&java_program("Ticks"), "60"]);
    jvm.line("ready");
    let mut record = as_nobody(&loadline);
    record
        .args(["record", "--pid", &jvm.pid(), "-d", "1s", "-o"])
        .arg(dir.path().join("t.trace"));
    let refused = output(record);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    assert!(text(&refused).contains("sudo"), "{}", text(&refused));
}

#[test]
fn root_records_the_jvm_of_another_user() {
    if !is_root_with("setpriv", "root_records_the_jvm_of_another_user") {
        return;
    }
    let _alone = alone();
    let (dir, loadline, jvm) = nobodys();
    let out = dir.path().join("t.trace");
    let mut record = Command::new(&loadline);
    record
        .args(["record", "--pid", &jvm.pid(), "-d", "1s", "-o"])
        .arg(&out)
        .stdin(Stdio::null());
    let recorded = output(record);
    assert!(recorded.status.success(), "{}", text(&recorded));
    let waits: i64 = sql(
        &Trace::open(&out).expect("a trace"),
        "SELECT count(*) FROM waits",
    );
    assert!(waits > 20, "{waits}");
}

/// A file system of a few megabytes that goes away with the test.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(megabytes: u32) -> Option<SmallDisk> {
        let dir = tempfile::tempdir().expect("a directory");
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "none"])
            .arg(dir.path())
            .status()
            .ok()?;
        status.success().then_some(SmallDisk(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_ends_the_recording_with_an_error_and_spares_the_jvm() {
    if !is_root_with("mount", "a_full_disk_ends_the_recording") {
        return;
    }
    let _alone = alone();
    let Some(disk) = SmallDisk::mount(96) else {
        skip("a_full_disk_ends_the_recording", "cannot mount a tmpfs");
        return;
    };
    let mut jvm = Jvm::java(&[&java_program("Chatter"), "60"]);
    jvm.line("ready");
    let out = disk.0.path().join("t.trace").display().to_string();
    let recorded = run(&["record", "--pid", &jvm.pid(), "-d", "40s", "-o", &out]);
    let said = text(&recorded);
    assert_eq!(recorded.status.code(), Some(1), "{said}");
    assert!(said.contains("no space left"), "{said}");
    assert!(
        said.contains("recover"),
        "it does not say what to do with what was kept: {said}"
    );
    assert!(
        jvm.child.try_wait().expect("it is ours").is_none(),
        "the JVM did not survive"
    );

    // What was kept can be moved to where there is room, and recovered.
    let (roomy, _) = scratch();
    let moved = roomy.path().join("t.trace");
    let status = Command::new("cp")
        .arg("-r")
        .arg(&out)
        .arg(&moved)
        .status()
        .expect("cp starts");
    assert!(status.success());
    let recovered = run(&["recover", &moved.display().to_string()]);
    assert!(recovered.status.success(), "{}", text(&recovered));
    let trace = Trace::open(&moved).expect("a trace");
    let events: i64 = sql(&trace, "SELECT count(*) FROM waits");
    assert!(events > 1000, "{events} waits were kept of megabytes");
    eventually(
        "the agent is dormant: the JVM goes on without errors",
        5,
        || jvm.child.try_wait().expect("it is ours").is_none(),
    );
}
