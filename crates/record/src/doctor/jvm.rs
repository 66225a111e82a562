//! One JVM's side: whose it is, whether it can be attached to, what its server shows.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::server::{self, Found};
use super::{Can, Finding, Subject, read};
use crate::attach;
use crate::coverage::price;
use crate::error::{Error, Result};
use crate::machine::machine;
use crate::options::AgentFiles;
use crate::procfs::{limits, parse};
use crate::sys;
use crate::target::{Claim, Target, user_name};

/// The oldest release that the agent runs on.
const OLDEST: u32 = 17;

pub fn look(pid: i32, agent: &AgentFiles) -> Result<Subject> {
    let target = Target::look(pid)?;
    match target.check_recordable() {
        Err(Error::OtherUser { .. }) => {
            return Ok(Subject {
                title: format!("{} (pid {pid})", target.name),
                findings: vec![Finding::no(
                    "this JVM",
                    format!("it belongs to user {}", user_name(target.uid)),
                    format!("sudo loadline doctor {pid}: as that user, or as root"),
                )],
            });
        }
        other => other?,
    }
    let maps = read(format!("/proc/{pid}/maps"));
    let release = release(pid, &maps);
    let server = server::of(pid);
    let mut findings: Vec<Finding> = recorded_by(pid).into_iter().collect();
    let jvm = attaching(&target, release.java, agent);
    let attached = jvm.can != Can::No;
    findings.push(jvm);
    if attached {
        let start = target
            .cmdline
            .iter()
            .find(|w| w.starts_with("-javaagent:") && w.contains("loadline-agent"));
        findings.push(sampling(pid));
        findings.push(Finding::yes(
            "allocations",
            "with --allocations: by sampling, with class and stack; --allocation-of CLASS: each object",
        ));
        findings.push(Finding::yes(
            "the JVM itself",
            "with --vm gc-phases,compilations,deoptimizations,class-loads",
        ));
        findings.push(methods(pid, start, &agent.jar));
        findings.extend(server.findings(pid, start.is_some(), release.java, &agent.jar));
        findings.push(Finding::yes(
            "app level",
            "what the program says through loadline-api, if it does",
        ));
    } else {
        let needs = |what| Finding::no(what, "it needs the agent", "see jvm level");
        findings.extend(["server level", "app level"].map(needs));
    }
    let mut title = format!("{} (pid {pid}): {}", target.name, release.title());
    if let Some(name) = server.name() {
        title += &format!(", {name}");
    }
    title += &format!("; user {}; {}", user_name(target.uid), cpus(pid));
    Ok(Subject { title, findings })
}

/// Who records it now, if anybody does.
fn recorded_by(pid: i32) -> Option<Finding> {
    match Claim::take(pid) {
        Err(Error::AlreadyRecorded { by, .. }) => Some(Finding::no(
            "recording",
            format!("it is being recorded already, by process {by}"),
            "stop that recording first",
        )),
        _ => None,
    }
}

/// Whether the agent can get in.
fn attaching(target: &Target, java: Option<u32>, agent: &AgentFiles) -> Finding {
    const WHAT: &str = "jvm level";
    if let Some(java) = java.filter(|j| *j < OLDEST) {
        return Finding::no(
            WHAT,
            format!("the agent needs JDK {OLDEST} or later, and this is {java}"),
            "record the kernel level only (--levels kernel), or run it on a later JDK",
        );
    }
    if let Err(e) = attach::obstacle(target) {
        let text = e.to_string();
        let said = text.split_once(": ").map_or(text.as_str(), |(_, why)| why);
        let (why, remedy) = said.split_once(". ").unwrap_or((said, ""));
        return Finding::no(WHAT, why, remedy);
    }
    let halves = [&agent.jar, &agent.library].map(|file| {
        let absolute = std::fs::canonicalize(file);
        absolute.map_err(crate::error::io(file))
    });
    let is_shared = |file: &Result<PathBuf>| file.as_ref().is_ok_and(|f| target.sees(f));
    if halves.iter().all(Result::is_ok) && !halves.iter().all(is_shared) {
        return match target.tmp() {
            Ok(_) => Finding::yes(
                WHAT,
                "monitors, waits and parks with owners, GC and safepoints, virtual threads; the agent goes into its own /tmp meanwhile",
            ),
            Err(e) => Finding::no(
                WHAT,
                format!("it has a file system of its own, and its /tmp cannot be reached: {e}"),
                "as root, or as its user, where a container shares its process ids",
            ),
        };
    }
    for file in halves {
        let reached = file.and_then(|f| target.check_reaches(&f, false));
        if let Err(e) = reached {
            let text = e.to_string();
            let (why, remedy) = text.split_once(". ").unwrap_or((&text, ""));
            return Finding::no(WHAT, why, remedy);
        }
    }
    Finding::yes(
        WHAT,
        "monitors, waits and parks with owners, GC and safepoints, virtual threads",
    )
}

/// Whether the code that runs can be sampled.
fn sampling(pid: i32) -> Finding {
    const WHAT: &str = "code that runs";
    let status = read(format!("/proc/{pid}/status"));
    match parse::catches(&status, libc::SIGPROF) {
        false => Finding::yes(WHAT, "with --samples: stacks by CPU time"),
        true => Finding::partly(
            WHAT,
            "somebody samples it already, and has SIGPROF (a profiler, or JFR)",
            "with --samples both go on, as long as that one is not begun again meanwhile",
        ),
    }
}

/// Whether invocations of methods can be told. `start` is the agent's option, if it was there at start.
fn methods(pid: i32, start: Option<&String>, jar: &Path) -> Finding {
    const WHAT: &str = "methods";
    let filters = start.and_then(|option| option.split_once("methods="));
    match filters {
        Some((_, filters)) => Finding::yes(
            WHAT,
            format!("with --methods: each call of those that -javaagent chose ({filters})"),
        ),
        None => Finding::partly(
            WHAT,
            "no method has a probe from the start",
            format!(
                "start it with -javaagent:{}=methods=com.shop.**; or `loadline arm {pid} --methods 'com.shop.**'` at a quiet hour, or --methods with --redefine",
                jar.display()
            ),
        ),
    }
}

impl Found {
    /// What of the server and its pools will be seen.
    fn findings(&self, pid: i32, woven: bool, java: Option<u32>, jar: &Path) -> Vec<Finding> {
        const WHAT: &str = "server level";
        let price = price(java.unwrap_or(OLDEST));
        let how = format!(
            "start it with -javaagent:{}; or `loadline arm {pid}` at a quiet hour, or --redefine: {price}",
            jar.display()
        );
        let unknown = match &self.other {
            Some(server) => format!("{server} has no probes of its own"),
            None => "no server that it knows is seen among its open jars".into(),
        };
        let late = self.seen_late();
        let mut findings = vec![match self.tomcat.as_deref() {
            Some(version) if server::hooked(version) => Finding::yes(
                WHAT,
                "requests, connections and handshakes of its NIO connectors",
            ),
            Some(version) => Finding::no(
                WHAT,
                format!("Tomcat {version} is not 9, 10.1 or 11"),
                "record the other levels, which work for any server",
            ),
            None if self.is_probed() && woven => Finding::yes(
                WHAT,
                "requests and connections; the agent was there at start",
            ),
            None if late.is_some() && !woven => Finding::partly(
                WHAT,
                format!("attached late, {}", late.unwrap_or_default()),
                how.clone(),
            ),
            None if self.is_probed() => {
                Finding::no(WHAT, "it is not seen when attached late", how.clone())
            }
            None if woven => Finding::partly(
                WHAT,
                format!("requests of servlets, without connections and handshakes: {unknown}"),
                "",
            ),
            None => Finding::partly(
                WHAT,
                format!("requests of servlets, but not when attached late: {unknown}"),
                how.clone(),
            ),
        }];
        findings.push(match (woven, self.hikari) {
            (true, _) => Finding::yes("SQL, calls and pools", "the agent was there at start"),
            (false, true) => Finding::partly(
                "SQL, calls and pools",
                "HikariCP's connections are seen; statements and calls of other services are not, when attached late",
                how,
            ),
            (false, false) => Finding::partly(
                "SQL, calls and pools",
                "not seen when attached late, but for HikariCP's connections",
                how,
            ),
        });
        findings
    }
}

/// What a JDK's file `release` says.
#[derive(Debug, Default, PartialEq)]
struct Release {
    java: Option<u32>,
    version: String,
    implementor: String,
}

impl Release {
    fn title(&self) -> String {
        match self.java {
            Some(_) if self.implementor.is_empty() => format!("JDK {}", self.version),
            Some(_) => format!("JDK {} ({})", self.version, self.implementor),
            None => "a JDK that does not tell its version".into(),
        }
    }
}

fn release(pid: i32, maps: &str) -> Release {
    let library = maps
        .lines()
        .filter_map(|l| l.split_ascii_whitespace().nth(5))
        .find(|p| p.ends_with("/libjvm.so"));
    // <home>/lib/server/libjvm.so
    let home = library.and_then(|l| Path::new(l).ancestors().nth(3));
    let Some(home) = home else {
        return Release::default();
    };
    let path: PathBuf = format!("/proc/{pid}/root{}/release", home.display()).into();
    parse_release(&read(path))
}

fn parse_release(text: &str) -> Release {
    let value = |name: &str| {
        text.lines()
            .find_map(|l| l.strip_prefix(name)?.strip_prefix('='))
            .map(|v| v.trim().trim_matches('"').to_owned())
            .unwrap_or_default()
    };
    let version = value("JAVA_VERSION");
    let digits = version.strip_prefix("1.").unwrap_or(&version);
    Release {
        java: digits
            .split(|c: char| !c.is_ascii_digit())
            .next()
            .and_then(|d| d.parse().ok()),
        implementor: value("IMPLEMENTOR"),
        version,
    }
}

/// The limits that it runs under, in words: `1 of 2 CPUs`, `2 CPUs, at most 1.5 of them by its cgroup`.
fn cpus(pid: i32) -> String {
    let online = machine(0).cpus;
    let allowed = sys::affinity(pid);
    let mut text = match allowed == online {
        true => format!("{online} CPUs"),
        false => format!("{allowed} of {online} CPUs"),
    };
    if let Some(quota) = limits::throttling(pid).and_then(|t| t.quota) {
        text += &format!(", at most {quota:.2} of them by its cgroup");
    }
    let root = |pid: i32| {
        std::fs::metadata(format!("/proc/{pid}/root/"))
            .map(|m| (m.dev(), m.ino()))
            .ok()
    };
    if root(pid) != root(std::process::id() as i32) {
        text += "; a file system of its own";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_old_and_new() {
        let of = |text: &str| parse_release(text).java;
        assert_eq!(
            parse_release("IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.15\"\n"),
            Release {
                java: Some(17),
                version: "17.0.15".into(),
                implementor: "Debian".into()
            }
        );
        assert_eq!(of("JAVA_VERSION=\"1.8.0_402\"\n"), Some(8));
        assert_eq!(of("JAVA_VERSION=\"25\"\n"), Some(25));
        assert_eq!(of("JAVA_VERSION=\"26-ea\"\n"), Some(26));
        assert_eq!(of(""), None);
    }

    #[test]
    fn methods_are_told_of_if_the_agent_was_given_any_at_start() {
        let jar = Path::new("/opt/loadline-agent.jar");
        let filters = "com.shop.**:!com.shop.Cart.put(int,long)";
        let option = format!("-javaagent:/opt/loadline-agent.jar=methods={filters}");
        let chosen = methods(7, Some(&option), jar);
        assert_eq!(chosen.can, Can::Yes);
        assert!(chosen.why.contains(filters), "{chosen:?}");
        let plain = "-javaagent:/opt/loadline-agent.jar".to_owned();
        for start in [None, Some(&plain)] {
            let none = methods(7, start, jar);
            assert_eq!(none.can, Can::Partly);
            assert!(none.remedy.contains("loadline arm 7"), "{none:?}");
        }
    }

    fn found(tomcat: Option<&str>, hikari: bool) -> Found {
        Found {
            tomcat: tomcat.map(str::to_owned),
            hikari,
            ..Found::default()
        }
    }

    #[test]
    fn statements_need_the_agent_at_start_and_the_price_is_told() {
        let jar = Path::new("/opt/loadline-agent.jar");
        let late = found(Some("10.1.43"), true).findings(7, false, Some(17), jar);
        assert_eq!(late[0].can, Can::Yes);
        assert_eq!(late[1].can, Can::Partly);
        for way in [
            "-javaagent:/opt/loadline-agent.jar",
            "loadline arm 7",
            "thrown away",
        ] {
            assert!(late[1].remedy.contains(way), "{way}: {late:?}");
        }
        let early = found(Some("11.0.14"), true).findings(7, true, Some(25), jar);
        assert!(early.iter().all(|f| f.can == Can::Yes), "{early:?}");
    }

    #[test]
    fn servers_without_hooks_need_the_agent_at_start() {
        let of = |server: &str, woven| {
            let found = Found {
                other: Some(server.into()),
                ..Found::default()
            };
            found.findings(7, woven, Some(17), Path::new("a.jar"))
        };
        assert_eq!(of("Helidon 4.3.0", true)[0].can, Can::Yes);
        let late = of("Helidon 4.3.0", false);
        assert_eq!(late[0].can, Can::No);
        assert!(late[0].remedy.contains("-javaagent:a.jar"), "{late:?}");
        for server in [
            "Jetty 12.0.16",
            "Undertow 2.3.18.Final",
            "Netty 4.1.130.Final",
        ] {
            assert_eq!(of(server, true)[0].can, Can::Yes);
            let late = of(server, false);
            assert_eq!(late[0].can, Can::Partly, "{server}");
            assert!(late[0].remedy.contains("-javaagent:a.jar"), "{late:?}");
        }
        let old = Found {
            other: Some("Jetty 11.0.25".into()),
            ..Found::default()
        };
        for (server, woven, says) in [
            (
                &old,
                true,
                "without connections and handshakes: Jetty 11.0.25",
            ),
            (&old, false, "not when attached late: Jetty 11.0.25"),
            (&Found::default(), true, "no server that it knows"),
            (&Found::default(), false, "not when attached late"),
        ] {
            let told = server.findings(7, woven, Some(17), Path::new("a.jar"));
            assert_eq!(told[0].can, Can::Partly);
            assert!(told[0].why.contains(says), "{told:?}");
            assert_eq!(told[0].remedy.is_empty(), woven, "{told:?}");
        }
    }

    #[test]
    fn a_tomcat_that_is_too_old_is_said() {
        let old = found(Some("8.5.100"), false).findings(7, false, Some(17), Path::new("a.jar"));
        assert_eq!(old[0].can, Can::No);
        assert!(old[0].why.contains("8.5.100"), "{old:?}");
    }
}
