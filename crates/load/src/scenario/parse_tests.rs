use super::*;
use crate::scenario::{Arrivals, Next};
use proptest::prelude::*;

const GOOD: &str = "name = \"t\"
start = \"a\"
[arrivals]
users = 3
[think]
mean = \"1s\"
[client]
timeout = \"2s\"
[tls]
versions = [\"1.3\"]
resume_within = 0.5
[connection]
requests = 4
[ranges]
id = [1, 9]
[[interaction]]
name = \"a\"
path = \"/{id}\"
next = { a = 1, end = 1 }
";

fn error(text: &str) -> String {
    Scenario::from_toml(text, "storm.toml")
        .expect_err(text)
        .to_string()
}

#[test]
fn every_key_arrives() {
    let s = Scenario::from_toml(GOOD, "t").expect("valid");
    assert_eq!(s.arrivals, Arrivals::Closed { users: 3 });
    assert_eq!(
        (s.think_mean, s.timeout),
        (Duration::from_secs(1), Duration::from_secs(2))
    );
    assert_eq!(
        (s.versions, s.resume_within, s.resume_across),
        (Versions::Tls13, 0.5, 0.0)
    );
    assert_eq!(
        (s.requests_per_connection, s.start, s.interactions.len()),
        (4, 0, 1)
    );
    assert_eq!(
        s.interactions[0].next,
        [(0.5, Next::Interaction(0)), (1.0, Next::End)]
    );
}

#[test]
fn every_builtin_is_valid() {
    for name in Scenario::builtin_names() {
        let scenario = Scenario::builtin(name).expect("it is listed");
        assert_eq!(scenario.name, name);
        assert!(
            name == "keep-alive" || scenario.interactions.iter().all(|i| !i.marker.is_empty()),
            "{name}: a page without a check"
        );
    }
    assert!(Scenario::builtin("nonsense").is_none());
}

#[test]
fn errors_name_file_line_key_value_and_range() {
    for (old, new, expected) in [
        (
            "mean = \"1s\"",
            "mean = \"-2s\"",
            "storm.toml:6: think.mean is \"-2s\"; it must be a number with a unit, as 150ms, 2s, 5m, 1h, and not negative",
        ),
        (
            "mean = \"1s\"",
            "mean = \"fast\"",
            "storm.toml:6: think.mean is \"fast\"; it must be a number with a unit, as 150ms, 2s, 5m, 1h, and not negative",
        ),
        (
            "timeout = \"2s\"",
            "timeout = \"0s\"",
            "storm.toml:8: client.timeout is 0s; it must be more than 0s",
        ),
        (
            "users = 3",
            "users = -5",
            "storm.toml:4: arrivals.users is -5; it must be from 1 to 1000000",
        ),
        (
            "users = 3",
            "users = 0",
            "storm.toml:4: arrivals.users is 0; it must be from 1 to 1000000",
        ),
        (
            "users = 3",
            "rate = -1.0",
            "storm.toml:4: arrivals.rate is -1; it must be from 0.001 to 1000000 sessions/s",
        ),
        (
            "users = 3",
            "users = 3\nrate = 1.0",
            "storm.toml:5: arrivals has users and rate; give users for a closed system, or rate for a partly-open one",
        ),
        (
            "[\"1.3\"]",
            "[\"1.1\"]",
            "storm.toml:10: tls.versions has \"1.1\"; it may have \"1.2\" and \"1.3\"",
        ),
        (
            "[\"1.3\"]",
            "[]",
            "storm.toml:10: tls.versions is empty; it must have \"1.2\", \"1.3\" or both",
        ),
        (
            "= 0.5",
            "= 1.5",
            "storm.toml:11: tls.resume_within is 1.5; it must be from 0 to 1",
        ),
        (
            "users = 3",
            "users = 3\nrequests = 1.0",
            "storm.toml:5: arrivals has requests beside users or rate; give requests alone for an open system",
        ),
        (
            "users = 3",
            "users = 3\nprocess = \"even\"",
            "storm.toml:5: arrivals.process is \"even\"; it must be \"poisson\" or \"uniform\"",
        ),
        (
            "users = 3",
            "users = 3\nphase = [{ for = \"1s\", level = 1.0, to = 2.0 }]",
            "storm.toml:5: a phase has level, or from and to: it stays where it is or goes from one to the other",
        ),
        (
            "users = 3",
            "users = 3\nphase = [{ for = \"0s\", level = 1.0 }]",
            "storm.toml:5: arrivals.phase 1 must last longer than 0s",
        ),
        (
            "users = 3",
            "replay = \"access.log\"",
            "storm.toml:16: there are arrivals.replay and an [[interaction]]; a log says itself what is asked for",
        ),
        (
            "requests = 4",
            "http = \"2\"\npipeline = 4",
            "storm.toml:14: connection.pipeline and connection.http = \"2\": HTTP/2 has streams instead; leave one out",
        ),
        (
            "requests = 4",
            "http = \"3\"",
            "storm.toml:13: connection.http is \"3\"; it must be \"1.1\" or \"2\"",
        ),
        (
            "next = {",
            "take = { nr = \"x\" }\nnext = {",
            "storm.toml:19: take.nr of a: [session] has no nr",
        ),
        (
            "[ranges]",
            "[session]\nid = [1, 2]\n[ranges]",
            "storm.toml:17: id is in [ranges] and in [session]; it can be in one of them",
        ),
        (
            "= 0.5",
            "= nan",
            "storm.toml:11: tls.resume_within is NaN; it must be from 0 to 1",
        ),
        (
            "requests = 4",
            "requests = -1",
            "storm.toml:13: connection.requests is -1; it must be from 0 to 4294967295",
        ),
        (
            "[1, 9]",
            "[9, 1]",
            "storm.toml:15: ranges.id is [9, 1]; it must be [first, last] with 0 <= first <= last",
        ),
        (
            "name = \"a\"",
            "name = \"end\"",
            "storm.toml:17: interaction.name is \"end\"; it must be unique, not empty, and not back or end",
        ),
        (
            "/{id}",
            "/{nr}",
            "storm.toml:18: path of a is \"/{nr}\"; [ranges] has no nr",
        ),
        (
            "{ a = 1,",
            "{ b = 1,",
            "storm.toml:19: next of a leads to \"b\"; no [[interaction]] has that name",
        ),
        (
            "{ a = 1,",
            "{ a = -1,",
            "storm.toml:19: next.a of a is -1; it must be more than 0",
        ),
        (
            ", end = 1",
            "",
            "storm.toml:16: from a no way leads to end; add end to a next",
        ),
        (
            "{ a = 1, end = 1 }",
            "{}",
            "storm.toml:19: next of a is empty; it must lead somewhere, at least to end",
        ),
        (
            "start = \"a\"",
            "start = \"z\"",
            "storm.toml:2: start is \"z\"; no [[interaction]] has that name",
        ),
    ] {
        assert!(GOOD.contains(old), "{old}");
        assert_eq!(error(&GOOD.replacen(old, new, 1)), expected);
    }
}

#[test]
fn unknown_keys_wrong_types_and_broken_toml_name_the_line() {
    let unknown = error(&GOOD.replace("users = 3", "user = 3"));
    assert!(
        unknown.starts_with("storm.toml:4: unknown field `user`"),
        "{unknown}"
    );
    let wrong_type = error(&GOOD.replace("users = 3", "users = \"3\""));
    assert!(
        wrong_type.starts_with("storm.toml:4: invalid type"),
        "{wrong_type}"
    );
    let broken = error(&GOOD.replace("users = 3", "users ="));
    assert!(broken.starts_with("storm.toml:4: "), "{broken}");
    assert!(error("").contains("missing field"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}", at in any::<prop::sample::Index>(), junk in "[\\[\\]{}=\"a-z0-9.\\-\n ]{0,8}") {
        let _ = Scenario::from_toml(&text, "x");
        let at = at.index(GOOD.len());
        let _ = Scenario::from_toml(&format!("{}{junk}{}", &GOOD[..at], &GOOD[at..]), "x");
    }
}
