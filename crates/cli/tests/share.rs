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
