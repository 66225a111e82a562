//! Java programs to record, the recorder as a process of its own, and reading what it left.
#![allow(dead_code)] // each test file uses a part

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use loadline_trace::spool::kernel::{Record, records};
use loadline_trace::spool::procfs::{Line, lines};
use loadline_trace::spool::{RawDir, agent, session::Session};

/// Says why a test does nothing here, so that nobody takes it for passed.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => {{
        common::skipped(module_path!(), &format!($($why)*));
        return;
    }};
}

/// Says so past the test runner's capture, where skipped tests are counted.
pub fn skipped(what: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIP {what}: {why}");
}

/// One recording at a time: the machine's BPF programs are everybody's.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|e| e.into_inner())
}

/// Why BPF cannot be used here, if it cannot.
pub fn no_bpf() -> Option<String> {
    if !is_root() {
        return Some("needs root, for BPF".into());
    }
    (!Path::new("/sys/kernel/btf/vmlinux").exists()).then(|| "needs a kernel with BTF".into())
}

pub fn is_root() -> bool {
    // SAFETY: no arguments.
    unsafe { libc::geteuid() == 0 }
}

/// The recorder's executable, which `cargo test` builds as an example.
pub fn recorder() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let path = test
        .parent()
        .and_then(Path::parent)
        .expect("target/PROFILE")
        .join("examples/recorder");
    assert!(
        path.exists(),
        "{} is missing: run all targets of this crate",
        path.display()
    );
    path
}

/// The agent's jar and library as the recorder's arguments, if they were built.
pub fn agent() -> Option<[String; 4]> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release");
    let jar = dir.join("loadline-agent.jar");
    let library = dir.join("libloadline-agent.so");
    (jar.exists() && library.exists()).then(|| {
        let text = |p: PathBuf| p.canonicalize().expect("there").display().to_string();
        ["--jar".into(), text(jar), "--library".into(), text(library)]
    })
}

/// A JVM that has the agent from its start; it has its door some time after that, see [`await_door`].
pub fn java_with(agent: &[String; 4]) -> Command {
    let mut java = Command::new("java");
    java.arg(format!("-javaagent:{}", agent[1]));
    java
}

pub fn signal(pid: i32, signal: i32) {
    // SAFETY: the id is that of a child of the test's own.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "kill");
}

/// Where its door is.
pub fn door_folder(pid: i32) -> PathBuf {
    format!("/tmp/.loadline-{pid}").into()
}

pub fn await_door(pid: i32) {
    eventually("a door", || door_folder(pid).join("door").exists());
}

/// A Java program that is killed when the test ends.
pub struct Jvm {
    pub child: Child,
    pub stdin: ChildStdin,
    pub dir: tempfile::TempDir,
}

impl Jvm {
    /// Compiles and starts `class`; returns when it has printed a line.
    pub fn start(class: &str, body: &str) -> Jvm {
        Jvm::start_with(&mut Command::new("java"), class, body)
    }

    /// The same with a command that has java's options already.
    pub fn start_with(java: &mut Command, class: &str, body: &str) -> Jvm {
        let dir = compiled(class, body);
        let mut child = java
            .arg("-cp")
            .arg(dir.path())
            .arg(class)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("java starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped"))
            .read_line(&mut line)
            .expect("a line");
        assert_eq!(line.trim(), "ready");
        let stdin = child.stdin.take().expect("piped");
        Jvm { child, stdin, dir }
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("our child").is_none()
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A killed JVM leaves its attach socket, and the agent's door.
        let _ = std::fs::remove_file(format!("/tmp/.java_pid{}", self.pid()));
        let _ = std::fs::remove_dir_all(door_folder(self.pid()));
    }
}

/// A folder, readable by all, with a class whose main has `body`.
pub fn compiled(class: &str, body: &str) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).expect("ours");
    let source = dir.path().join(format!("{class}.java"));
    let text = format!(
        "public class {class} {{ static volatile long sink;\n\
         static void spin() {{ for (long x = 0;; x++) sink = x; }}\n\
         static Thread run(String name, Runnable r) {{ Thread t = new Thread(r, name); t.setDaemon(true); t.start(); return t; }}\n\
         public static void main(String[] a) throws Exception {{ {body} }} }}"
    );
    std::fs::write(&source, text).expect("written");
    let status = Command::new("javac")
        .args(["--release", "17", "-d"])
        .arg(dir.path())
        .arg(&source)
        .status();
    assert!(status.expect("javac starts").success());
    dir
}

/// What ends every main: it says that all runs, and waits.
pub const READY: &str = "System.out.println(\"ready\"); Thread.sleep(60_000);";

/// The recorder on a running process; `more` as its other arguments.
pub fn recorder_on(pid: i32, out: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(recorder());
    command
        .args(["--pid", &pid.to_string(), "--out"])
        .arg(out)
        .args(more);
    command
}

pub fn run(mut command: Command) -> Output {
    command.output().expect("the recorder starts")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Fails with what the recorder said.
pub fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", stderr(output));
}

pub fn session(out: &Path) -> Session {
    Session::load(&RawDir::of(out).session()).expect("a readable session")
}

pub fn kernel_records(out: &Path) -> Vec<Record> {
    let mut all: Vec<Record> = RawDir::of(out)
        .kernels()
        .iter()
        .flat_map(|p| records(&std::fs::read(p).expect("a spool")).collect::<Vec<_>>())
        .collect();
    all.sort_by_key(|r| r.ts);
    all
}

pub fn proc_lines(out: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(RawDir::of(out).procfs()).expect("a spool");
    lines(&text).collect()
}

/// Header of the agent's spool, once it is there.
pub fn agent_header(out: &Path) -> Option<agent::Header> {
    let mut head = vec![0; 4096];
    let mut file = std::fs::File::open(RawDir::of(out).agent()).ok()?;
    std::io::Read::read_exact(&mut file, &mut head).ok()?;
    agent::header(&head)
}

/// Kernel ids of the `count` threads whose names begin so. A thread gives itself its name when it
/// first runs, which may be after its program said that all is ready.
pub fn tids(pid: i32, name: &str, count: usize) -> Vec<u32> {
    let mut found = Vec::new();
    eventually(&format!("{count} threads named {name}"), || {
        found = std::fs::read_dir(format!("/proc/{pid}/task"))
            .expect("it lives")
            .flatten()
            .filter(|e| {
                std::fs::read_to_string(e.path().join("comm")).is_ok_and(|c| c.starts_with(name))
            })
            .map(|e| e.file_name().to_string_lossy().parse().expect("a number"))
            .collect();
        found.len() == count
    });
    found
}

/// Our programs that the kernel holds.
pub fn programs() -> usize {
    libbpf_rs::query::ProgInfoIter::default()
        .filter(|p| {
            let name = p.name.to_string_lossy();
            [
                "on_switch",
                "on_waking",
                "on_wakeup",
                "on_new",
                "on_exit",
                "on_connection",
                "on_sys_enter",
                "on_sys_exit",
            ]
            .contains(&name.as_ref())
        })
        .count()
}

/// Waits until something holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
