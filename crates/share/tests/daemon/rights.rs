//! Who may, and what is left alone.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use loadline_share::Wish;

use crate::support::*;

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
