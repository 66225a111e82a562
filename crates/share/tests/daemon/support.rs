//! A daemon in a thread, processes that it manages, and what is asked of both.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use loadline_share::{Client, Config, CpuSet, ShareError, Status, Wish, serve};

/// They measure, and move each other's CPUs.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn skip(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIP {test}: {why}");
}

pub(crate) fn is_root() -> bool {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() == 0 }
}

pub(crate) fn cpus_here() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get())
}

/// The mechanisms that can be tried here.
pub(crate) fn mechanisms(test: &str) -> Vec<&'static str> {
    let mut all = vec!["affinity"];
    if is_root() && Path::new("/sys/fs/cgroup/cpuset/cpuset.cpus").exists() {
        all.push("cgroup-v1");
    } else {
        skip(test, "cgroup-v1 needs root and a mounted cpuset controller");
    }
    all
}

/// Two CPUs at least, or the test has nothing to divide.
pub(crate) fn two_cpus_or_skip(test: &str) -> bool {
    let enough = cpus_here() >= 2;
    if !enough {
        skip(test, "needs two CPUs");
    }
    enough
}

pub(crate) struct Daemon {
    _dir: tempfile::TempDir,
    pub(crate) socket: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ShareError>>>,
}

pub(crate) fn config(mechanism: &str, more: &str) -> Config {
    // One that takes over has to find what another process left.
    let parent = std::env::var("SHARE_PARENT").unwrap_or_else(|_| std::process::id().to_string());
    let name = format!("loadline-test-{parent}");
    let text = format!(
        "mechanism = \"{mechanism}\"\ncgroup = \"{name}\"\ncpus = \"0-1\"\nwide_start = \"0ms\"\n{more}"
    );
    Config::parse(&text, "test").expect("a configuration")
}

impl Daemon {
    pub(crate) fn start(mechanism: &str, more: &str) -> Daemon {
        let dir = tempfile::tempdir().expect("a directory");
        // Others' users have to reach the socket.
        fs::set_permissions(
            dir.path(),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .expect("chmod");
        let socket = dir.path().join("share.sock");
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, is_ready) = mpsc::channel();
        let (config, at, flag) = (config(mechanism, more), socket.clone(), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            serve(config, &at, &flag, |_| ready.send(()).expect("a receiver"))
        });
        if is_ready.recv_timeout(Duration::from_secs(10)).is_err() {
            panic!("no daemon: {:?}", thread.join());
        }
        Daemon {
            _dir: dir,
            socket,
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket).expect("a connection")
    }

    pub(crate) fn status(&self) -> Status {
        self.client().status().expect("a status")
    }

    pub(crate) fn adopt(&self, busy: &Busy, name: &str, priority: f64, request: Option<f64>) {
        let wish = Wish {
            name: Some(name.into()),
            priority: Some(priority),
            request,
        };
        self.client()
            .adopt(busy.pid(), &wish, false)
            .expect("adopted");
    }

    pub(crate) fn end(mut self) -> Result<(), ShareError> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().expect("once").join().expect("no panic")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A process that computes on some threads, or makes threads that end at once.
pub(crate) struct Busy(pub(crate) Child);

impl Busy {
    pub(crate) fn start(what: &str) -> Busy {
        Busy(
            child(what, &[])
                .stdout(Stdio::null())
                .spawn()
                .expect("a process"),
        )
    }

    pub(crate) fn pid(&self) -> i32 {
        self.0.id() as i32
    }

    /// The CPUs that each of its threads may use, those that have gone meanwhile left out.
    pub(crate) fn sets(&self) -> Vec<CpuSet> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid())).expect("it lives");
        tasks
            .filter_map(|t| fs::read_to_string(t.ok()?.path().join("status")).ok())
            .filter_map(|s| {
                CpuSet::parse(
                    s.lines()
                        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))?,
                )
                .ok()
            })
            .collect()
    }

    pub(crate) fn set(&self) -> CpuSet {
        let sets = self.sets();
        sets.iter().fold(CpuSet::default(), |all, s| all.union(s))
    }

    pub(crate) fn cpu_seconds(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("it lives");
        let fields: Vec<&str> = text[text.rfind(')').expect("a name")..]
            .split(' ')
            .collect();
        (fields[12].parse::<f64>().expect("utime") + fields[13].parse::<f64>().expect("stime"))
            / 100.0
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This test binary again, as something else.
pub(crate) fn child(what: &str, more: &[&str]) -> Command {
    let mut c = Command::new(std::env::current_exe().expect("this program"));
    c.args(["support::as_a_child", "--exact", "--nocapture"])
        .env("SHARE_TEST", what)
        .env("SHARE_PARENT", std::process::id().to_string())
        .envs(more.iter().map(|m| ("SHARE_MORE", m)));
    c.stdin(Stdio::null()).stderr(Stdio::null());
    c
}

/// What the processes that the tests start do; as a test it has nothing to do.
#[test]
fn as_a_child() {
    let Ok(what) = std::env::var("SHARE_TEST") else {
        return;
    };
    let spin = || -> ! {
        loop {
            std::hint::spin_loop();
        }
    };
    match what.split_once(' ').unwrap_or((&what, "")) {
        ("spin", n) => {
            for _ in 1..n.parse().expect("a number") {
                thread::spawn(spin);
            }
            spin()
        }
        // As a server's threads are: a few milliseconds each time, awoken again and again.
        ("serve-bursts", n) => {
            let serve = || loop {
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(2) {
                    std::hint::spin_loop();
                }
                thread::sleep(Duration::from_millis(1));
            };
            for _ in 1..n.parse().expect("a number") {
                thread::spawn(serve);
            }
            serve()
        }
        ("sleep", _) => thread::sleep(Duration::from_secs(60)),
        ("churn", per_second) => {
            let pause = Duration::from_secs_f64(1.0 / per_second.parse::<f64>().expect("a number"));
            let mut next = Instant::now();
            loop {
                thread::spawn(|| thread::sleep(Duration::from_millis(2)));
                next += pause;
                thread::sleep(next.saturating_duration_since(Instant::now()));
            }
        }
        ("serve", socket) => {
            let more = std::env::var("SHARE_MORE").unwrap_or_default();
            let stop = AtomicBool::new(false);
            serve(config(&more, ""), Path::new(socket), &stop, |_| ()).expect("served");
        }
        ("say", rest) => {
            let (socket, line) = rest.split_once(' ').expect("a socket and a line");
            println!("SAID {}", said(Path::new(socket), line));
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn said(socket: &Path, line: &str) -> String {
    let mut stream = UnixStream::connect(socket).expect("a connection");
    stream
        .write_all(format!("{line}\n").as_bytes())
        .expect("sent");
    let mut answer = String::new();
    BufReader::new(stream)
        .read_line(&mut answer)
        .expect("an answer");
    answer.trim_end().to_owned()
}

pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < until, "not within 10 s: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
