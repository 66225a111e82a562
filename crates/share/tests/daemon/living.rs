//! Ends in order and out of order, the next daemon, and what is told meanwhile.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use loadline_share::{Client, Wish, serve, undo_after_a_crash};

use crate::support::*;

#[test]
fn it_runs_before_all_others_unless_told_not_to() {
    let test = "it_runs_before_all_others_unless_told_not_to";
    let _alone = alone();
    if !is_root() {
        return skip(test, "real-time priority needs root");
    }
    // Policies of this process's threads: field 41 of proc_pid_stat(5), counted from the name on.
    let real_time = || {
        let threads = fs::read_dir("/proc/self/task").expect("threads");
        let stats = threads.filter_map(|t| fs::read_to_string(t.ok()?.path().join("stat")).ok());
        let fifo = stats.filter(|stat| {
            let after_name = stat.rsplit(')').next().unwrap_or_default();
            after_name.split_whitespace().nth(38) == Some("1")
        });
        fifo.count()
    };
    let daemon = Daemon::start("affinity", "real_time = false");
    assert_eq!(real_time(), 0);
    assert!(daemon.status().scheduling.contains("real_time = false"));
    daemon.end().expect("ended in order");
    let daemon = Daemon::start("affinity", "");
    assert_eq!(daemon.status().scheduling, "real time");
    assert_eq!(real_time(), 1);
    daemon.end().expect("ended in order");
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
