//! Comparisons of traces with known truth, from their files to the sentence.

use std::path::Path;

use loadline_analyze::diff::diff;
use loadline_stats::{Random, Stream};
use loadline_trace::meta::Meta;
use loadline_trace::tables::{
    Breakdown, Call, Counter, Mark, Mount, Object, Resource, Sample, Segment, Span, Stack, State,
    Syscall, Thread, ThreadCounter, Vm, Wait,
};
use loadline_trace::{Trace, TraceWriter};

const MS: f64 = 1e6;
const STATEMENTS: [(&str, f64); 4] = [
    ("SELECT a", 0.4),
    ("SELECT b", 1.0),
    ("SELECT c", 2.0),
    ("UPDATE d", 0.7),
];

/// Methods of the site, with how much CPU time each page spends in it, ms.
const CODE: [(&str, f64); 3] = [
    ("shop.Page.render", 2.0),
    ("shop.Price.of", 1.0),
    ("shop.Log.line", 0.5),
];
/// A sample each so much of CPU time, ns.
const SAMPLED: i64 = 4_000_000;

/// A trace of `requests` on one thread, each a page of two statements, whose code is sampled; `factor` of each statement's mean.
fn trace(dir: &Path, seed: u64, requests: usize, factor: impl Fn(&str) -> f64) -> Trace {
    written(dir, seed, requests, factor, |_| 1.0)
}

/// The same; `factor` of each method's mean. Each calls the JDK.
fn sampled(dir: &Path, seed: u64, requests: usize, factor: impl Fn(&str) -> f64) -> Trace {
    written(dir, seed, requests, |_| 1.0, factor)
}

fn written(
    dir: &Path,
    seed: u64,
    requests: usize,
    factor: impl Fn(&str) -> f64,
    of_code: impl Fn(&str) -> f64,
) -> Trace {
    let mut stream = Stream::new(seed, "site");
    let mut timer = Stream::new(seed, "samples");
    std::fs::create_dir_all(dir).expect("a directory");
    let (mut spans, mut breakdown) = (Vec::new(), Vec::new());
    let mut now = 0;
    let span = |id, parent, kind, name: &str, begin_ns, end_ns| Span {
        id,
        parent,
        kind,
        name: name.into(),
        thread: 0,
        end_thread: 0,
        begin_ns,
        end_ns,
        connection: None,
        status: (kind == "request").then_some(200),
        resumed: None,
        peer_port: None,
        peer: None,
        complete: true,
        open: false,
        cpu_ns: None,
    };
    let (mut stacks, mut samples) = (Vec::new(), Vec::new());
    for (name, _) in CODE {
        for name in [name, "java.util.Arrays.sort"] {
            let id = stacks.len() as i64;
            stacks.push(Stack {
                id,
                parent: (id % 2 == 1).then_some(id - 1),
                depth: (id % 2) as i32,
                kind: "java",
                name: name.into(),
                file: None,
                line: None,
            });
        }
    }
    for n in 0..requests {
        for (i, (name, mean)) in CODE.iter().enumerate() {
            // As many as a timer on CPU time has, by chance.
            let expected = mean * of_code(name) * MS / SAMPLED as f64;
            if timer.uniform() < expected {
                samples.push(Sample {
                    ts_ns: now,
                    thread: 0,
                    kind: "cpu",
                    weight: SAMPLED,
                    class: None,
                    stack: 2 * i as i64 + i64::from(n % 3 == 0),
                    size: None,
                });
            }
        }
        let request = spans.len() as i64;
        let page = n % 2;
        let own = (stream.exponential() * 0.5 * MS) as i64;
        let begin = now;
        now += own;
        let mut inner = Vec::new();
        for (name, mean) in &STATEMENTS[page * 2..page * 2 + 2] {
            let took = (stream.exponential() * mean * factor(name) * MS) as i64;
            inner.push((*name, now, now + took));
            now += took;
        }
        let name = ["GET /list", "POST /buy"][page];
        spans.push(span(request, None, "request", name, begin, now));
        let mut sql = 0;
        for (name, from, to) in inner {
            spans.push(span(
                spans.len() as i64,
                Some(request),
                "sql",
                name,
                from,
                to,
            ));
            sql += to - from;
        }
        for (phase, cause, duration_ns) in [("service", "running", own), ("sql", "socket", sql)] {
            breakdown.push(Breakdown {
                span: request,
                kind: "request",
                phase,
                cause,
                duration_ns,
            });
        }
        now += (stream.exponential() * MS) as i64;
    }
    let mut writer = TraceWriter::new(dir).expect("a writer");
    let thread = Thread {
        id: 0,
        tid: Some(1),
        pid: 1,
        java_id: Some(1),
        name: "exec-1".into(),
        kind: "platform",
        begin_ns: 0,
        end_ns: now,
        parent: None,
    };
    writer.table([thread]).expect("threads");
    writer.table(spans).expect("spans");
    writer.table(breakdown).expect("breakdown");
    writer.table(stacks).expect("stacks");
    writer.table(samples).expect("samples");
    macro_rules! none {
        ($($table:ty),*) => { $( writer.table(Vec::<$table>::new()).expect("a table"); )* };
    }
    none!(
        State,
        Syscall,
        Resource,
        Call,
        Segment,
        Mark,
        Wait,
        Vm,
        Mount,
        Object,
        Counter,
        ThreadCounter
    );
    let meta = Meta {
        end_ns: now,
        ..Meta::default()
    };
    writer.finish(meta).expect("a trace");
    Trace::open(dir).expect("it opens")
}

#[test]
fn a_slower_statement_is_named_in_the_first_line_and_breaks_a_threshold() {
    let dir = tempfile::tempdir().expect("a directory");
    let a = trace(&dir.path().join("a"), 1, 6000, |_| 1.0);
    let b = trace(&dir.path().join("b"), 2, 6000, |s| {
        if s == "SELECT c" { 1.4 } else { 1.0 }
    });
    let d = diff(&[a], &[b]).expect("a comparison");
    assert!(
        d.summary.starts_with("sql SELECT c takes +"),
        "{}",
        d.summary
    );
    let change = d
        .verdict
        .real()
        .find(|c| c.name == "SELECT c")
        .expect("it is named");
    assert!(
        (change.interval[0]..change.interval[1]).contains(&0.4),
        "{change:?}"
    );
    let others: Vec<&str> = d
        .verdict
        .real()
        .filter(|c| c.kind == "sql")
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(others, ["SELECT c"]);
    let page = d.render();
    assert!(
        page.lines().all(|l| l.chars().count() <= 140)
            && page.contains("changes that are more than noise"),
        "{page}"
    );
}

#[test]
fn a_method_that_takes_more_cpu_is_named_and_the_jdk_s_time_is_its_caller_s() {
    let dir = tempfile::tempdir().expect("a directory");
    let a = sampled(&dir.path().join("a"), 3, 6000, |_| 1.0);
    let b = sampled(&dir.path().join("b"), 4, 6000, |s| {
        if s == "shop.Price.of" { 1.4 } else { 1.0 }
    });
    let d = diff(&[a], &[b]).expect("a comparison");
    let start = "code shop.Price.of takes +";
    assert!(d.summary.contains(start), "{}", d.summary);
    let real: Vec<_> = d.verdict.real().collect();
    assert_eq!(real.len(), 1, "{real:?}");
    assert_eq!(real[0].unit, "ms of CPU per request");
    assert!((real[0].before - 1.0).abs() < 0.1, "{:?}", real[0]);
    let [low, high] = real[0].interval;
    assert!((low..high).contains(&0.4), "{real:?}");
    // Nothing is the JDK's, and the sum of all is what was sampled.
    let code = d.verdict.changes.iter().filter(|c| c.kind == "code");
    assert!((code.map(|c| c.before).sum::<f64>() - 3.5).abs() < 0.15);
}

#[test]
fn a_method_that_is_new_is_told_without_being_a_change() {
    let dir = tempfile::tempdir().expect("a directory");
    let a = sampled(&dir.path().join("a"), 5, 3000, |s| {
        if s == "shop.Price.of" { 0.0 } else { 1.0 }
    });
    let b = sampled(&dir.path().join("b"), 6, 3000, |_| 1.0);
    let d = diff(&[a], &[b]).expect("a comparison");
    assert_eq!(d.verdict.real().count(), 0, "{}", d.summary);
    let told = "nothing changed by more than noise; shop.Price.of runs only now, ";
    assert!(d.summary.contains(told), "{}", d.summary);
    assert!(
        d.summary.ends_with("ms of CPU per request"),
        "{}",
        d.summary
    );
    let [before, now] = &d.only;
    assert_eq!((before.len(), now.len()), (0, 1));
    assert!((now[0].mean - 1.0).abs() < 0.15, "{:?}", now[0]);
}

#[test]
fn two_traces_of_one_site_show_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut wrong = 0;
    for n in 0..20 {
        let a = trace(&dir.path().join(format!("a{n}")), 100 + 2 * n, 1500, |_| {
            1.0
        });
        let b = trace(&dir.path().join(format!("b{n}")), 101 + 2 * n, 1500, |_| {
            1.0
        });
        let d = diff(&[a], &[b]).expect("a comparison");
        if d.verdict.real().next().is_some() {
            wrong += 1;
            continue;
        }
        assert!(
            d.summary.ends_with("nothing changed by more than noise"),
            "{}",
            d.summary
        );
    }
    // One of twenty is what 95% allows; more than three would be one chance in sixty.
    assert!(wrong <= 3, "{wrong} of 20");
}

#[test]
fn traces_with_nothing_in_common_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let a = trace(&dir.path().join("a"), 1, 5, |_| 1.0);
    let b = trace(&dir.path().join("b"), 2, 5, |_| 1.0);
    let e = diff(&[a], &[b]).expect_err("five requests are too few");
    assert!(e.to_string().contains("nothing in common"), "{e}");
}
