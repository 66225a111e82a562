//! What is checked before anything is touched, and who may record whom.

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::*;
use loadline_trace::spool::agent;

fn refused(command: Command) -> String {
    let output = run(command);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    stderr(&output)
}

#[test]
fn what_is_no_jvm_is_refused_with_its_name_and_never_signalled() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("t");
    let mut sleep = Command::new("sleep").arg("60").spawn().expect("sleep");
    let pid = sleep.id() as i32;
    let said = refused(recorder_on(pid, &out, &["--levels", "kernel"]));
    assert!(
        said.contains(&format!(
            "process {pid} is not a Java virtual machine (it is sleep)"
        )),
        "{said}"
    );
    assert!(said.contains("running JVMs:"), "{said}");
    assert!(sleep.try_wait().expect("ours").is_none(), "it still sleeps");
    assert!(!out.exists());
    sleep
        .kill()
        .and_then(|()| sleep.wait().map(|_| ()))
        .expect("ended");
}

#[test]
fn a_process_that_does_not_exist_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let said = refused(recorder_on(
        i32::MAX,
        &dir.path().join("t"),
        &["--levels", "kernel"],
    ));
    assert!(
        said.contains(&format!("there is no process {}", i32::MAX)),
        "{said}"
    );
}

#[test]
fn a_directory_in_use_is_refused_before_the_target_is_touched() {
    let jvm = Jvm::start("Idle", READY);
    let said = refused(recorder_on(
        jvm.pid(),
        jvm.dir.path(),
        &["--levels", "kernel"],
    ));
    assert!(said.contains("output directory in use"), "{said}");
    assert!(!jvm.dir.path().join("raw").exists());
}

#[test]
fn a_missing_agent_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let arguments = [
        "--levels",
        "jvm",
        "--jar",
        "/no/agent.jar",
        "--library",
        "/no/agent.so",
    ];
    let said = refused(recorder_on(1, &dir.path().join("t"), &arguments));
    assert!(said.contains("/no/agent.jar is missing"), "{said}");
}

#[test]
fn a_disabled_attach_mechanism_is_named_and_the_jvm_not_signalled() {
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let mut java = Command::new("java");
    java.arg("-XX:+DisableAttachMechanism");
    let said = refused_unsignalled(&mut java, &agent);
    assert!(
        said.contains("-XX:+DisableAttachMechanism") && said.contains("Start it without"),
        "{said}"
    );
}

#[test]
fn openj9_is_named_and_not_signalled() {
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    // There is none here: it is known by the library that is mapped, which any may be.
    let dir = tempfile::tempdir().expect("a directory");
    let library = dir.path().join("libj9vm29.so");
    std::fs::copy(&agent[3], &library).expect("a library");
    let mut java = Command::new("java");
    java.env("LD_PRELOAD", &library);
    let said = refused_unsignalled(&mut java, &agent);
    assert!(
        said.contains("OpenJ9") && said.contains("--levels kernel"),
        "{said}"
    );
}

/// What the recorder says as it refuses the JVM of this command, which has not been sent SIGQUIT.
fn refused_unsignalled(java: &mut Command, agent: &[String]) -> String {
    let _alone = alone();
    let mut jvm = Jvm::start_with(java, "Closed", READY);
    let out = jvm.dir.path().join("t");
    let mut command = recorder_on(jvm.pid(), &out, &["--levels", "jvm"]);
    command.args(agent);
    let said = refused(command);
    assert!(!out.exists());
    jvm.child.kill().expect("ours");
    let mut printed = String::new();
    std::io::Read::read_to_string(jvm.child.stdout.as_mut().expect("piped"), &mut printed)
        .expect("read");
    assert_eq!(printed, "", "a thread dump would mean that SIGQUIT came");
    said
}

#[test]
fn a_jvm_that_takes_no_agents_is_recorded_if_it_had_ours_since_its_start() {
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let _alone = alone();
    let errors = tempfile::NamedTempFile::new().expect("a file");
    let mut java = java_with(&agent);
    java.args([
        "-XX:+DisableAttachMechanism",
        "-XX:-EnableDynamicAgentLoading",
        "-Xrs",
    ])
    .stderr(errors.reopen().expect("it"));
    let mut jvm = Jvm::start_with(&mut java, "Guarded", READY);
    await_door(jvm.pid());
    let out = jvm.dir.path().join("t");
    let mut command = recorder_on(
        jvm.pid(),
        &out,
        &["--levels", "jvm,server,app", "--seconds", "0.5"],
    );
    command.args(&agent);
    succeeded(&run(command));
    let header = agent_header(&out).expect("a header");
    assert_eq!(header.state, loadline_trace::spool::agent::state::STOPPED);
    assert!(jvm.is_alive());
    assert_eq!(
        std::fs::read_to_string(errors.path()).expect("read"),
        "",
        "nothing is loaded, of which it would warn"
    );
}

#[test]
fn a_stopped_jvm_is_refused_at_once_and_goes_on_as_if_nobody_had_come() {
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let _alone = alone();
    for at_start in [false, true] {
        let errors = tempfile::NamedTempFile::new().expect("a file");
        let mut java = match at_start {
            true => java_with(&agent),
            false => Command::new("java"),
        };
        java.stderr(errors.reopen().expect("it"));
        let mut jvm = Jvm::start_with(&mut java, "Stopped", READY);
        if at_start {
            await_door(jvm.pid());
        }
        let options = ["--levels", "jvm", "--seconds", "0.5"];
        let recorder = |out: &str| {
            let mut command = recorder_on(jvm.pid(), &jvm.dir.path().join(out), &options);
            command.args(&agent);
            command
        };
        signal(jvm.pid(), libc::SIGSTOP);
        let begin = Instant::now();
        let refused = run(recorder("refused"));
        let took = begin.elapsed();
        signal(jvm.pid(), libc::SIGCONT);
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{text}");
        assert!(
            text.contains(&format!("kill -CONT {}", jvm.pid())),
            "{text}"
        );
        assert!(took < Duration::from_secs(5), "{took:?}");
        succeeded(&run(recorder("t")));
        assert!(jvm.is_alive());
        let printed = std::fs::read_to_string(errors.path()).expect("read");
        assert!(!printed.contains("loadline"), "{printed}");
    }
}

#[test]
fn nothing_is_said_to_a_door_that_is_not_the_targets_own() {
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let _alone = alone();
    let jvm = Jvm::start("Plain", READY);
    let folder = door_folder(jvm.pid());
    std::fs::create_dir(&folder).expect("made");
    let listener =
        std::os::unix::net::UnixListener::bind(folder.join("door")).expect("a false door");
    let out = jvm.dir.path().join("t");
    let mut command = recorder_on(jvm.pid(), &out, &["--levels", "jvm", "--seconds", "0.5"]);
    command.args(&agent);
    let output = run(command);
    std::fs::remove_dir_all(&folder).expect("ours");
    succeeded(&output);
    let (mut caller, _) = listener.accept().expect("it has looked who is there");
    let mut said = String::new();
    std::io::Read::read_to_string(&mut caller, &mut said).expect("read");
    assert_eq!(said, "");
}

#[test]
fn a_second_recorder_of_one_process_is_refused() {
    if let Some(why) = no_bpf() {
        skip!("{why}");
    }
    let _alone = alone();
    let jvm = Jvm::start("Idle", READY);
    let (first, second) = (jvm.dir.path().join("a"), jvm.dir.path().join("b"));
    let mut recorder = recorder_on(
        jvm.pid(),
        &first,
        &["--levels", "kernel", "--seconds", "30"],
    )
    .stdout(Stdio::null())
    .spawn()
    .expect("starts");
    eventually("it records", || first.join("raw/session.json").exists());
    let said = refused(recorder_on(jvm.pid(), &second, &["--levels", "kernel"]));
    assert!(
        said.contains(&format!(
            "is being recorded already, by process {}",
            recorder.id()
        )),
        "{said}"
    );
    signal(recorder.id() as i32, libc::SIGINT);
    assert!(
        recorder.wait().expect("ours").success(),
        "an interrupt ends it as it should"
    );
    assert_eq!(session(&first).ended, "stopped");
}

#[test]
fn without_privileges_the_other_levels_are_recorded_and_the_remedy_is_told() {
    if !is_root() {
        skip!("needs root, to become nobody");
    }
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let nobody = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        command
    };
    if !nobody()
        .args(["test", "-x"])
        .arg(recorder())
        .status()
        .is_ok_and(|s| s.success())
    {
        skip!("nobody cannot reach {}", recorder().display());
    }
    let _alone = alone();
    let jvm = Jvm::start_with(nobody().arg("java"), "Idle", READY);
    let as_nobody = |out: &str, pid: i32, levels: &str| {
        let mut command = nobody();
        command.arg(recorder()).args([
            "--pid",
            &pid.to_string(),
            "--seconds",
            "0.5",
            "--levels",
            levels,
        ]);
        command
            .args(&agent)
            .arg("--out")
            .arg(jvm.dir.path().join(out));
        run(command)
    };
    succeeded(&as_nobody("all", jvm.pid(), "kernel,jvm,server,app"));
    let session = session(&jvm.dir.path().join("all"));
    let kernel = &session.levels["kernel"];
    assert!(!kernel.recorded);
    assert!(
        kernel
            .why
            .contains("run with sudo, or as yourself with these two alone: sudo setpriv"),
        "{}",
        kernel.why
    );
    for level in ["jvm", "server", "app"] {
        assert!(session.levels[level].recorded, "{level}");
    }
    let only = as_nobody("kernel", jvm.pid(), "kernel");
    assert!(
        stderr(&only).contains("nothing can be recorded: kernel level needs CAP_BPF"),
        "{only:?}"
    );

    let roots = Jvm::start("Idle", READY);
    let others = as_nobody("other", roots.pid(), "jvm");
    assert!(
        stderr(&others).contains("belongs to user root"),
        "{others:?}"
    );
}

#[test]
fn a_jvm_of_another_user_is_recorded_by_root_with_files_of_its_own() {
    if !is_root() {
        skip!("needs root, to start a JVM as nobody");
    }
    let Some(agent) = agent() else {
        skip!("the agent is not built")
    };
    let _alone = alone();
    let mut java = Command::new("setpriv");
    java.args([
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
        "java",
    ]);
    let jvm = Jvm::start_with(&mut java, "Idle", READY);
    let out = jvm.dir.path().join("t");
    let mut command = recorder_on(jvm.pid(), &out, &["--levels", "jvm", "--seconds", "0.5"]);
    command.args(&agent);
    succeeded(&run(command));
    assert_eq!(
        agent_header(&out).expect("a header").state,
        agent::state::STOPPED
    );

    let closed = tempfile::tempdir().expect("a directory");
    let only_root = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(closed.path(), only_root).expect("ours");
    let mut command = recorder_on(
        jvm.pid(),
        &closed.path().join("t"),
        &["--levels", "jvm", "--seconds", "1"],
    );
    command.args(&agent);
    let said = refused(command);
    assert!(
        said.contains("cannot reach") && said.contains("that user can enter"),
        "{said}"
    );
}
