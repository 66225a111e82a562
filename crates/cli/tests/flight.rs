//! Recordings that are bounded: dumped while they go on, by command, signal and trigger; ended or thinned at a size; killed.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{
    Jvm, alone, auction_on, eventually, java_program, jdks, loadline, run, run_ok, scratch, signal,
    sql, text, with_the_agent,
};
use loadline_trace::Trace;

fn in_background(args: &[&str]) -> Child {
    loadline()
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}

fn load(url: &str, seconds: &str) -> Child {
    let scenario = ["--scenario", "browsing", "--users", "16", "--think", "60ms"];
    let mut args = vec!["load", url, "--insecure", "--duration", seconds];
    args.extend(scenario);
    let mut child = in_background(&args);
    child.stderr = None;
    child
}

/// Bytes that a directory takes on the disk.
fn on_disk(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|e| e.metadata().ok())
        .map(|m| m.blocks() * 512)
        .sum()
}

fn pause(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

/// What must hold of every trace.
fn check(trace: &Trace) {
    assert_eq!(trace.meta.lost(), 0, "{:?}", trace.meta.losses);
    let gaps: i64 = sql(
        trace,
        "SELECT count(*) FROM (SELECT begin_ns, lag(end_ns) OVER (PARTITION BY thread ORDER BY begin_ns) AS before FROM states)
         WHERE before <> begin_ns",
    );
    assert_eq!(gaps, 0, "states have gaps");
    let uneven: i64 = sql(
        trace,
        "SELECT count(*) FROM (SELECT s.id FROM spans s JOIN breakdown b ON b.span = s.id
         GROUP BY s.id, s.begin_ns, s.end_ns HAVING sum(b.duration_ns) <> s.end_ns - s.begin_ns)",
    );
    assert_eq!(uneven, 0, "breakdowns do not add up");
    let outside: i64 = sql(
        trace,
        &format!(
            "SELECT count(*) FROM (SELECT begin_ns, end_ns FROM spans UNION ALL SELECT begin_ns, end_ns FROM states
             UNION ALL SELECT begin_ns, end_ns FROM threads) WHERE begin_ns < {} OR end_ns > {}",
            trace.meta.begin_ns, trace.meta.end_ns
        ),
    );
    assert_eq!(outside, 0, "rows outside of the window");
}

fn ms(trace: &Trace) -> i64 {
    trace.meta.duration_ns() / 1_000_000
}

#[test]
fn the_last_seconds_are_dumped_while_the_recording_goes_on_and_loses_nothing() {
    let _alone = alone();
    for (version, home) in jdks() {
        // One with the agent at start, which sees SQL, and one that is attached to late.
        let agent = with_the_agent();
        let java: &[&str] = if version < 25 { &[&agent] } else { &[] };
        let (server, url) = auction_on(&home.join("bin/java"), java, &["--fault", "few-permits"]);
        let mut load = load(&url, "20s");
        pause(1.5);
        let (_dir, out) = scratch();
        let recorder = in_background(&[
            "record",
            "--pid",
            &server.pid(),
            "-o",
            &out,
            "--keep",
            "3s",
            "--stacks",
            "25ms",
        ]);
        // Attaching takes a second or two of it, and what is kept is full then.
        pause(6.0);
        let dump = |name: &str| {
            let to = format!("{out}-{name}");
            run_ok(&["dump", &server.pid(), "-o", &to]);
            Trace::open(to.as_ref()).expect("a finished trace")
        };
        let fresh = std::net::TcpStream::connect(url.trim_start_matches("https://"))
            .expect("it listens on that address");
        let port = fresh.local_addr().expect("it is connected").port();
        pause(0.1);
        let first = dump("first");
        let known: i64 = sql(
            &first,
            &format!("SELECT count(*) FROM resources WHERE remote LIKE '%:{port}'"),
        );
        assert_eq!(known, 1, "a connection that was just made has its peer");
        // Longer than a segment, which is half a second, and longer where cutting one is slow.
        pause(1.8);
        let second = dump("second");
        pause(0.5);
        let disk = on_disk(&Path::new(&out).join("raw"));
        assert!(disk < 64 << 20, "{disk} bytes for three seconds");
        signal(&recorder, libc::SIGINT);
        let said = recorder.wait_with_output().expect("it is ours");
        assert!(said.status.success(), "{}", text(&said));
        let last = Trace::open(out.as_ref()).expect("a finished trace");
        load.kill().expect("it is ours");
        load.wait().expect("it is ours");

        for trace in [&first, &second, &last] {
            check(trace);
            assert!(
                (2900..5500).contains(&ms(trace)),
                "{} ms are kept",
                ms(trace)
            );
            let begin = trace.meta.begin_ns;
            let carried: i64 = sql(
                trace,
                &format!(
                    "SELECT count(*) FROM spans WHERE kind = 'connection' AND begin_ns = {begin} AND NOT complete AND peer IS NOT NULL"
                ),
            );
            assert!(
                carried > 0,
                "{carried} connections were open at the begin, with their peers"
            );
            let named: i64 = sql(
                trace,
                "SELECT count(DISTINCT t.name) FROM spans s JOIN threads t ON t.id = s.thread
                 WHERE s.kind = 'service' AND t.name LIKE 'http%exec%' AND t.kind = 'platform'",
            );
            assert!(named > 0, "{named} workers have their names");
            // Pages that wait for a permit: their stack was seen long before the window. Not those of all waits that
            // have one by default: on a slow machine that is more than stacks may cost.
            let [without, with] = ["IS NULL", "IS NOT NULL"].map(|is| {
                sql::<i64>(
                    trace,
                    &format!(
                        "SELECT count(*) FROM waits w JOIN spans r ON r.kind = 'request' AND r.thread = w.thread AND r.begin_ns <= w.begin_ns AND w.end_ns <= r.end_ns
                         WHERE w.outcome <> 'cut' AND w.begin_ns > {begin} AND w.end_ns - w.begin_ns >= 25000000 AND w.stack {is}"
                    ),
                )
            });
            assert!(
                with > 10 * without,
                "{with} waits with, {without} without stacks"
            );
            let nameless: i64 = sql(
                trace,
                "SELECT count(*) FROM spans s JOIN threads t ON t.id = s.thread WHERE s.kind = 'service' AND t.name NOT LIKE 'http%'",
            );
            assert_eq!(nameless, 0);
            if version < 25 {
                let statements: i64 = sql(
                    trace,
                    "SELECT count(DISTINCT name) FROM spans WHERE kind = 'sql' AND name LIKE 'SELECT%'",
                );
                assert!(statements > 3, "{statements} statements have their text");
            }
            let told = trace
                .meta
                .not_recorded
                .iter()
                .any(|n| n.what.starts_with("what came before"));
            assert!(told, "{:?}", trace.meta.not_recorded);
        }
        assert_eq!(first.meta.ended, "dumped");
        let went_on = second.meta.begin_ns - first.meta.begin_ns;
        assert!(
            went_on > 500_000_000,
            "the window went on by {} ms",
            went_on / 1_000_000
        );
        // What two of them saw of the same time is the same.
        let (from, to) = (second.meta.begin_ns, first.meta.end_ns);
        assert!(
            to - from > 500_000_000,
            "they overlap by {} ms",
            (to - from) / 1_000_000
        );
        for (a, b, from, to) in [
            (&first, &second, from, to),
            (&second, &last, last.meta.begin_ns, second.meta.end_ns),
        ] {
            let both = format!(
                "SELECT count(*) || ' requests, ' || sum(end_ns - begin_ns) || ' ns, ' || sum(hash(name, status) % 1000) FROM spans
                 WHERE kind = 'request' AND begin_ns > {from} AND end_ns < {to}"
            );
            let (a, b): (String, String) = (sql(a, &both), sql(b, &both));
            assert_eq!(a, b, "of the same time");
        }
    }
}

#[test]
fn a_trigger_and_a_signal_dump_and_a_killed_recorder_leaves_what_can_be_recovered_and_top_nothing()
{
    let _alone = alone();
    let Some((_, home)) = jdks().pop() else {
        return common::skip("a_trigger_and_a_signal_dump", "no JDK");
    };
    let (server, url) = auction_on(&home.join("bin/java"), &[], &[]);
    let mut load = load(&url, "30s");
    pause(1.0);
    let (dir, out) = scratch();
    let trigger = ["--when", "p99>0.01ms for 2s", "--when", "gc>50s"];
    let mut args = vec!["record", "--pid", "", "-o", &out, "--keep", "2s"];
    let pid = server.pid();
    args[2] = &pid;
    args.extend(trigger);
    let mut recorder = in_background(&args);
    let dumped = |n: u32| dir.path().join(format!("t-dump{n}.trace"));
    let made = |n: u32| dumped(n).join("trace.json").exists();
    eventually("the trigger fires", 15, || made(1));
    let by_trigger = Trace::open(&dumped(1)).expect("a finished trace");
    check(&by_trigger);
    let note = by_trigger.meta.notes.join(" ");
    assert!(note.contains("p99>0.01ms for 2s: "), "{note}");

    signal(&recorder, libc::SIGUSR1);
    eventually("the signal dumps", 10, || made(2));
    check(&Trace::open(&dumped(2)).expect("a finished trace"));
    pause(0.5);
    assert!(!dumped(3).exists(), "the trigger waits for its distance");

    signal(&recorder, libc::SIGKILL);
    recorder.wait().expect("it is ours");
    run_ok(&["recover", &out]);
    let left = Trace::open(out.as_ref()).expect("a finished trace");
    check(&left);
    assert_eq!(left.meta.ended, "recovered");
    assert!(
        (1500..4000).contains(&ms(&left)),
        "{} ms were left",
        ms(&left)
    );
    let mut names: Vec<_> = std::fs::read_dir(dir.path())
        .expect("the directory")
        .flatten()
        .map(|e| e.file_name().into_string().expect("ASCII"))
        .collect();
    names.sort();
    assert_eq!(names, ["t-dump1.trace", "t-dump2.trace", "t.trace"]);
    top_shows_seconds_as_text_and_as_json_and_leaves_nothing(&pid);
    load.kill().expect("it is ours");
    load.wait().expect("it is ours");

    let nobody = run(&["dump", &pid]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(text(&nobody).contains("--keep 60s"), "{}", text(&nobody));
}

#[test]
fn at_its_size_a_recording_ends_or_drops_the_oldest() {
    let _alone = alone();
    let jvm = Jvm::java(&[&java_program("Handoffs"), "40", "2"]);
    jvm.line("ready");
    let (_dir, out) = scratch();
    let begin = Instant::now();
    let recorder = in_background(&[
        "record",
        "--pid",
        &jvm.pid(),
        "-o",
        &out,
        "--max-size",
        "24M",
    ]);
    let said = recorder.wait_with_output().expect("it is ours");
    assert!(said.status.success(), "{}", text(&said));
    assert!(
        begin.elapsed() < Duration::from_secs(25),
        "it did not end by itself"
    );
    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    let notes = trace.meta.notes.join(" ");
    assert!(notes.contains("--max-size, 24 MB"), "{notes}");

    let (_dir, out) = scratch();
    let recorder = in_background(&["record", "--pid", &jvm.pid(), "-o", &out, "--flight", "32M"]);
    let raw = Path::new(&out).join("raw");
    let begin = Instant::now();
    let mut most = 0;
    while begin.elapsed() < Duration::from_secs(4) {
        most = most.max(on_disk(&raw));
        pause(0.05);
    }
    signal(&recorder, libc::SIGINT);
    let said = recorder.wait_with_output().expect("it is ours");
    assert!(said.status.success(), "{}", text(&said));
    // On a busy machine the recorder comes late to look: a second's worth is some 20 MB.
    assert!(most < 64 << 20, "it took {most} bytes");
    let trace = Trace::open(out.as_ref()).expect("a finished trace");
    check(&trace);
    assert!(
        (200..3500).contains(&ms(&trace)),
        "{} ms are kept",
        ms(&trace)
    );
    let why = trace
        .meta
        .not_recorded
        .iter()
        .find(|n| n.what.starts_with("what came before"));
    let why = why.expect("it is told").why.clone();
    assert!(why.contains("32 MB"), "{why}");
    let waits: i64 = sql(
        &trace,
        "SELECT count(*) FROM waits WHERE outcome = 'unparked'",
    );
    assert!(waits > 1000, "{waits} parks");
}

/// The recording that it makes is over when it ends, and its files are gone.
fn top_shows_seconds_as_text_and_as_json_and_leaves_nothing(pid: &str) {
    let text_ = text(&run_ok(&["top", pid, "--once"]));
    for what in [
        "requests/s",
        "p95",
        "service",
        "worker",
        "not recorded: SQL statements",
    ] {
        assert!(text_.contains(what), "no {what:?} in:\n{text_}");
    }
    let mut top = loadline()
        .args(["top", pid, "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let stdout = BufReader::new(top.stdout.take().expect("piped"));
    for line in stdout.lines().take(2) {
        let line = line.expect("readable");
        let second: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert!(
            second["throughput"]["requests"].as_u64() > Some(20),
            "{line}"
        );
        let seconds = second["about"]["seconds"].as_f64().expect("a number");
        assert!((0.5..3.0).contains(&seconds), "{seconds} s");
    }
    let left = std::env::temp_dir().join(format!("loadline-top-{}", top.id()));
    assert!(left.exists());
    signal(&top, libc::SIGINT);
    assert!(top.wait().expect("it is ours").success());
    assert!(!left.exists(), "{} is left", left.display());
}
