use super::*;
use proptest::prelude::*;

const ACCESS: &str = "\
127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a?x=1 HTTP/1.0\" 200 2326
10.0.0.2 - bob [10/Oct/2000:13:55:38 -0700] \"POST /b HTTP/1.1\" 200 12 \"http://x/\" \"Mozilla (\\)\"
nonsense
127.0.0.1 - - [10/Oct/2000:13:55:38 -0700] \"GET /c HTTP/1.0\" 404 -
127.0.0.1 - - [10/Oct/2000:21:30:00 +0000] \"HEAD http://h/a HTTP/1.0\" 200 0
";

#[test]
fn an_access_log_becomes_sessions_with_their_times() {
    let replay = Replay::parse(ACCESS, 1.0).expect("a log");
    assert!(replay.is_timed());
    assert_eq!(
        (replay.sessions.len(), replay.requests(), replay.skipped()),
        (3, 4, 1)
    );
    let first = &replay.sessions[0].bursts;
    assert_eq!(
        (first[0].at_ns, first[0].request.path.as_str()),
        (0, "/a?x=1")
    );
    // The second of two in that second.
    assert_eq!(
        (first[1].at_ns, first[1].request.path.as_str()),
        (2_500_000_000, "/c")
    );
    assert_eq!(replay.sessions[1].bursts[0].request.method, "POST");
    // 13:55:36 -0700 is 20:55:36; 34 minutes and 24 seconds later is another session.
    let last = &replay.sessions[2].bursts[0];
    assert_eq!(
        (last.at_ns, &*last.request.method),
        (2_064_000_000_000, "HEAD")
    );
    assert_eq!(replay.names().collect::<Vec<_>>(), ["/a", "/b", "/c"]);
}

#[test]
fn speed_shortens_all_times() {
    let replay = Replay::parse(ACCESS, 2.0).expect("a log");
    assert_eq!(replay.sessions[0].bursts[1].at_ns, 1_250_000_000);
}

#[test]
fn more_paths_than_are_told_apart_are_counted_together() {
    let mut replay = Replay::default();
    for n in 0..60 {
        replay.name(&format!("/{n}"));
    }
    assert_eq!(replay.names.len(), MAX_NAMES + 1);
    assert_eq!(replay.name("/59"), MAX_NAMES);
    assert_eq!(replay.name("/3"), 3);
}

/// After the example of httperf's manual.
const SESSIONS: &str = "\
# session 1
/foo.html think=2.0
    /pict1.gif
    /pict2.gif
/foo2.html method=POST contents='Post data'
    /pict3.gif

# session 2
/foo3.html method=POST contents=\"a \\\"b\\\"\\nc\" think=0
/foo4.html
";

#[test]
fn a_session_log_of_httperf_becomes_bursts() {
    let replay = Replay::parse(SESSIONS, 1.0).expect("a log");
    assert!(!replay.is_timed());
    assert_eq!((replay.sessions.len(), replay.requests()), (2, 7));
    let first = &replay.sessions[0].bursts;
    assert_eq!(
        (first[0].think_ns, first[0].more.len()),
        (Some(2_000_000_000), 2)
    );
    assert_eq!(first[1].request.body.as_deref(), Some(&b"Post data"[..]));
    let third = &replay.sessions[1].bursts[0];
    assert_eq!(third.request.body.as_deref(), Some(&b"a \"b\"\nc"[..]));
    assert_eq!(third.think_ns, Some(0));
}

#[test]
fn what_is_no_log_is_refused_with_its_line() {
    for (text, line, part) in [
        ("", 1, "no request"),
        ("# only\n\n", 1, "no request"),
        ("x\ny\n", 1, "neither an access log"),
        ("/a\n/b size\n", 2, "not key=value"),
        ("/a think=x", 1, "think is"),
        ("/a contents='x", 1, "has no end"),
        ("/a foo=1", 1, "not known"),
        ("#x\n/a\n\n  /b\n", 4, "none before it"),
    ] {
        let (at, what) = Replay::parse(text, 1.0).expect_err(text);
        assert_eq!(at, line, "{text:?}: {what}");
        assert!(what.contains(part), "{text:?}: {what}");
    }
}

proptest! {
    #[test]
    fn no_log_makes_it_panic(
        junk in "\\PC{0,40}", at in any::<prop::sample::Index>(), which in any::<bool>(),
    ) {
        let text = if which { ACCESS } else { SESSIONS };
        let at = at.index(text.len());
        if text.is_char_boundary(at) {
            let _ = Replay::parse(&format!("{}{junk}{}", &text[..at], &text[at..]), 1.0);
        }
        let _ = Replay::parse(&junk, 1.0);
    }
}
