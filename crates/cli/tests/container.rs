//! A JVM in namespaces of its own, as a container's is, recorded from outside.

mod common;

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{
    alone, java_program, kernel_level_or_skip, loadline, run, run_ok, scratch, signal, skip, sql,
    text,
};
use loadline_trace::Trace;

/// Kernel ids of users and groups that the container's begin with.
const FIRST_ID: u32 = 100_000;

/// What its first process does: a /tmp and a /proc of its own, then the program that comes on standard input.
const SCRIPT: &str = "mount -t tmpfs tmpfs /tmp && mount -t proc proc /proc && cat > /tmp/Hold.java && exec java /tmp/Hold.java 100000 20 </dev/null";

struct Container {
    /// `unshare`, whose child is the JVM.
    outer: Child,
    pid: i32,
}

/// In the child before it executes: a user namespace in which it is root, with other users' ids outside.
fn become_root_of_another_world() -> io::Result<()> {
    let check = |r: libc::c_int| match r {
        -1 => Err(io::Error::last_os_error()),
        r => Ok(r),
    };
    let mut ready = [0; 2];
    // SAFETY: plain system calls; the array has room for two descriptors.
    unsafe {
        check(libc::pipe(ready.as_mut_ptr()))?;
        let me = libc::getpid();
        let mapper = check(libc::fork())?;
        if mapper == 0 {
            // Still root outside, which alone may map foreign ids.
            let mut byte = 0u8;
            libc::read(ready[0], (&raw mut byte).cast(), 1);
            let map = format!("0 {FIRST_ID} 65536\n");
            let mapped = ["uid_map", "gid_map"]
                .iter()
                .all(|file| fs::write(format!("/proc/{me}/{file}"), &map).is_ok());
            libc::_exit(if mapped { 0 } else { 1 });
        }
        check(libc::unshare(libc::CLONE_NEWUSER))?;
        libc::write(ready[1], [1u8].as_ptr().cast(), 1);
        let mut status = 0;
        check(libc::waitpid(mapper, &mut status, 0))?;
        if status != 0 {
            return Err(io::Error::other("the ids could not be mapped"));
        }
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setresgid(0, 0, 0))?;
        check(libc::setresuid(0, 0, 0))?;
    }
    Ok(())
}

impl Container {
    /// Starts it; none if this kernel does not let us.
    fn start() -> Option<Container> {
        let mut command = Command::new("unshare");
        command
            .args([
                "--mount",
                "--pid",
                "--fork",
                "--kill-child",
                "--propagation",
                "private",
            ])
            .args(["sh", "-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        // SAFETY: what it does between fork and exec is system calls and small allocations, in a process of one thread.
        unsafe { command.pre_exec(become_root_of_another_world) };
        let mut outer = command.spawn().ok()?;
        let program = fs::read(java_program("Hold")).expect("the program");
        let mut input = outer.stdin.take().expect("it is piped");
        input.write_all(&program).ok()?;
        drop(input);
        let begun = Instant::now();
        let children = format!("/proc/{0}/task/{0}/children", outer.id());
        loop {
            if outer.try_wait().expect("ours").is_some() {
                return None;
            }
            let pid = fs::read_to_string(&children).ok();
            let pid = pid.and_then(|c| c.split_whitespace().next()?.parse().ok());
            // It runs the program when that has threads of its own.
            if let Some(pid) = pid
                && has_thread(pid, "owner-")
            {
                return Some(Container { outer, pid });
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no JVM in it");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What lies in its /tmp.
    fn tmp(&self) -> Vec<String> {
        let entries = fs::read_dir(format!("/proc/{}/root/tmp", self.pid)).expect("its /tmp");
        let names = entries.map(|e| e.expect("an entry").file_name());
        names.map(|n| n.to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.outer.kill(); // --kill-child takes the JVM with it
        let _ = self.outer.wait();
    }
}

fn has_thread(pid: i32, begin: &str) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let mut names = tasks.filter_map(|t| fs::read_to_string(t.path().join("comm")).ok());
    names.any(|name| name.starts_with(begin))
}

/// How many waits for the monitor the trace has whose code is known, and what the kernel level became.
fn waited(out: &str) -> (Trace, i64) {
    let trace = Trace::open(out.as_ref()).expect("a trace");
    let n = sql(
        &trace,
        "SELECT count(*) FROM waits w JOIN stacks s ON s.id = w.stack JOIN threads t ON t.id = w.thread
         WHERE w.class = 'Hold$Treasure' AND w.outcome = 'acquired' AND s.name LIKE 'Hold.%' AND t.name LIKE 'waiter-%'",
    );
    (trace, n)
}

/// A recording that runs until something happens to it.
fn recording(pid: i32, out: &str, how: &[&str]) -> Child {
    let mut child = loadline()
        .args(["record", "--pid", &pid.to_string(), "-o", out])
        .args(how)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let said = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut lines = said.lines().map_while(Result::ok);
    let begun = |l: String| l.trim_start().starts_with("recording");
    assert!(lines.any(begun), "it records");
    // Who goes on reading is none of the test's; nothing more is said.
    std::thread::spawn(move || lines.for_each(drop));
    std::thread::sleep(Duration::from_millis(400));
    child
}

#[test]
fn a_jvm_in_namespaces_of_its_own_is_recorded_from_outside_and_nothing_stays_there() {
    const TEST: &str = "a_jvm_in_namespaces_of_its_own";
    if !kernel_level_or_skip(TEST) {
        return;
    }
    let _alone = alone();
    let Some(container) = Container::start() else {
        return skip(TEST, "no user, mount and pid namespaces can be made here");
    };
    let pid = container.pid.to_string();
    let is_clean = || {
        container
            .tmp()
            .iter()
            .all(|name| !name.starts_with("loadline"))
    };

    // From the host.
    let (_dir, out) = scratch();
    let said = run_ok(&["record", "--pid", &pid, "-d", "1s", "-o", &out]);
    let (trace, n) = waited(&out);
    assert!(n > 5, "{n} waits: {}", text(&said));
    assert!(
        trace
            .meta
            .levels
            .values()
            .all(|l| l.recorded || l.why.is_empty()),
        "{:?}",
        trace.meta.levels
    );
    let joined: i64 = sql(
        &trace,
        "SELECT count(*) FROM states WHERE cause = 'lock' AND wait IS NOT NULL",
    );
    assert!(
        joined > 5,
        "kernel and JVM speak of the same threads: {joined}"
    );
    assert!(is_clean(), "{:?}", container.tmp());
    let doctor = run(&["doctor", &pid, "--json"]);
    // Its /tmp hides the agent's files only if they are below ours.
    let hidden = env!("CARGO_BIN_EXE_loadline").starts_with("/tmp/");
    let told = text(&doctor);
    assert_eq!(told.contains("its own /tmp"), hidden, "{told}");

    // From beside it: its process ids, another file system.
    let (_dir, out) = scratch();
    let script = format!(
        "mount -t proc proc /proc && exec {} record --pid 1 -d 1s -o {out}",
        env!("CARGO_BIN_EXE_loadline")
    );
    let beside = Command::new("nsenter")
        .args([
            "-t", &pid, "--pid", "unshare", "--mount", "sh", "-c", &script,
        ])
        .output()
        .expect("nsenter starts");
    assert!(beside.status.success(), "{}", text(&beside));
    let (trace, n) = waited(&out);
    assert!(n > 5, "{n} waits: {}", text(&beside));
    assert!(
        trace.meta.levels["kernel"].why.contains("pid namespace"),
        "{:?}",
        trace.meta.levels
    );
    assert!(is_clean(), "{:?}", container.tmp());

    // A flight recorder, whose past is asked for while it goes on.
    let (_dir, out) = scratch();
    let mut kept = recording(container.pid, &out, &["--flight", "64M"]);
    let past = format!("{out}-past");
    run_ok(&["dump", &pid, "-o", &past]);
    assert!(waited(&past).1 > 5);
    signal(&kept, libc::SIGINT);
    assert!(kept.wait().expect("ours").success());
    assert!(waited(&out).1 > 5);
    assert!(is_clean(), "{:?}", container.tmp());

    // A recorder that is killed.
    let (_dir, out) = scratch();
    let mut killed = recording(container.pid, &out, &["-d", "60s"]);
    killed.kill().expect("ours");
    killed.wait().expect("ours");
    assert!(!is_clean());
    run_ok(&["recover", &out]);
    assert!(waited(&out).1 > 5);
    assert!(is_clean(), "{:?}", container.tmp());

    // A JVM that ends, and takes its file system with it.
    let (_dir, out) = scratch();
    let mut left = recording(container.pid, &out, &["-d", "60s"]);
    drop(container);
    assert!(left.wait().expect("ours").success());
    let (trace, n) = waited(&out);
    assert_eq!(trace.meta.ended, "target-exited");
    assert!(n > 5, "{n} waits");
}
