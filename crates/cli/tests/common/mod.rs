//! What the end-to-end tests share: the real binary, real JVMs, and the rule that only one of them
//! runs at a time, because they measure.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loadline_trace::Trace;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Held by each test that measures or counts processes.
pub fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says, past the test runner's capture, that a test did not run here and why.
pub fn skip(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIP {test}: {why}");
}

/// Whether the kernel level can be recorded here; if not, says that `test` is skipped.
pub fn kernel_level_or_skip(test: &str) -> bool {
    // SAFETY: geteuid cannot fail and touches nothing.
    let root = unsafe { libc::geteuid() } == 0;
    let btf = Path::new("/sys/kernel/btf/vmlinux").exists();
    if !(root && btf) {
        skip(test, "the kernel level needs root and a kernel with BTF");
    }
    root && btf
}

/// The binary under test.
pub fn loadline() -> Command {
    Command::new(env!("CARGO_BIN_EXE_loadline"))
}

/// Runs it to its end.
pub fn run(args: &[&str]) -> Output {
    let out = loadline()
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    assert!(
        out.status.code().is_some(),
        "{args:?} was killed: {}",
        text(&out)
    );
    out
}

/// Runs it to its end, which must be success.
pub fn run_ok(args: &[&str]) -> Output {
    let out = run(args);
    assert!(
        out.status.success(),
        "loadline {args:?} failed:\n{}",
        text(&out)
    );
    out
}

/// Both outputs, for messages.
pub fn text(out: &Output) -> String {
    format!(
        "{}\n{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    )
}

/// Repository root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the checkout exists")
}

/// `java` arguments that run one of the programs in `tests/java` (as source, no build step).
pub fn java_program(name: &str) -> String {
    root()
        .join(format!("crates/cli/tests/java/{name}.java"))
        .display()
        .to_string()
}

/// The class path with that program's classes, where the compiler is not to run in the JVM that is recorded.
pub fn compiled_program(home: &Path, name: &str, into: &Path) -> String {
    let classes = into.join("classes");
    let mut compiler = Command::new(home.join("bin/javac"));
    compiler.arg("-d").arg(&classes).arg(java_program(name));
    let status = compiler.status().expect("javac starts");
    assert!(status.success(), "{name} compiles");
    classes.display().to_string()
}

/// A JVM of ours that is killed with the test.
pub struct Jvm {
    pub child: Child,
    pub lines: std::sync::mpsc::Receiver<String>,
}

impl Jvm {
    /// Starts it and reads its output line by line.
    pub fn start(mut command: Command) -> Jvm {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("java starts");
        let stdout = child.stdout.take().expect("it is piped");
        let (send, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Jvm { child, lines }
    }

    /// `java ARGS`.
    pub fn java(args: &[&str]) -> Jvm {
        let mut c = Command::new("java");
        c.args(args);
        Jvm::start(c)
    }

    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// The next line that begins so.
    pub fn line(&self, begin: &str) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self
                .lines
                .recv_timeout(left)
                .unwrap_or_else(|e| panic!("no line {begin:?}: {e}"));
            if line.starts_with(begin) {
                return line;
            }
        }
    }
}

/// Homes of JDKs 17 and later, one per version.
pub fn jdks() -> Vec<(u32, PathBuf)> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten()
    {
        let home = entry.path();
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = release
            .lines()
            .find_map(|l| l.strip_prefix("JAVA_VERSION=\""))
            .and_then(|v| v.split(['.', '"', '+']).next()?.parse().ok());
        let Some(version) = version.filter(|v| *v >= 17) else {
            continue;
        };
        if home.join("bin/javac").is_file() && found.iter().all(|(v, _)| *v != version) {
            found.push((version, home));
        }
    }
    found.sort();
    found
}

/// A site of a tenth of the usual size: it starts in half the time, of which making the data is most.
pub const SMALL: [&str; 6] = ["--items", "300", "--old-items", "500", "--users", "100"];

/// The auction site with these options of the JVM and of its own, and where it listens.
pub fn auction(java: &[&str], site: &[&str]) -> (Jvm, String) {
    auction_on(Path::new("java"), java, site)
}

/// The same, run by this `java`.
pub fn auction_on(program: &Path, java: &[&str], site: &[&str]) -> (Jvm, String) {
    let jar = root().join("bed/auction/target/auction.jar");
    assert!(
        jar.exists(),
        "{} is missing: run `make build`",
        jar.display()
    );
    let dir = tempfile::tempdir().expect("a temporary directory");
    let port = dir.path().join("port");
    let mut command = Command::new(program);
    command
        .args(java)
        .arg("-jar")
        .arg(jar)
        .args(["--port", "0", "--max-seconds", "120"])
        .args(SMALL)
        .args(site)
        .arg("--port-file")
        .arg(&port);
    let server = Jvm::start(command);
    server.line("auction: ready");
    let port = std::fs::read_to_string(&port).expect("the port file");
    (server, format!("https://127.0.0.1:{}", port.trim()))
}

/// The option that puts the agent into a JVM from its start.
pub fn with_the_agent() -> String {
    let agent = root().join("target/release/loadline-agent.jar");
    format!("-javaagent:{}", agent.display())
}

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // What a killed JVM with the agent leaves, and one that was attached to.
        let _ = std::fs::remove_dir_all(format!("/tmp/.loadline-{}", self.child.id()));
        let _ = std::fs::remove_file(format!("/tmp/.java_pid{}", self.child.id()));
    }
}

/// Whether a process runs that has this word on its command line, as `-Dmarker=NAME`.
pub fn runs(word: &str) -> bool {
    std::fs::read_dir("/proc")
        .expect("Linux")
        .flatten()
        .filter_map(|e| std::fs::read_to_string(e.path().join("cmdline")).ok())
        .any(|c| c.split('\0').any(|w| w == word))
}

/// Sends a signal to a process that the test started.
pub fn signal(child: &Child, signal: i32) {
    // SAFETY: kill only sends a signal, and the pid is that of an unreaped child of ours.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0, "kill");
}

/// Waits until `f`, at most `seconds`.
pub fn eventually(what: &str, seconds: u64, mut f: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(seconds);
    while !f() {
        assert!(Instant::now() < until, "not within {seconds} s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// One value of SQL over a trace.
pub fn sql<T: loadline_trace::duckdb::types::FromSql>(trace: &Trace, sql: &str) -> T {
    let db = trace.sql().expect("views");
    db.query_row(sql, [], |row| row.get(0))
        .unwrap_or_else(|e| panic!("{sql}: {e}"))
}

/// A trace directory's path inside a fresh temporary directory.
pub fn scratch() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let trace = dir.path().join("t.trace").display().to_string();
    (dir, trace)
}
