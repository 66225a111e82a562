//! What the trace will lack although its level is recorded, from what the agent says of its hooks.

use std::path::Path;

use loadline_trace::meta::NotRecorded;

/// Releases up to this one are said to throw all compiled code away at the first redefinition of a
/// class in a JVM that was started without an agent (JDK-8324241). Known of those up to 21; 25 keeps
/// it. Those between were not tried, and are warned of rather than not.
const LAST_TO_FLUSH: u32 = 24;

/// What the agent's header says, as far as it matters here.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Info {
    java: u32,
    server: Option<String>,
    server_by: Option<String>,
    unseen: Vec<String>,
    lacks_methods: bool,
    names_threads: bool,
}

/// Whether the agent told of each thread that there was by the kernel's id, too.
pub fn names_threads(info: &str) -> bool {
    let info: Info = serde_json::from_str(info).unwrap_or_default(); // it has said nothing
    info.names_threads
}

/// What hooks do not see, in words, and methods that have no probes; empty where probes are in place or were not asked for.
pub fn not_recorded(info: &str, pid: i32, jar: &Path) -> Vec<NotRecorded> {
    let info: Info = serde_json::from_str(info).unwrap_or_default(); // the agent has said nothing yet
    let hooks = info.server_by.as_deref() == Some("hooks");
    if !hooks && !info.lacks_methods {
        return Vec::new();
    }
    let price = price(info.java);
    let how = format!(
        "start the JVM with -javaagent:{}; or `loadline arm {pid}` at a quiet hour, or --redefine: {price}",
        jar.display()
    );
    // To start it with the agent would be in vain, unless it is a container of servlets.
    let unknown = format!(
        "if it serves servlets, start the JVM with -javaagent:{}; else have the program say what its requests are \
         (loadline-api), or record its methods (--methods)",
        jar.display()
    );
    // Nor does an agent at start, whose probes know no more of OpenSSL.
    let engines = "the JDK's own engines (JSSE) say it".to_owned();
    let mut not_recorded: Vec<NotRecorded> = Vec::new();
    if info.lacks_methods {
        not_recorded.push(NotRecorded {
            what: "methods".into(),
            why: "they have no probes, and no loaded class is redefined".into(),
            how_to_get: format!(
                "start the JVM with -javaagent:{}=methods=FILTER:FILTER…; or `loadline arm {pid} --methods FILTER` at a quiet hour, or --redefine: {price}",
                jar.display()
            ),
        });
    }
    if !hooks {
        return not_recorded;
    }
    for (what, why) in info.unseen.iter().filter_map(|code| described(code)) {
        let how = match &info.server {
            None if what == REQUESTS => &unknown,
            _ if what == RESUMPTIONS => &engines,
            _ => &how,
        };
        match not_recorded.iter_mut().find(|n| n.why == why) {
            Some(n) => n.what += &format!(", {what}"),
            None => not_recorded.push(NotRecorded {
                what: what.into(),
                why: why.into(),
                how_to_get: how.clone(),
            }),
        }
    }
    not_recorded
}

/// What is said where no stacks were asked for.
pub fn no_stacks() -> NotRecorded {
    NotRecorded {
        what: "the code that waited".into(),
        why: "stacks were not asked for".into(),
        how_to_get: "leave --stacks off out, or say from how long a wait on: --stacks 10ms".into(),
    }
}

/// What the first redefinition costs a JVM of this release that was started without the agent.
pub fn price(java: u32) -> &'static str {
    if java <= LAST_TO_FLUSH {
        "all compiled code is thrown away once, expect seconds to minutes of slow replies"
    } else {
        "what it touches is compiled anew, expect a second or two of slow replies"
    }
}

const REQUESTS: &str = "requests and connections";
const RESUMPTIONS: &str = "which handshakes of OpenSSL's connectors were resumed";

/// What a code of the agent's stands for, and why hooks do not see it.
fn described(code: &str) -> Option<(&'static str, &'static str)> {
    const NOTHING_TO_HOOK: &str =
        "they have nothing to hook into, and no loaded class is redefined";
    Some(match code {
        "sql" => ("SQL statements", NOTHING_TO_HOOK),
        "calls" => ("calls of other services", NOTHING_TO_HOOK),
        "pools" => ("pools other than HikariCP's", NOTHING_TO_HOOK),
        "openssl" => (
            RESUMPTIONS,
            "its engines do not say it, and Tomcat asks them for their class, so that they cannot be hooked",
        ),
        "tomcat-connectors" => (
            "connections, handshakes and queues of Tomcat's connectors other than NIO's",
            NOTHING_TO_HOOK,
        ),
        "jdk-connections" => (
            "connections, handshakes and queues of the JDK's server",
            NOTHING_TO_HOOK,
        ),
        "netty-tasks" => ("what executors do for requests of Netty", NOTHING_TO_HOOK),
        "undertow-services" => ("services in Undertow", NOTHING_TO_HOOK),
        "undertow-handshakes" => (
            "handshakes of Undertow",
            "its engines are not the JDK's, and Undertow asks for their class",
        ),
        "netty-streams" => (
            "requests of HTTP/2 in servers on Netty whose streams have no channels (Vert.x, Quarkus, Armeria)",
            "the codec's encoder is not Netty's own",
        ),
        "server" => (
            REQUESTS,
            "no server was found that can be hooked into: Tomcat 9, 10.1 and 11 with NIO, Jetty 12, Undertow 2, Netty 4, and the JDK's own",
        ),
        _ => return None, // of an agent that is newer than this recorder
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(info: &str) -> Vec<NotRecorded> {
        not_recorded(info, 4121, Path::new("/opt/loadline-agent.jar"))
    }

    #[test]
    fn what_hooks_do_not_see_is_said_with_the_ways_to_get_it() {
        let told = told(
            r#"{"java": 17, "server_by": "hooks", "unseen": ["sql", "calls", "pools", "openssl", "undertow-handshakes"]}"#,
        );
        let what: Vec<&str> = told.iter().map(|n| n.what.as_str()).collect();
        assert_eq!(
            what,
            [
                "SQL statements, calls of other services, pools other than HikariCP's",
                "which handshakes of OpenSSL's connectors were resumed",
                "handshakes of Undertow"
            ]
        );
        for way in [
            "-javaagent:/opt/loadline-agent.jar",
            "loadline arm 4121",
            "--redefine",
            "thrown away",
        ] {
            assert!(told[2].how_to_get.contains(way), "{way}: {told:?}");
            assert!(!told[1].how_to_get.contains(way), "{way}: {told:?}");
        }
    }

    #[test]
    fn to_start_with_the_agent_is_no_remedy_for_a_server_that_nobody_knows() {
        let how = |server: &str| {
            let info = format!(
                r#"{{"java": 17, "server": {server}, "server_by": "hooks", "unseen": ["sql", "server"]}}"#
            );
            told(&info)
                .into_iter()
                .map(|n| n.how_to_get)
                .collect::<Vec<_>>()
        };
        let unknown = how("null");
        assert!(unknown[0].contains("loadline arm 4121"), "{unknown:?}");
        assert!(!unknown[1].contains("arm"), "{unknown:?}");
        assert!(unknown[1].contains("loadline-api"), "{unknown:?}");
        let known = how(r#""Helidon 4.3""#);
        assert_eq!(known[1], known[0]);
    }

    #[test]
    fn each_code_of_a_hook_is_described() {
        let hooks = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../java/agent/src/main/java/dev/loadline/agent/hooks");
        let mut codes = Vec::new();
        for server in std::fs::read_dir(hooks)
            .expect("the agent's sources")
            .flatten()
        {
            for file in std::fs::read_dir(server.path())
                .into_iter()
                .flatten()
                .flatten()
            {
                let text = std::fs::read_to_string(file.path()).expect("a source");
                let Some(unseen) = text.split("Set<String> unseen()").nth(1) else {
                    continue;
                };
                let method = unseen.split("\n    }").next().unwrap_or_default();
                codes.extend(method.split('"').skip(1).step_by(2).map(str::to_owned));
            }
        }
        for code in ["openssl", "netty-tasks", "netty-streams"] {
            assert!(codes.iter().any(|c| c == code), "{code}: {codes:?}");
        }
        for code in &codes {
            assert!(described(code).is_some(), "{code}");
        }
    }

    #[test]
    fn a_release_that_keeps_its_compiled_code_is_not_accused_of_throwing_it_away() {
        let told = told(r#"{"java": 25, "server_by": "hooks", "unseen": ["sql"]}"#);
        assert!(!told[0].how_to_get.contains("thrown away"), "{told:?}");
    }

    #[test]
    fn methods_without_probes_are_said_to_be_missing_with_the_ways_to_get_them() {
        let told = told(r#"{"java": 17, "server_by": "probes", "lacks_methods": true}"#);
        assert_eq!(told.len(), 1);
        for way in [
            "=methods=FILTER",
            "arm 4121 --methods",
            "--redefine",
            "thrown away",
        ] {
            assert!(told[0].how_to_get.contains(way), "{way}: {told:?}");
        }
    }

    #[test]
    fn with_probes_nothing_is_missing() {
        assert!(told(r#"{"java": 17, "server_by": "probes"}"#).is_empty());
        assert!(told("").is_empty());
    }
}
