//! Which server and pool a JVM has, by the names of the jars that it holds open, and of the jars inside those.

use std::fs::File;
use std::path::Path;

/// What was found.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Found {
    /// Tomcat's version.
    pub tomcat: Option<String>,
    /// Another server's name and version.
    pub other: Option<String>,
    /// Whether there is HikariCP.
    pub hikari: bool,
}

/// Artifacts by which servers other than Tomcat are told.
const OTHERS: [(&str, &str); 5] = [
    ("jetty-server-", "Jetty"),
    ("undertow-core-", "Undertow"),
    ("helidon-webserver-", HELIDON),
    ("grpc-core-", "gRPC"),
    ("netty-transport-", "Netty"),
];
/// Of these, those that probes are for.
const PROBED: [&str; 6] = [
    "Jetty 12.",
    "Undertow 2.",
    "Helidon 4.",
    "gRPC 1.",
    "Netty 4.",
    JDK,
];
/// Of those, what hooks see of them.
const HOOKED: [(&str, &str); 5] = [
    (
        "Jetty 12.",
        "requests, services, connections and handshakes",
    ),
    (
        "Undertow 2.",
        "requests, their connections and handshakes, and waits for a worker; no services",
    ),
    (
        "Netty 4.",
        "connections, handshakes and requests; not what executors do for them",
    ),
    (
        "gRPC 1.",
        "calls on Netty, connections and handshakes; not what executors do for them",
    ),
    (JDK, "requests and services; no connections and queues"),
];
const HELIDON: &str = "Helidon";
/// The JDK's own, which has no jar but a thread.
const JDK: &str = "HttpServer of the JDK";
const DISPATCHER: &str = "HTTP-Dispatcher";
/// What a server may have beside it, as a client; what is told of it, the more the earlier it stands.
const BESIDE: [&str; 2] = ["gRPC", "Netty"];
/// Tomcat's, embedded and of its distribution.
const TOMCAT: [&str; 2] = ["tomcat-embed-core-", "catalina"];

impl Found {
    /// Server and version.
    pub fn name(&self) -> Option<String> {
        let tomcat = self.tomcat.as_ref().map(|v| format!("Tomcat {v}"));
        tomcat.or_else(|| self.other.clone())
    }

    /// Whether probes are for it.
    pub fn is_probed(&self) -> bool {
        let other = self.other.as_deref().unwrap_or_default();
        PROBED.iter().any(|server| other.starts_with(server))
    }

    /// What hooks see of a server other than Tomcat, if anything.
    pub fn seen_late(&self) -> Option<&'static str> {
        let other = self.other.as_deref()?;
        let mut hooked = HOOKED.iter();
        hooked
            .find(|(server, _)| other.starts_with(server))
            .map(|&(_, sees)| sees)
    }

    /// Takes a jar into account, by its name: `tomcat-embed-core-10.1.43.jar`.
    fn take(&mut self, name: &str) {
        let Some(name) = name.strip_suffix(".jar") else {
            return;
        };
        if let Some(version) = name.strip_prefix(TOMCAT[0]) {
            self.tomcat = Some(version.to_owned());
        }
        self.hikari |= name.starts_with("HikariCP");
        for (artifact, server) in OTHERS {
            if let Some(version) = name.strip_prefix(artifact)
                && version.starts_with(|c: char| c.is_ascii_digit())
                // Before 4 it was on Netty, which is what probes see.
                && !(server == HELIDON && version.starts_with(['1', '2', '3']))
            {
                let rank = |of: &str| BESIDE.iter().position(|b| of.starts_with(b));
                let known = self.other.as_deref().map(rank);
                if known.is_none_or(|known| known.is_some() && rank(server) <= known) {
                    self.other = Some(format!("{server} {version}"));
                }
            }
        }
    }
}

/// Of a process, by what it holds open.
pub fn of(pid: i32) -> Found {
    let mut found = Found::default();
    let open = std::fs::read_dir(format!("/proc/{pid}/fd"));
    for entry in open.into_iter().flatten().flatten() {
        let Ok(path) = std::fs::read_link(entry.path()) else {
            continue; // closed meanwhile
        };
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        if name.ends_with(".jar") || name.ends_with(".war") {
            found.take(name);
            // Opened through the descriptor: the path may mean nothing here.
            inside(&entry.path(), name, &mut found);
        }
    }
    if found.name().is_none() && has_thread(pid, DISPATCHER) {
        found.other = Some(JDK.to_owned());
    }
    found
}

/// Whether one of its threads has this name, of 15 characters at most.
fn has_thread(pid: i32, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    threads.into_iter().flatten().flatten().any(|thread| {
        std::fs::read_to_string(thread.path().join("comm"))
            .is_ok_and(|comm| comm.trim_end() == name)
    })
}

/// Jars within a jar (Spring Boot's), and the version that Tomcat's own distribution keeps in one.
fn inside(path: &Path, name: &str, found: &mut Found) {
    let Ok(file) = File::open(path) else { return };
    let Ok(mut archive) = zip::ZipArchive::new(file) else {
        return; // not a jar, whatever its name says: nothing to learn
    };
    for entry in archive.file_names().flatten() {
        if entry.ends_with(".jar") {
            found.take(entry.rsplit('/').next().unwrap_or(&entry));
        }
        found.hikari |= entry.starts_with("com/zaxxer/hikari/");
    }
    let tomcats = name.starts_with(TOMCAT[1]) || archive.index_for_name(SERVER_INFO).is_some();
    if tomcats && let Ok(entry) = archive.by_name(SERVER_INFO) {
        let text = std::io::read_to_string(entry).unwrap_or_default();
        found.tomcat = found.tomcat.take().or_else(|| server_number(&text));
    }
}

const SERVER_INFO: &str = "org/apache/catalina/util/ServerInfo.properties";

/// Of `server.number=10.1.43.0`, the version as people write it.
fn server_number(properties: &str) -> Option<String> {
    let number = properties
        .lines()
        .find_map(|l| l.strip_prefix("server.number="))?;
    let parts: Vec<&str> = number.trim().split('.').take(3).collect();
    Some(parts.join("."))
}

/// Whether the hooks fit a Tomcat of this version.
pub fn hooked(version: &str) -> bool {
    ["9.0.", "10.1.", "11."]
        .iter()
        .any(|known| version.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jdks_own_server_is_told_by_its_thread() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        assert_eq!(of(own).name(), None);
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (begins, begun) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name(DISPATCHER.to_owned());
        let dispatcher = thread.spawn(move || {
            begins.send(()).expect("somebody waits");
            assert!(ended.recv().is_err());
        });
        begun.recv().expect("it has its name");
        let found = of(own);
        drop(end);
        assert!(dispatcher.expect("a thread").join().is_ok());
        assert_eq!(found.name().as_deref(), Some(JDK));
        assert!(found.is_probed());
    }

    #[test]
    fn servers_are_told_by_their_jars() {
        let of = |names: &[&str]| {
            let mut found = Found::default();
            names.iter().for_each(|n| found.take(n));
            found
        };
        let boot = of(&[
            "spring-core-7.0.1.jar",
            "tomcat-embed-core-11.0.14.jar",
            "HikariCP-7.0.2.jar",
        ]);
        assert_eq!(boot.name().as_deref(), Some("Tomcat 11.0.14"));
        assert!(boot.hikari && hooked("11.0.14"));
        let netty = "netty-transport-4.1.111.Final.jar";
        for jars in [
            ["jetty-server-12.0.16.jar", netty],
            [netty, "jetty-server-12.0.16.jar"],
        ] {
            let jetty = of(&jars);
            assert_eq!(jetty.name().as_deref(), Some("Jetty 12.0.16"));
            assert!(jetty.is_probed());
        }
        let helidon = "helidon-webserver-4.3.0.jar";
        for jars in [[helidon, netty], [netty, helidon]] {
            let found = of(&jars);
            assert_eq!(found.name().as_deref(), Some("Helidon 4.3.0"));
            assert!(found.is_probed());
        }
        let before = of(&["helidon-webserver-3.2.6.jar", netty]);
        assert_eq!(before.name().as_deref(), Some("Netty 4.1.111.Final"));
        assert!(!of(&["jetty-server-11.0.25.jar"]).is_probed());
        assert!(of(&[netty]).is_probed());
        let grpc = "grpc-core-1.76.0.jar";
        assert_eq!(of(&[netty, grpc]).name().as_deref(), Some("gRPC 1.76.0"));
        assert_eq!(of(&[grpc, netty]).name().as_deref(), Some("gRPC 1.76.0"));
        assert!(of(&[grpc]).is_probed());
        let jetty = "jetty-server-12.0.21.jar";
        assert_eq!(of(&[jetty, grpc]).name().as_deref(), Some("Jetty 12.0.21"));
        assert_eq!(of(&["netty-transport-native-epoll-4.1.jar"]).name(), None);
        assert!(hooked("9.0.98") && !hooked("8.5.100"));
        assert_eq!(
            server_number("server.info=Apache Tomcat/10.1.43\nserver.number=10.1.43.0\n")
                .as_deref(),
            Some("10.1.43")
        );
    }
}
