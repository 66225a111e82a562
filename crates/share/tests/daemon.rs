//! The daemon on real processes, with every mechanism that this machine has. What a test needs that is not here is said.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use loadline_share::{Client, Config, CpuSet, ShareError, Status, Wish, serve, undo_after_a_crash};

/// They measure, and move each other's CPUs.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn skip(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIP {test}: {why}");
}

fn is_root() -> bool {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() == 0 }
}

fn cpus_here() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get())
}

/// The mechanisms that can be tried here.
fn mechanisms(test: &str) -> Vec<&'static str> {
    let mut all = vec!["affinity"];
    if is_root() && Path::new("/sys/fs/cgroup/cpuset/cpuset.cpus").exists() {
        all.push("cgroup-v1");
    } else {
        skip(test, "cgroup-v1 needs root and a mounted cpuset controller");
    }
    all
}

/// Two CPUs at least, or the test has nothing to divide.
fn two_cpus_or_skip(test: &str) -> bool {
    let enough = cpus_here() >= 2;
    if !enough {
        skip(test, "needs two CPUs");
    }
    enough
}

struct Daemon {
    _dir: tempfile::TempDir,
    socket: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ShareError>>>,
}

fn config(mechanism: &str, more: &str) -> Config {
    // One that takes over has to find what another process left.
    let parent = std::env::var("SHARE_PARENT").unwrap_or_else(|_| std::process::id().to_string());
    let name = format!("loadline-test-{parent}");
    let text = format!(
        "mechanism = \"{mechanism}\"\ncgroup = \"{name}\"\ncpus = \"0-1\"\nwide_start = \"0ms\"\n{more}"
    );
    Config::parse(&text, "test").expect("a configuration")
}

impl Daemon {
    fn start(mechanism: &str, more: &str) -> Daemon {
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

    fn client(&self) -> Client {
        Client::connect(&self.socket).expect("a connection")
    }

    fn status(&self) -> Status {
        self.client().status().expect("a status")
    }

    fn adopt(&self, busy: &Busy, name: &str, priority: f64, request: Option<f64>) {
        let wish = Wish {
            name: Some(name.into()),
            priority: Some(priority),
            request,
        };
        self.client()
            .adopt(busy.pid(), &wish, false)
            .expect("adopted");
    }

    fn end(mut self) -> Result<(), ShareError> {
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
struct Busy(Child);

impl Busy {
    fn start(what: &str) -> Busy {
        Busy(
            child(what, &[])
                .stdout(Stdio::null())
                .spawn()
                .expect("a process"),
        )
    }

    fn pid(&self) -> i32 {
        self.0.id() as i32
    }

    /// The CPUs that each of its threads may use, those that have gone meanwhile left out.
    fn sets(&self) -> Vec<CpuSet> {
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

    fn set(&self) -> CpuSet {
        let sets = self.sets();
        sets.iter().fold(CpuSet::default(), |all, s| all.union(s))
    }

    fn cpu_seconds(&self) -> f64 {
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
fn child(what: &str, more: &[&str]) -> Command {
    let mut c = Command::new(std::env::current_exe().expect("this program"));
    c.args(["as_a_child", "--exact", "--nocapture"])
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

fn said(socket: &Path, line: &str) -> String {
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

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < until, "not within 10 s: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn each_has_its_own_cpus_and_the_dead_leave_theirs() {
    let test = "each_has_its_own_cpus_and_the_dead_leave_theirs";
    let _alone = alone();
    if !two_cpus_or_skip(test) {
        return;
    }
    for mechanism in mechanisms(test) {
        let daemon = Daemon::start(mechanism, "sharing = \"never\"");
        let (a, b) = (Busy::start("spin 3"), Busy::start("spin 3"));
        daemon.adopt(&a, "a", 1.0, Some(2.0));
        daemon.adopt(&b, "b", 1.0, Some(2.0));
        eventually("a CPU each", || a.set().len() == 1 && b.set().len() == 1);
        assert!(
            a.set().intersection(&b.set()).is_empty(),
            "{mechanism}: both on one"
        );
        drop(a);
        let died = Instant::now();
        eventually("the dead one's CPU", || b.set().len() == 2);
        let took = died.elapsed();
        assert!(
            took < Duration::from_secs(2),
            "{mechanism}: {took:?} for a quantum of 100 ms"
        );
        assert_eq!(daemon.status().applications.len(), 1);
        daemon.end().expect("ended in order");
    }
}

#[test]
fn whoever_stops_it_everything_is_as_it_was() {
    let test = "whoever_stops_it_everything_is_as_it_was";
    let _alone = alone();
    if !two_cpus_or_skip(test) {
        return;
    }
    for mechanism in mechanisms(test) {
        let a = Busy::start("spin 2");
        let cgroups = || fs::read_to_string(format!("/proc/{}/cgroup", a.pid())).expect("it lives");
        let before = (a.set(), cgroups());
        let daemon = Daemon::start(mechanism, "");
        daemon.adopt(&a, "a", 1.0, Some(1.0));
        eventually("one CPU", || a.set().len() == 1);
        if mechanism != "affinity" {
            assert!(cgroups().contains("loadline-test"), "{}", cgroups());
        }
        daemon.client().stop().expect("stopped");
        assert_eq!((a.set(), cgroups()), before, "{mechanism}");
        daemon.end().expect("ended in order");
        let left = Path::new("/sys/fs/cgroup/cpuset")
            .join(format!("loadline-test-{}", std::process::id()));
        assert!(!left.exists(), "{} is left", left.display());
    }
}

#[test]
fn a_crash_changes_nothing_and_the_next_daemon_takes_over() {
    let test = "a_crash_changes_nothing_and_the_next_daemon_takes_over";
    let _alone = alone();
    if !two_cpus_or_skip(test) {
        return;
    }
    for mechanism in mechanisms(test) {
        let dir = tempfile::tempdir().expect("a directory");
        let socket = dir.path().join("share.sock");
        let a = Busy::start("spin 2");
        let crash = |adopt: bool| {
            let mut daemon = child(&format!("serve {}", socket.display()), &[mechanism])
                .spawn()
                .expect("a daemon");
            eventually("a daemon", || Client::connect(&socket).is_ok());
            let mut client = Client::connect(&socket).expect("a connection");
            if adopt {
                let wish = Wish {
                    name: Some("a".into()),
                    priority: Some(3.0),
                    request: Some(1.0),
                };
                client.adopt(a.pid(), &wish, false).expect("adopted");
            }
            let app = client
                .status()
                .expect("a status")
                .applications
                .pop()
                .expect("taken over");
            assert_eq!(
                (app.name.as_str(), app.priority, app.wants),
                ("a", 3.0, 1.0),
                "{mechanism}"
            );
            eventually("one CPU", || a.set().len() == 1);
            daemon.kill().expect("killed");
            daemon.wait().expect("dead");
        };
        crash(true);
        thread::sleep(Duration::from_millis(200));
        assert_eq!(a.set().len(), 1, "{mechanism}: a crash moved it");
        crash(false);
        let restored = undo_after_a_crash(&socket).expect("undone");
        assert_eq!(restored, Some(vec!["a".into()]));
        assert_eq!(a.set().len() as usize, cpus_here(), "{mechanism}");
        assert_eq!(undo_after_a_crash(&socket).expect("nothing"), None);
    }
}

#[test]
fn no_thread_is_outside_its_set_however_fast_they_come() {
    let test = "no_thread_is_outside_its_set_however_fast_they_come";
    let _alone = alone();
    if !two_cpus_or_skip(test) {
        return;
    }
    for mechanism in mechanisms(test) {
        let daemon = Daemon::start(mechanism, "sharing = \"never\"");
        let churn = Busy::start("churn 5000");
        thread::sleep(Duration::from_millis(200));
        daemon.adopt(&churn, "churn", 1.0, Some(1.0));
        eventually("one CPU", || churn.set().len() == 1);
        let set = churn.set();
        let mut threads = 0;
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            for now in churn.sets() {
                threads += 1;
                assert!(
                    now.is_subset(&set),
                    "{mechanism}: a thread on {now}, not {set}"
                );
            }
        }
        assert!(threads > 1000, "{threads} threads were seen");
        assert_eq!(
            daemon.status().errors,
            0,
            "{:?}",
            daemon.status().last_error
        );
        daemon.end().expect("ended in order");
    }
}

#[test]
fn a_shared_cpu_is_split_by_weight() {
    let test = "a_shared_cpu_is_split_by_weight";
    let _alone = alone();
    if !two_cpus_or_skip(test) || !mechanisms(test).contains(&"cgroup-v1") {
        return;
    }
    let daemon = Daemon::start("cgroup-v1", "");
    let (a, b) = (Busy::start("spin 4"), Busy::start("spin 4"));
    daemon.adopt(&a, "a", 9.0, Some(2.0));
    daemon.adopt(&b, "b", 1.0, Some(2.0));
    eventually("1.8 and 0.2", || {
        daemon
            .status()
            .applications
            .iter()
            .map(|a| a.has)
            .collect::<Vec<_>>()
            == [1.8, 0.2]
    });
    eventually("one CPU of two", || {
        a.set().len() == 2 && b.set().len() == 1
    });
    thread::sleep(Duration::from_millis(300));
    let before = (a.cpu_seconds(), b.cpu_seconds());
    thread::sleep(Duration::from_secs(2));
    let (a, b) = (a.cpu_seconds() - before.0, b.cpu_seconds() - before.1);
    // A fifth is meant; weights in the ratio of the parts would give it a third. Others may run here, on either CPU.
    let on_its_cpu = b / 2.0;
    assert!(
        (0.08..0.28).contains(&on_its_cpu),
        "{b} CPU s in 2 s, and {a} for the other"
    );
    daemon.end().expect("ended in order");
}

#[test]
fn who_wants_more_gives_way_to_who_has_enough_as_long_as_that_keeps_to_it() {
    let test = "who_wants_more_gives_way_to_who_has_enough_as_long_as_that_keeps_to_it";
    let _alone = alone();
    if !two_cpus_or_skip(test) || !mechanisms(test).contains(&"cgroup-v1") {
        return;
    }
    let daemon = Daemon::start("cgroup-v1", "");
    let (calm, busy) = (Busy::start("sleep"), Busy::start("spin 4"));
    let yields = || {
        let groups = fs::read_to_string(format!("/proc/{}/cgroup", busy.pid())).expect("it lives");
        let of_cpu = groups.lines().find_map(|l| l.split_once(":cpu:"));
        let path = format!("/sys/fs/cgroup/cpu{}/cpu.idle", of_cpu.expect("a group").1);
        fs::read_to_string(path).ok().map(|idle| idle.trim() == "1")
    };
    daemon.adopt(&calm, "calm", 5.0, Some(0.5));
    daemon.adopt(&busy, "busy", 1.0, Some(2.0));
    if yields().is_none() {
        return skip(test, "this kernel has no cpu.idle");
    }
    eventually("the busy one gives way", || yields() == Some(true));
    drop(calm);
    eventually("nobody is there to give way to", || yields() == Some(false));
    // One that says half a CPU and takes what it can get.
    let liar = Busy::start("spin 4");
    daemon.adopt(&liar, "liar", 5.0, Some(0.5));
    eventually("it has its part", || {
        daemon.status().applications.iter().any(|a| a.has == 0.5)
    });
    thread::sleep(Duration::from_secs(2)); // it is found out after one and a half
    let before = (liar.cpu_seconds(), busy.cpu_seconds());
    thread::sleep(Duration::from_secs(2));
    let (liar, busy) = (liar.cpu_seconds() - before.0, busy.cpu_seconds() - before.1);
    assert!(
        busy > 1.7 * liar,
        "half a CPU took {liar} s, one and a half {busy} s"
    );
    daemon.end().expect("ended in order");
}

#[test]
fn what_an_idle_one_does_not_need_a_busy_one_gets() {
    let test = "what_an_idle_one_does_not_need_a_busy_one_gets";
    let _alone = alone();
    if !two_cpus_or_skip(test) {
        return;
    }
    for mechanism in mechanisms(test) {
        let daemon = Daemon::start(mechanism, "");
        let (idle, busy) = (Busy::start("sleep"), Busy::start("spin 4"));
        daemon.adopt(&idle, "idle", 5.0, None);
        daemon.adopt(&busy, "busy", 1.0, None);
        eventually("nearly all for the busy one", || {
            let apps = daemon.status().applications;
            apps[0].has <= 0.2 && apps[1].has >= 1.8
        });
        daemon.end().expect("ended in order");
    }
}

#[test]
fn who_is_pinned_is_left_alone_unless_forced() {
    let test = "who_is_pinned_is_left_alone_unless_forced";
    let _alone = alone();
    if !two_cpus_or_skip(test) {
        return;
    }
    let daemon = Daemon::start("affinity", "");
    let mut pinned = child("spin 1", &[]);
    // SAFETY: one system call on the child's own mask, between fork and exec.
    unsafe {
        pinned.pre_exec(|| {
            let one = 2u64;
            match libc::syscall(libc::SYS_sched_setaffinity, 0, 8, &one) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let pinned = Busy(pinned.stdout(Stdio::null()).spawn().expect("a process"));
    eventually("pinned", || pinned.set().to_string() == "1");
    let wish = Wish {
        name: Some("p".into()),
        priority: None,
        request: Some(2.0),
    };
    let e = daemon
        .client()
        .adopt(pinned.pid(), &wish, false)
        .expect_err("refused")
        .to_string();
    assert!(
        e.contains("pinned to CPUs 1") && e.contains("--force"),
        "{e}"
    );
    assert_eq!(pinned.set().to_string(), "1");
    daemon
        .client()
        .adopt(pinned.pid(), &wish, true)
        .expect("forced");
    eventually("both CPUs", || pinned.set().len() == 2);
    daemon.end().expect("ended in order");
    assert_eq!(pinned.set().to_string(), "1", "as it was");
}

#[test]
fn a_stranger_can_neither_register_nor_read_nor_change() {
    let test = "a_stranger_can_neither_register_nor_read_nor_change";
    let _alone = alone();
    if !is_root() {
        skip(test, "needs root to be somebody else");
        return;
    }
    let daemon = Daemon::start(
        "affinity",
        "[[allow]]\nuser = \"65533\"\npriority = 1\napplications = 1",
    );
    let a = Busy::start("spin 1");
    daemon.adopt(&a, "a", 1.0, Some(1.0));
    let copy = daemon.socket.with_file_name("program");
    fs::copy(std::env::current_exe().expect("this program"), &copy).expect("copied");
    let as_user = |uid: u32, line: &str| {
        let mut c = child(&format!("say {} {line}", daemon.socket.display()), &[]);
        let mut other = Command::new(&copy);
        other
            .args(c.get_args())
            .envs(c.get_envs().filter_map(|(k, v)| Some((k, v?))))
            .current_dir("/");
        c = other;
        let out = c.uid(uid).gid(uid).output().expect("a process");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        text.lines()
            .find_map(|l| l.split_once("SAID "))
            .map(|(_, t)| t.to_owned())
            .unwrap_or(text)
    };
    let stranger = 65532;
    for (line, says) in [
        ("register name=x".to_owned(), "may not register"),
        ("run name=x".to_owned(), "may not register"),
        ("set name=a priority=0.1".to_owned(), "may not change"),
        ("release name=a".to_owned(), "may not change"),
        (format!("adopt pid={}", a.pid()), "may not do this"),
        ("policy policy=batch".to_owned(), "may not do this"),
        ("stop".to_owned(), "may not do this"),
        ("request request=2".to_owned(), "register first"),
        ("nonsense".to_owned(), "is no message"),
    ] {
        let answer = as_user(stranger, &line);
        assert!(
            answer.starts_with("error ") && answer.contains(says),
            "{line}: {answer}"
        );
    }
    let answer = as_user(65533, "register name=y priority=2");
    assert!(answer.contains("up to 1 is allowed"), "{answer}");
    let answer = as_user(65533, "register name=y priority=1");
    assert!(answer.starts_with("ok id="), "who is allowed may: {answer}");
    let pages = daemon.socket.with_extension("pages");
    let page = fs::read_dir(&pages)
        .expect("pages")
        .next()
        .expect("one")
        .expect("readable")
        .path();
    let mut cat = Command::new("cat");
    assert!(
        !cat.arg(&page)
            .uid(stranger)
            .gid(stranger)
            .output()
            .expect("cat")
            .status
            .success(),
        "it read the page"
    );
    daemon.end().expect("ended in order");
}

#[test]
fn a_second_daemon_is_told_that_there_is_one() {
    let _alone = alone();
    let daemon = Daemon::start("affinity", "");
    let stop = AtomicBool::new(false);
    let e = serve(config("affinity", ""), &daemon.socket, &stop, |_| ())
        .expect_err("a second one")
        .to_string();
    assert!(e.contains("is running already"), "{e}");
    assert!(
        daemon.status().applications.is_empty(),
        "the first one goes on"
    );
}

#[test]
fn figures_and_history_say_what_was_given() {
    let _alone = alone();
    let dir = tempfile::tempdir().expect("a directory");
    let history = dir.path().join("history.csv");
    let more = format!(
        "metrics = \"127.0.0.1:0\"\nhistory = \"{}\"\nhistory_every = \"1s\"",
        history.display()
    );
    let dir = tempfile::tempdir().expect("a directory");
    let socket = dir.path().join("share.sock");
    let stop = Arc::new(AtomicBool::new(false));
    let (ready, is_ready) = mpsc::channel();
    let (at, flag) = (socket.clone(), Arc::clone(&stop));
    let thread = thread::spawn(move || {
        serve(config("affinity", &more), &at, &flag, |r| {
            ready.send(r.metrics.clone()).expect("a receiver")
        })
    });
    let address = is_ready
        .recv_timeout(Duration::from_secs(10))
        .expect("ready")
        .expect("an address");
    let a = Busy::start("spin 1");
    let wish = Wish {
        name: Some("a".into()),
        priority: Some(2.0),
        request: Some(1.0),
    };
    Client::connect(&socket)
        .expect("a connection")
        .adopt(a.pid(), &wish, false)
        .expect("adopted");
    thread::sleep(Duration::from_millis(1500));
    let mut http = std::net::TcpStream::connect(address).expect("a connection");
    http.write_all(b"GET /metrics HTTP/1.1\r\n\r\n")
        .expect("sent");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut http, &mut text).expect("an answer");
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    assert!(
        text.contains("loadline_share_cpus_assigned{application=\"a\"} 1\n"),
        "{text}"
    );
    assert!(
        text.contains("loadline_share_priority{application=\"a\"} 2\n"),
        "{text}"
    );
    stop.store(true, Ordering::Relaxed);
    thread.join().expect("no panic").expect("ended in order");
    let totals = loadline_share::History::read(&history, 0.0)
        .expect("a history")
        .totals();
    assert_eq!(totals.len(), 1);
    let account = totals[0].account;
    assert!(
        account.assigned >= 1.2 && (account.assigned - account.seconds).abs() < 0.2,
        "{account:?}"
    );
    assert!(account.used > 0.2, "{account:?}");
}
