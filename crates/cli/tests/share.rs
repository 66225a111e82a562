//! `loadline share` as people use it: the real daemon, real JVMs with the real jar.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Jvm, alone, eventually, java_program, loadline, root, signal, skip, text};

struct Daemon {
    jvm: Jvm,
    socket: PathBuf,
    _dir: tempfile::TempDir,
}

impl Daemon {
    fn start() -> Daemon {
        let dir = tempfile::tempdir().expect("a directory");
        let socket = dir.path().join("share.sock");
        let config = dir.path().join("share.toml");
        let text = format!(
            "cgroup = \"loadline-cli-test-{}\"\nwide_start = \"0ms\"\n",
            std::process::id()
        );
        std::fs::write(&config, text).expect("written");
        let mut c = loadline();
        c.args(["share", "serve", "--socket"])
            .arg(&socket)
            .arg("--config")
            .arg(&config);
        c.arg("--history")
            .arg(dir.path().join("history.csv"))
            .stderr(Stdio::null());
        let jvm = Jvm::start(c);
        eventually("a daemon", 10, || {
            share(&socket, &["status"]).status.success()
        });
        Daemon {
            jvm,
            socket,
            _dir: dir,
        }
    }

    fn said(&self, arguments: &[&str]) -> String {
        let out = share(&self.socket, arguments);
        assert!(out.status.success(), "{arguments:?}: {}", text(&out));
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    fn run(&self, arguments: &[&str]) -> Command {
        let mut c = loadline();
        c.args(["share", "run", "--socket"])
            .arg(&self.socket)
            .args(arguments);
        c
    }
}

fn share(socket: &Path, arguments: &[&str]) -> std::process::Output {
    let mut c = loadline();
    c.args(["share", arguments[0], "--socket"])
        .arg(socket)
        .args(&arguments[1..]);
    c.stdin(Stdio::null()).output().expect("the binary starts")
}

fn jar() -> String {
    root()
        .join("target/release/loadline-share.jar")
        .display()
        .to_string()
}

#[test]
fn a_jvm_is_run_told_changed_and_let_go() {
    let _alone = alone();
    let all = std::thread::available_parallelism().map_or(1, |n| n.get());
    if all < 2 {
        skip("a_jvm_is_run_told_changed_and_let_go", "needs two CPUs");
        return;
    }
    let daemon = Daemon::start();
    let (jar, program) = (jar(), java_program("Shares"));
    let java = [
        "--name",
        "shop",
        "--priority",
        "2",
        "--request",
        "1",
        "--",
        "java",
        "-cp",
        &jar,
        &program,
        "60",
    ];
    let shop = Jvm::start(daemon.run(&java));
    shop.line("has 1.0");
    let table = daemon.said(&["status"]);
    assert!(
        table.contains("shop") && table.contains("priority-weighted"),
        "{table}"
    );
    daemon.said(&["set", "shop", "--request", "2"]);
    assert!(shop.line("has 2.0").ends_with("managed true"));
    let json: serde_json::Value =
        serde_json::from_str(&daemon.said(&["status", "--json"])).expect("JSON");
    assert_eq!(
        json["applications"][0]["pid"].to_string(),
        shop.pid(),
        "run becomes the program"
    );
    assert_eq!(json["applications"][0]["priority"], 2.0);
    // A second one that asks for all of it: 2 to 1 by priority.
    let batch = Jvm::start(daemon.run(&[
        "--name",
        "batch",
        "--request",
        "2",
        "--",
        "java",
        "-cp",
        &jar,
        &program,
        "60",
    ]));
    batch.line("has 0.7");
    shop.line("has 1.3");
    assert!(daemon.said(&["top", "-n", "1"]).contains("batch"));
    drop(batch);
    shop.line("has 2.0");
    daemon.said(&["set", "shop", "--request", "0.5"]);
    shop.line("has 0.5");
    daemon.said(&["stop"]);
    assert!(
        shop.line(&format!("has {all}.0 sees {all}"))
            .ends_with("managed false"),
        "restored"
    );
    let history = daemon._dir.path().join("history.csv").display().to_string();
    let bill = share(&daemon.socket, &["history", "--file", &history]);
    assert!(
        text(&bill).contains("batch") && text(&bill).contains("assigned CPU s"),
        "{}",
        text(&bill)
    );
}

/// The recorder finds the daemon by the JVM's environment, and sees parts of CPUs that no mask shows.
#[test]
fn a_recording_has_the_cpus_as_a_counter_and_their_changes_as_marks() {
    let test = "a_recording_has_the_cpus_as_a_counter_and_their_changes_as_marks";
    let _alone = alone();
    if std::thread::available_parallelism().map_or(1, |n| n.get()) < 2 {
        skip(test, "needs two CPUs");
        return;
    }
    if !common::kernel_level_or_skip(test) {
        return;
    }
    let daemon = Daemon::start();
    let (jar, program) = (jar(), java_program("Shares"));
    let java = ["--name", "shop", "--request", "2", "--", "java", "-cp"];
    let shop = Jvm::start(daemon.run(&[&java[..], &[&jar, &program, "60"]].concat()));
    shop.line("has 2.0");
    let (_dir, out) = common::scratch();
    let mut recorder = loadline();
    recorder
        .args(["record", "--pid", &shop.pid(), "-o", &out, "-d", "6s"])
        .stdin(Stdio::null());
    let recorder = std::thread::spawn(move || recorder.output().expect("the binary starts"));
    // Once it has read them: the first value is no change.
    std::thread::sleep(std::time::Duration::from_secs(3));
    for cpus in ["1.3", "0.5", "2"] {
        daemon.said(&["set", "shop", "--request", cpus]);
        std::thread::sleep(std::time::Duration::from_millis(600));
    }
    let recorded = recorder.join().expect("it does not panic");
    assert!(recorded.status.success(), "{}", text(&recorded));
    let trace = loadline_trace::Trace::open(Path::new(&out)).expect("a trace");
    let seen: String = common::sql(
        &trace,
        "SELECT string_agg(value::VARCHAR, ' ' ORDER BY ts_ns) FROM marks WHERE kind = 'cpus'",
    );
    assert_eq!(seen, "1300 500 2000", "{}", text(&recorded));
    let (least, most): (f64, f64) = (
        common::sql(
            &trace,
            "SELECT min(value) FROM counters WHERE scope = 'process' AND name = 'assigned_cpus'",
        ),
        common::sql(
            &trace,
            "SELECT max(value) FROM counters WHERE scope = 'process' AND name = 'assigned_cpus'",
        ),
    );
    assert_eq!((least, most), (0.5, 2.0));
    // What every mechanism narrows: 0.5 of a CPU is one CPU in the mask.
    let masks: String = common::sql(
        &trace,
        "SELECT string_agg(DISTINCT value::INTEGER::VARCHAR, ' ' ORDER BY value::INTEGER::VARCHAR) \
         FROM counters WHERE scope = 'process' AND name = 'allowed_cpus'",
    );
    assert_eq!(masks, "1 2");
    let thread: String = common::sql(
        &trace,
        "SELECT DISTINCT t.tid::VARCHAR FROM marks m JOIN threads t ON m.thread = t.id WHERE m.kind = 'cpus'",
    );
    assert_eq!(thread, shop.pid(), "on the main thread");
    // What a killed daemon leaves would be in the next one's way.
    daemon.said(&["stop"]);
}

#[test]
fn run_passes_the_exit_code_on_and_a_signal_ends_the_daemon_in_order() {
    let _alone = alone();
    let mut daemon = Daemon::start();
    let out = daemon
        .run(&["--", "sh", "-c", "exit 7"])
        .output()
        .expect("the binary starts");
    assert_eq!(out.status.code(), Some(7), "{}", text(&out));
    let out = daemon
        .run(&["--", "no-such-program"])
        .output()
        .expect("the binary starts");
    assert_eq!(out.status.code(), Some(1));
    assert!(
        text(&out).contains("cannot execute no-such-program"),
        "{}",
        text(&out)
    );
    signal(&daemon.jvm.child, 15);
    assert_eq!(daemon.jvm.child.wait().expect("ended").code(), Some(0));
    assert!(!daemon.socket.exists());
}

#[test]
fn errors_say_what_to_do() {
    let dir = tempfile::tempdir().expect("a directory");
    let none = dir.path().join("none.sock");
    let config = dir.path().join("bad.toml");
    std::fs::write(&config, "\nquantum = \"1ms\"\n").expect("written");
    let config = config.display().to_string();
    for (arguments, code, says) in [
        (
            vec!["status"],
            1,
            "start one with `sudo loadline share serve`",
        ),
        (vec!["stop"], 1, "no CPU manager answers"),
        (vec!["run", "--", "true"], 1, "no CPU manager answers"),
        (
            vec!["serve", "--config", &config],
            2,
            "bad.toml:2: quantum is \"1ms\"; it must be from 10ms to 10s",
        ),
        (vec!["set"], 2, "required"),
        (vec!["set", "shop"], 2, "--priority, --request or --revenue"),
        (vec!["set", "--policy", "fair"], 2, "priority-weighted"),
        (vec!["run", "--priority", "0", "--", "true"], 2, "above 0"),
        (vec!["history"], 1, "no CPU manager answers"),
    ] {
        let out = share(&none, &arguments);
        assert_eq!(
            out.status.code(),
            Some(code),
            "{arguments:?}: {}",
            text(&out)
        );
        assert!(text(&out).contains(says), "{arguments:?}: {}", text(&out));
    }
    let example = share(&none, &["serve", "--example-config"]);
    assert!(text(&example).contains("policy = \"priority-weighted\""));
}
