//! HotSpot's attach protocol, as `jcmd` and `jattach` speak it.
//!
//! The JVM listens on a Unix socket `/tmp/.java_pid<pid>` of its own file system. It opens it only
//! when asked: a file `.attach_pid<pid>` is put there and SIGQUIT sent. A request is the protocol's
//! version, a command and three arguments, each NUL-terminated; the reply is a line with a number,
//! 0 for success, and a text up to the end of the stream.
//!
//! What always holds: SIGQUIT goes only to a JVM that catches it (it would kill any other process),
//! and only when its attach mechanism is not disabled and it is HotSpot's (it would print a thread
//! dump instead); the attach file is removed however the attempt ends.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, fchown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loadline_trace::spool::RawDir;

use crate::door::{self, Door};
use crate::error::{Error, Result};
use crate::jvms;
use crate::place::Place;
use crate::procfs::parse;
use crate::sys::{self, PidFd};
use crate::target::Target;

/// HotSpot refuses longer arguments (`arg_length_max` in attachListener.hpp).
const MAX_ARGUMENT: usize = 1024;
const MAX_REPLY: u64 = 256 << 20;
const NO_QUIT: &str = "it does not catch SIGQUIT, as a JVM that was started with -Xrs. Start it without -Xrs, or with the \
                       agent (-javaagent), or record the kernel level only";

/// A way to send commands to one JVM.
pub struct Attach<'a> {
    target: &'a Target,
    /// Where it looks for the files of the protocol.
    tmp: Tmp<'a>,
}

/// What stands in the way of attaching, as far as it can be seen without trying.
pub fn obstacle(target: &Target) -> Result<()> {
    let attach = Attach::of(target)?;
    if Door::find(target).is_some() || attach.listens() {
        return Ok(());
    }
    attach.check_enabled()?;
    match catches_quit(target.pid) {
        false => Err(attach.error(NO_QUIT)),
        true if attach.is_blocked() && sys::euid() != 0 => Err(attach.blocked()),
        true => Ok(()),
    }
}

impl<'a> Attach<'a> {
    fn of(target: &'a Target) -> Result<Attach<'a>> {
        let tmp = Tmp::of(target).map_err(|e| Error::Attach {
            pid: target.pid,
            why: format!("its /tmp: {e}. A JVM is attached to through files there"),
        })?;
        Ok(Attach { target, tmp })
    }

    /// A file of the protocol.
    fn file(&self, name: &str) -> PathBuf {
        self.tmp.path(&format!("{name}{}", self.target.nspid))
    }

    fn connect(&self) -> std::io::Result<UnixStream> {
        self.tmp.connect(&self.file(".java_pid"))
    }

    /// Makes the JVM listen, if it does not yet.
    pub fn open(target: &'a Target, at_most: Duration) -> Result<Attach<'a>> {
        target.check_runs()?; // also one that listens: that is the kernel's doing
        let attach = Attach::of(target)?;
        if attach.listens() {
            return Ok(attach);
        }
        attach.check_enabled()?;
        attach.unblock()?;
        let process = PidFd::open(target.pid).map_err(|_| attach.error("it has ended"))?;
        let begin = Instant::now();
        while !catches_quit(target.pid) {
            if process.wait_exit(Duration::from_millis(20)) {
                return Err(attach.error("it has ended"));
            }
            if begin.elapsed() > at_most {
                return Err(attach.error(NO_QUIT));
            }
        }
        let trigger = Trigger::create(&attach)?;
        process.signal(libc::SIGQUIT);
        loop {
            if attach.listens() {
                drop(trigger);
                return Ok(attach);
            }
            if process.wait_exit(Duration::from_millis(20)) {
                return Err(attach.error("it has ended"));
            }
            if begin.elapsed() > at_most {
                return Err(attach.error(&format!(
                    "it did not open its attach socket within {} s. It may be frozen, or was started \
                     with -XX:+DisableAttachMechanism",
                    at_most.as_secs()
                )));
            }
        }
    }

    fn check_enabled(&self) -> Result<()> {
        match disabled(&self.target.cmdline, &self.target.environment()) {
            true => Err(self.error(
                "it was started with -XX:+DisableAttachMechanism. Start it without that option, or with \
                 the agent (-javaagent), or recorded (loadline record -- java …), or record the kernel level only",
            )),
            false if jvms::is_openj9(self.target.pid) => Err(self.error(
                "it is an OpenJ9 (IBM Semeru), which is attached to in another way, and writes a dump at SIGQUIT. Record the \
                 kernel level only (--levels kernel), or run it on a HotSpot (OpenJDK, Temurin, Corretto, Zulu …)",
            )),
            false => Ok(()),
        }
    }

    fn listens(&self) -> bool {
        // A socket may be left of a dead JVM that had the same id: only connecting tells.
        std::fs::symlink_metadata(self.file(".java_pid")).is_ok_and(|m| m.file_type().is_socket())
            && self.connect().is_ok()
    }

    /// Whether something of another user's lies where it would put its socket, and it may not remove it: as a rule the socket
    /// of a JVM that was killed, whose id it was given.
    fn is_blocked(&self) -> bool {
        let is_its = |m: &Metadata| m.uid() == self.target.uid;
        let kept = |tmp: Metadata| tmp.mode() & libc::S_ISVTX != 0 && !is_its(&tmp);
        self.target.our_users
            && self.target.uid != 0
            && std::fs::symlink_metadata(self.file(".java_pid")).is_ok_and(|m| !is_its(&m))
            && self.tmp.dir.metadata().is_ok_and(kept)
    }

    /// Removes that, if it is a socket at which nobody listens.
    fn unblock(&self) -> Result<()> {
        if !self.is_blocked() {
            return Ok(());
        }
        let socket = self.file(".java_pid");
        let is_dead = self
            .connect()
            .is_err_and(|e| e.kind() == ErrorKind::ConnectionRefused);
        match is_dead && std::fs::remove_file(&socket).is_ok() {
            true => Ok(()),
            false => Err(self.blocked()),
        }
    }

    fn blocked(&self) -> Error {
        let nspid = self.target.nspid;
        self.error(&format!(
            "/tmp/.java_pid{nspid} is in its way, left by a process of another user's that had the same id, and it may not \
             remove it: remove it as root, or as who owns it"
        ))
    }

    fn error(&self, why: &str) -> Error {
        Error::Attach {
            pid: self.target.pid,
            why: why.into(),
        }
    }

    /// Sends a command and waits for its reply's text; an error of the JVM's is an `Err`.
    pub fn command(&self, name: &str, arguments: [&str; 3], at_most: Duration) -> Result<String> {
        if let Some(long) = arguments.iter().find(|a| a.len() >= MAX_ARGUMENT) {
            return Err(self.error(&format!(
                "{long:?} is longer than the {MAX_ARGUMENT} bytes that a JVM takes: use a shorter path"
            )));
        }
        let io = |e: std::io::Error| self.error(&format!("{name}: {e}"));
        let mut stream = self.connect().map_err(io)?;
        stream.set_read_timeout(Some(at_most)).map_err(io)?;
        stream.set_write_timeout(Some(at_most)).map_err(io)?;
        let mut request = b"1\0".to_vec();
        for text in [name].iter().chain(&arguments) {
            request.extend(text.as_bytes());
            request.push(0);
        }
        stream.write_all(&request).map_err(io)?;
        let mut reply = Vec::new();
        stream
            .take(MAX_REPLY)
            .read_to_end(&mut reply)
            .map_err(|e| match e.kind() {
                ErrorKind::WouldBlock => self.error(&format!(
                    "{name}: no answer within {} s (the JVM may be frozen, or busy)",
                    at_most.as_secs()
                )),
                _ => io(e),
            })?;
        parse_reply(&String::from_utf8_lossy(&reply))
            .map_err(|why| self.error(&format!("{name}: {why}")))
    }

    /// Loads the agent, and tells it where its spool and FIFO are; it may take its time after that.
    fn load_agent(&self, place: &Place, at_most: Duration) -> Result<()> {
        if place.is_shared() {
            self.target.check_reaches(&place.jar, false)?;
        }
        let argument = format!("{}={}", place.jar.display(), place.theirs.display());
        let text = self.command("load", ["instrument", "false", &argument], at_most)?;
        match parse_load(&text) {
            Ok(()) => Ok(()),
            Err(why) => Err(self.error(&format!("the agent was refused: {why}"))),
        }
    }
}

/// Tells the agent where its spool and FIFO are, by its door if it was there at start; else it is loaded, once the JVM
/// listens, `open` at most. It may take its time after that.
pub fn start_agent(
    target: &Target,
    place: &Place,
    open: Duration,
    at_most: Duration,
) -> Result<()> {
    if place.is_shared() {
        let raw = RawDir::at(place.theirs.clone());
        target.check_reaches(&place.library, false)?;
        target.check_reaches(&raw.agent(), true)?;
        target.check_reaches(&raw.control(), true)?;
    }
    match Door::find(target) {
        Some(door) => {
            target.check_runs()?;
            door.start(&place.theirs, open, at_most)
        }
        None => Attach::open(target, open)?.load_agent(place, at_most),
    }
}

/// Removes the socket that a killed JVM had no time to remove: it was opened at our request.
pub fn remove_dead_socket(target: &Target) {
    if !target.our_pids {
        return; // that id is another's here; its own /tmp went with it
    }
    let socket = PathBuf::from(format!("/tmp/.java_pid{}", target.nspid));
    let its_own = std::fs::symlink_metadata(&socket)
        .is_ok_and(|m| m.file_type().is_socket() && m.uid() == target.uid);
    // One that answers belongs to a JVM that was given the same id.
    if its_own && UnixStream::connect(&socket).is_err() {
        let _ = std::fs::remove_file(&socket); // another may have been quicker
    }
    door::remove_dead(target);
}

/// The target's /tmp, in its own file system.
pub(crate) struct Tmp<'a> {
    target: &'a Target,
    dir: File,
}

impl<'a> Tmp<'a> {
    pub(crate) fn of(target: &'a Target) -> std::io::Result<Tmp<'a>> {
        let dir = target.tmp()?;
        Ok(Tmp { target, dir })
    }

    /// A name in it, through our own descriptor: so it is the same whoever opens it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let fd = self.dir.as_raw_fd();
        format!("/proc/{}/fd/{fd}/{name}", std::process::id()).into()
    }

    /// Connects to a socket of the target's there.
    pub(crate) fn connect(&self, socket: &Path) -> std::io::Result<UnixStream> {
        // The JVM asks for its own user or for root. Ours may be neither in a user namespace of its own.
        match self.target.our_users {
            true => UnixStream::connect(socket),
            false => self.target.as_its_user(|| UnixStream::connect(socket)),
        }
    }
}

/// `.attach_pid<pid>`, removed when dropped.
struct Trigger(PathBuf);

impl Trigger {
    fn create(attach: &Attach) -> Result<Trigger> {
        let (target, path) = (attach.target, attach.file(".attach_pid"));
        let error = |e| Error::Attach {
            pid: target.pid,
            why: format!(
                "/tmp/.attach_pid{}: {e} (the JVM looks for this file there)",
                target.nspid
            ),
        };
        let create = || {
            let mut options = File::options();
            options.write(true).create(true).mode(0o600);
            options.custom_flags(libc::O_NOFOLLOW).open(&path)
        };
        // The JVM heeds it only from its own user or from root; and where ids of users are others, we may not be one there.
        let created = match target.our_users {
            true => create(),
            false => target.on_its_behalf(create),
        };
        let file = created.map_err(error)?;
        let trigger = Trigger(path.clone());
        if target.our_users {
            fchown(&file, Some(target.uid), Some(target.gid)).map_err(error)?;
        }
        Ok(trigger)
    }
}

impl Drop for Trigger {
    fn drop(&mut self) {
        // The JVM removes nothing; if somebody else did, it is gone as it should be.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn catches_quit(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    parse::catches(&status, libc::SIGQUIT)
}

/// Whether the attach mechanism is switched off, by all that can be seen from outside.
fn disabled(command: &[String], environment: &[(Vec<u8>, Vec<u8>)]) -> bool {
    const ON: &str = "-XX:+DisableAttachMechanism";
    let in_environment = environment.iter().any(|(name, value)| {
        matches!(
            name.as_slice(),
            b"JAVA_TOOL_OPTIONS" | b"JDK_JAVA_OPTIONS" | b"_JAVA_OPTIONS"
        ) && value.windows(ON.len()).any(|w| w == ON.as_bytes())
    });
    in_environment || command.iter().any(|a| a == ON)
}

/// The text of a reply whose number is 0; else what the JVM said.
fn parse_reply(reply: &str) -> std::result::Result<String, String> {
    let (number, text) = reply.split_once('\n').unwrap_or((reply, ""));
    match number.trim().parse::<i32>() {
        Ok(0) => Ok(text.to_owned()),
        Ok(n) if text.trim().is_empty() => Err(format!("the JVM answered with error {n}")),
        Ok(n) => Err(format!("the JVM answered with error {n}: {}", text.trim())),
        Err(_) => Err(format!(
            "the JVM's answer is not understood: {:?}",
            first_line(reply)
        )),
    }
}

/// What became of `load`: JDK 9 to 20 say `return code: N`, JDK 21 and later may say more.
fn parse_load(text: &str) -> std::result::Result<(), String> {
    let text = text.trim();
    let code = text.strip_prefix("return code:").unwrap_or(text).trim();
    match code.parse::<i32>() {
        Ok(0) => Ok(()),
        Ok(100) => Err("its jar has no Agent-Class, or cannot be read (100)".into()),
        Ok(102) => Err("it failed to start: the JVM's standard error says why (102)".into()),
        Ok(n) => Err(format!("error {n}")),
        Err(_) if text.contains("EnableDynamicAgentLoading") => Err(format!(
            "{text}. Start the JVM without -XX:-EnableDynamicAgentLoading, or with the agent (-javaagent), or \
             recorded (loadline record -- java …)"
        )),
        Err(_) => Err(text.to_owned()),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_begin_with_a_number_that_is_0_on_success() {
        assert_eq!(
            parse_reply("0\nFull thread dump\nmore"),
            Ok("Full thread dump\nmore".into())
        );
        assert_eq!(parse_reply("0\n"), Ok(String::new()));
        assert_eq!(
            parse_reply("101\nProtocol error\n"),
            Err("the JVM answered with error 101: Protocol error".into())
        );
        assert!(parse_reply("").is_err());
        assert!(parse_reply("HTTP/1.1 400 Bad Request\n").is_err());
    }

    #[test]
    fn an_agent_is_loaded_when_its_code_is_0() {
        assert_eq!(parse_load("return code: 0\n"), Ok(()));
        assert_eq!(parse_load("0"), Ok(()));
        assert!(
            parse_load("return code: 102\n")
                .expect_err("failed")
                .contains("standard error")
        );
        let refused = "Dynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading";
        assert!(
            parse_load(refused)
                .expect_err("refused")
                .contains("loadline record -- java")
        );
        assert_eq!(
            parse_load("x.so: cannot open"),
            Err("x.so: cannot open".into())
        );
    }

    #[test]
    fn a_disabled_mechanism_is_seen_on_the_command_line_and_in_the_environment() {
        let command = |args: &[&str]| args.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let off = "-XX:+DisableAttachMechanism";
        assert!(disabled(&command(&["java", off, "Main"]), &[]));
        assert!(!disabled(&command(&["java", "Main"]), &[]));
        let with = |name: &str| vec![(name.into(), format!("-Xmx1g {off}").into_bytes())];
        assert!(disabled(&command(&["java"]), &with("JAVA_TOOL_OPTIONS")));
        assert!(!disabled(&command(&["java"]), &with("COMMENT")));
    }
}
