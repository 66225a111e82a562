//! What a thread is for, told from its name and kind, so that lanes stand in useful groups.

/// Roles in the order in which their groups are shown.
pub const ROLES: [&str; 8] = [
    "Workers",
    "Poller",
    "Acceptor",
    "Application",
    "Pool and timers",
    "Garbage collection",
    "Compiler",
    "Virtual machine",
];

/// Index into [`ROLES`] of a thread with this name and `threads.kind`.
pub fn role(name: &str, kind: &str) -> usize {
    let lower = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    match kind {
        "gc" => 5,
        "compiler" => 6,
        "vm" | "native" => 7,
        _ if has(&[
            "-exec-",
            "qtp",
            "xnio-",
            "worker",
            "-handler-",
            "eventloop", // they read and serve
            "reactor-http",
            "executor-thread-",
        ]) =>
        {
            0
        }
        _ if has(&["-poller", "-clientpoller", "selector"]) => 1,
        _ if has(&["-acceptor", "-blockpoller"]) => 2,
        _ if has(&[
            "hikaripool",
            "housekeeper",
            "catalina-utility",
            "scheduler",
            "scheduled",
            "timer",
            "mvstore",
            "h2 ",
        ]) =>
        {
            4
        }
        _ if is_runtime(&lower) => 7,
        _ => 3,
    }
}

/// Java threads that belong to the runtime, or to the recording.
fn is_runtime(lower: &str) -> bool {
    const NAMES: [&str; 12] = [
        "reference handler",
        "finalizer",
        "signal dispatcher",
        "service thread",
        "monitor deflation thread",
        "notification thread",
        "common-cleaner",
        "attach listener",
        "destroyjavavm",
        "sweeper thread",
        "jfr ",
        "loadline",
    ];
    NAMES.iter().any(|n| lower.starts_with(n))
}

/// A key that sorts `exec-2` before `exec-10`: runs of digits count as numbers.
pub fn natural_key(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let digits = rest[text..]
            .find(|c: char| !c.is_ascii_digit())
            .map_or(rest.len(), |d| text + d);
        key.push((
            rest[..text].to_lowercase(),
            rest[text..digits].parse().unwrap_or(u64::MAX),
        ));
        rest = &rest[digits..];
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_servers_and_the_vm_have_their_roles() {
        for (name, kind, expected) in [
            ("https-jsse-nio-8443-exec-7", "platform", "Workers"),
            ("tomcat-exec-12", "platform", "Workers"),
            ("qtp123-45", "platform", "Workers"),
            ("vert.x-eventloop-thread-1", "platform", "Workers"),
            ("reactor-http-epoll-2", "platform", "Workers"),
            ("https-jsse-nio-8443-Poller", "platform", "Poller"),
            ("https-jsse-nio-8443-Acceptor", "platform", "Acceptor"),
            ("HikariPool-1 housekeeper", "platform", "Pool and timers"),
            (
                "HikariPool-1:connection-adder",
                "platform",
                "Pool and timers",
            ),
            ("Catalina-utility-1", "platform", "Pool and timers"),
            ("G1 Main Marker", "gc", "Garbage collection"),
            ("C2 CompilerThread0", "compiler", "Compiler"),
            ("VM Thread", "vm", "Virtual machine"),
            ("Finalizer", "platform", "Virtual machine"),
            ("main", "platform", "Application"),
            ("", "platform", "Application"),
        ] {
            assert_eq!(ROLES[role(name, kind)], expected, "{name}");
        }
    }

    #[test]
    fn numbers_in_names_sort_as_numbers() {
        let mut names = ["exec-10", "exec-2", "exec-1", "Exec-3", "a"];
        names.sort_by_key(|n| natural_key(n));
        assert_eq!(names, ["a", "exec-1", "exec-2", "Exec-3", "exec-10"]);
    }
}
