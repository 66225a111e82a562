//! Recordings that end in every way there is, of running JVMs and of commands.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::*;
use loadline_trace::spool::procfs::Line;
use loadline_trace::spool::{RawDir, agent};

/// The agent records, and the recorder has begun.
fn recording(out: &std::path::Path) -> bool {
    agent_header(out).is_some_and(|h| h.state == agent::state::RECORDING)
        && std::fs::read(RawDir::of(out).procfs()).is_ok_and(|p| !p.is_empty())
}

/// A recorder of all levels, when it records.
fn begun(jvm: &Jvm, out: &Path, agent: &[String]) -> std::process::Child {
    let mut command = recorder_on(jvm.pid(), out, &["--levels", "kernel,jvm,server,app"]);
    let recorder = command
        .args(agent)
        .stdout(Stdio::null())
        .spawn()
        .expect("starts");
    eventually("it records", || recording(out));
    recorder
}

#[test]
fn the_death_of_the_jvm_ends_the_recording_normally() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let _alone = alone();
    // One that nobody recorded: whoever records next tidies up after it.
    let mut unseen = Jvm::start_with(&mut java_with(&agent), "Unseen", READY);
    await_door(unseen.pid());
    unseen.child.kill().expect("killed");
    unseen.child.wait().expect("ours");
    assert!(door_folder(unseen.pid()).exists());
    for at_start in [false, true] {
        let mut java = match at_start {
            true => java_with(&agent),
            false => Command::new("java"),
        };
        let mut jvm = Jvm::start_with(&mut java, "Victim", READY);
        if at_start {
            await_door(jvm.pid());
        }
        let out = jvm.dir.path().join("t");
        let mut recorder = begun(&jvm, &out, &agent);
        std::thread::sleep(Duration::from_millis(500));
        jvm.child
            .kill()
            .and_then(|()| jvm.child.wait())
            .expect("killed");
        assert!(recorder.wait().expect("ours").success());
        let session = session(&out);
        assert_eq!(session.ended, "target-exited");
        assert!(session.end_ns > session.begin_ns);
        let socket = format!("/tmp/.java_pid{}", jvm.pid());
        let doors = [door_folder(jvm.pid()), door_folder(unseen.pid())];
        for left in [Path::new(&socket), &doors[0], &doors[1]] {
            assert!(!left.exists(), "{} is left", left.display());
        }
    }
}

#[test]
fn a_killed_recorder_leaves_nothing_and_its_trace_can_be_recovered() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let _alone = alone();
    let mut jvm = Jvm::start("Survivor", &format!("run(\"busy\", () -> spin()); {READY}"));
    let out = jvm.dir.path().join("t");
    let mut recorder = begun(&jvm, &out, &agent);
    std::thread::sleep(Duration::from_millis(1500));

    let recover = || {
        let mut command = Command::new(common::recorder());
        command.arg("--recover").arg(&out);
        run(command)
    };
    assert!(stderr(&recover()).contains("is still being recorded"));
    recorder
        .kill()
        .and_then(|()| recorder.wait())
        .expect("killed");
    // SAFETY: a timespec of our own.
    let killed_ns = unsafe {
        let mut t = std::mem::zeroed::<libc::timespec>();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t);
        t.tv_sec * 1_000_000_000 + t.tv_nsec
    };
    eventually("no program is left", || programs() == 0);
    eventually("the agent is dormant", || {
        agent_header(&out).is_some_and(|h| h.state == agent::state::STOPPED)
    });
    assert!(jvm.is_alive());
    assert_eq!(session(&out).ended, "");
    succeeded(&recover());
    let session = session(&out);
    assert_eq!(session.ended, "recovered");
    assert!(
        (killed_ns - session.end_ns).abs() < 1_000_000_000,
        "at most one second is missing"
    );
    let left = |name: &str| {
        std::path::Path::new("/tmp")
            .join(format!("{name}{}", jvm.pid()))
            .exists()
    };
    assert!(!left(".attach_pid"));
}

#[test]
fn the_agent_attaches_to_every_jdk_and_is_dormant_afterwards() {
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let _alone = alone();
    let mut tried = 0;
    for java in [
        "/usr/lib/jvm/java-17-openjdk-amd64/bin/java",
        "/usr/lib/jvm/temurin-25-jdk-amd64/bin/java",
    ] {
        if !std::path::Path::new(java).exists() {
            common::skipped("endings", &format!("{java} is not installed"));
            continue;
        }
        tried += 1;
        let mut jvm = Jvm::start_with(
            &mut Command::new(java),
            "Idle",
            &format!("run(\"a-name\", () -> spin()); {READY}"),
        );
        let out = jvm.dir.path().join("t");
        let mut command = recorder_on(
            jvm.pid(),
            &out,
            &["--levels", "jvm,server,app", "--seconds", "0.5"],
        );
        command.args(&agent);
        succeeded(&run(command));
        let header = agent_header(&out).expect("a header");
        assert_eq!(
            header.state,
            agent::state::STOPPED,
            "{java}: {}",
            header.message
        );
        assert!(header.begin > 0);
        assert!(
            header.info.contains("\"names_threads\": true"),
            "{java}: {}",
            header.info
        );
        let is_dump = |l: &Line| matches!(l, Line::JavaThreads { .. });
        assert!(
            !proc_lines(&out).iter().any(is_dump),
            "{java}: nobody is stopped for a thread dump"
        );
        let length = std::fs::metadata(RawDir::of(&out).agent())
            .expect("there")
            .len();
        assert_eq!(length, header.next & !1, "cut behind the last chunk");
        assert!(jvm.is_alive());
    }
    assert!(tried > 0, "no JDK was found");
}

fn started(out: &std::path::Path, more: &[&str], command: &[&str]) -> Command {
    let mut recorder = Command::new(recorder());
    recorder.arg("--out").arg(out).args(more);
    recorder
        .args(agent().expect("built"))
        .arg("--")
        .args(command);
    recorder
}

#[test]
fn a_java_command_is_recorded_from_its_first_instruction_and_its_status_told() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    if agent().is_none() {
        skip!("the agent is not built");
    }
    let _alone = alone();
    let dir = compiled(
        "Short",
        "run(\"worker\", () -> {}).join(); Thread.sleep(300); System.exit(7);",
    );
    let classes = dir.path().display().to_string();
    for (out, command) in [
        ("java", vec!["java", "-cp", &classes, "Short"]),
        (
            "script",
            vec!["sh", "-c", "java -cp $0 Short; exit 9", &classes],
        ),
    ] {
        let out = dir.path().join(out);
        let levels = ["--levels", "kernel,jvm,server,app"];
        let output = run(started(
            &out,
            if command[0] == "java" {
                &levels
            } else {
                &["--levels", "kernel"]
            },
            &command,
        ));
        succeeded(&output);
        let session = session(&out);
        assert_eq!(session.ended, "target-exited");
        assert_eq!(
            session.target_exit,
            Some(if command[0] == "java" { 7 } else { 9 })
        );
        assert_eq!(session.target.name, "Short");
        assert!(!kernel_records(&out).is_empty());
    }
    let header = agent_header(&dir.path().join("java")).expect("a header");
    assert!(header.begin > 0, "the agent recorded");
}

#[test]
fn a_command_ends_with_its_recording() {
    if agent().is_none() {
        skip!("the agent is not built");
    }
    let _alone = alone();
    let dir = compiled("Endless", "Thread.sleep(1_000_000);");
    let classes = dir.path().display().to_string();
    let out = dir.path().join("t");
    let command = ["java", "-cp", &classes, "Endless"];
    succeeded(&run(started(
        &out,
        &["--levels", "jvm", "--seconds", "0.3"],
        &command,
    )));
    let session = session(&out);
    assert_eq!(session.target_exit, Some(128 + libc::SIGTERM));
    assert!(!std::path::Path::new(&format!("/proc/{}", session.target.pid)).exists());
}

#[test]
fn a_command_that_cannot_run_leaves_neither_process_nor_directory() {
    if agent().is_none() {
        skip!("the agent is not built");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("t");
    let output = run(started(
        &out,
        &["--levels", "jvm"],
        &["/no/such/java", "Main"],
    ));
    assert!(stderr(&output).contains("/no/such/java"), "{output:?}");
    assert!(!out.exists());
}

#[test]
fn an_agents_full_disk_never_kills_the_jvm() {
    if !is_root() {
        skip!("needs root, to mount a small file system");
    }
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let _alone = alone();
    // The JVM must see the small file system as well: both live in one mount namespace.
    let body = "Object o = new Object(); for (int i = 0; i < 3; i++) run(\"fight-\" + i, () -> { while (true) \
                synchronized (o) { for (int k = 0; k < 500; k++) sink = k; } });";
    let dir = compiled("Fight", &format!("{body} {READY}"));
    let script = format!(
        "mkdir {d}/disk && mount -t tmpfs -o size=20m none {d}/disk && chmod 777 {d}/disk || exit 90\n\
         java -cp {d} Fight > {d}/ready & jvm=$!\n\
         for i in $(seq 100); do grep -q ready {d}/ready && break; sleep 0.1; done\n\
         {r} --pid $jvm --out {d}/disk/t --levels jvm --seconds 8 {a} > /dev/null; status=$?\n\
         head -c 100000000 /dev/zero > {d}/disk/fill 2> /dev/null; sleep 0.5\n\
         kill -0 $jvm || exit 91; kill $jvm; exit $status",
        d = dir.path().display(),
        r = recorder().display(),
        a = agent.join(" ")
    );
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]);
    let output = run(command);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("no space left"), "{output:?}");
}
