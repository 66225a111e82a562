//! Synthetic measures with known truth: how often equals are told apart, and a planted change is named.

use loadline_stats::{Random, Stream};

use super::*;

/// Statements of a program: mean ms per call, calls in a recording.
const STATEMENTS: [(&str, f64, usize); 12] = [
    ("a", 0.3, 4000),
    ("b", 0.5, 3000),
    ("c", 0.9, 2500),
    ("d", 1.4, 2000),
    ("e", 2.0, 1500),
    ("f", 3.0, 1500),
    ("g", 0.2, 5000),
    ("h", 0.7, 1000),
    ("i", 5.0, 800),
    ("j", 1.1, 600),
    ("k", 8.0, 400),
    ("l", 0.4, 2000),
];

/// A recording: per statement parts of 1/64 of the calls, each call exponential about its mean times `factor`, and all of
/// a recording's statements off by a few per cent, each in its own way: what two runs of a program differ by.
fn recording(stream: &mut Stream, drift: f64, factor: impl Fn(&str) -> f64) -> Vec<Vec<Part>> {
    STATEMENTS
        .iter()
        .map(|(name, mean, calls)| {
            let off = 1.0 + drift * stream.normal();
            (0..64)
                .map(|_| {
                    let n = calls / 64;
                    let sum: f64 = (0..n)
                        .map(|_| stream.exponential() * mean * off * factor(name))
                        .sum();
                    (sum, n as f64)
                })
                .collect()
        })
        .collect()
}

fn measures(a: Vec<Vec<Vec<Part>>>, b: Vec<Vec<Vec<Part>>>) -> Vec<Measure> {
    let side = |s: &Vec<Vec<Vec<Part>>>, i: usize| Side(s.iter().map(|r| r[i].clone()).collect());
    STATEMENTS
        .iter()
        .enumerate()
        .map(|(i, (name, ..))| Measure {
            kind: "sql",
            name: (*name).into(),
            unit: "ms per call",
            sides: [side(&a, i), side(&b, i)],
        })
        .collect()
}

fn named(verdict: &Verdict) -> Vec<&str> {
    verdict.real().map(|c| c.name.as_str()).collect()
}

#[test]
fn equals_are_told_apart_in_at_most_one_of_twenty_comparisons() {
    for drift in [0.0, 0.03] {
        let mut stream = Stream::new(11, "equals");
        let wrong = (0..300)
            .filter(|_| {
                let a = recording(&mut stream, drift, |_| 1.0);
                let b = recording(&mut stream, drift, |_| 1.0);
                judge(&measures(vec![a], vec![b])).real().next().is_some()
            })
            .count();
        // 5% of 300 is 15; three standard deviations above it, 26.
        assert!(wrong <= 26, "drift {drift}: {wrong} of 300");
    }
}

#[test]
fn a_statement_that_takes_a_third_longer_is_named_from_one_recording_a_side() {
    let mut stream = Stream::new(12, "third");
    let slower = |name: &str| if name == "e" { 1.35 } else { 1.0 };
    let found = (0..100)
        .filter(|_| {
            let a = recording(&mut stream, 0.0, |_| 1.0);
            let b = recording(&mut stream, 0.0, slower);
            named(&judge(&measures(vec![a], vec![b]))) == ["e"]
        })
        .count();
    assert!(found >= 90, "{found} of 100");
}

#[test]
fn ten_per_cent_in_one_statement_are_named_from_eight_recordings_a_side() {
    let mut stream = Stream::new(13, "tenth");
    let slower = |name: &str| if name == "e" { 1.1 } else { 1.0 };
    let found = (0..100)
        .filter(|_| {
            let a = (0..8)
                .map(|_| recording(&mut stream, 0.01, |_| 1.0))
                .collect();
            let b = (0..8)
                .map(|_| recording(&mut stream, 0.01, slower))
                .collect();
            named(&judge(&measures(a, b))) == ["e"]
        })
        .count();
    assert!(found >= 90, "{found} of 100");
}

#[test]
fn a_slower_host_is_the_common_factor_and_no_change() {
    let mut stream = Stream::new(14, "host");
    let a = recording(&mut stream, 0.0, |_| 1.0);
    let b = recording(&mut stream, 0.0, |_| 1.2);
    let verdict = judge(&measures(vec![a], vec![b]));
    assert!((verdict.common - 1.2).abs() < 0.03, "{}", verdict.common);
    assert_eq!(named(&verdict), [""; 0]);
}

#[test]
fn too_little_is_not_compared() {
    let one = Side(vec![vec![(3.0, 1.0)]]);
    let measure = Measure {
        kind: "sql",
        name: "a".into(),
        unit: "ms per call",
        sides: [one.clone(), one],
    };
    let verdict = judge(&[measure]);
    assert_eq!((verdict.changes.len(), verdict.too_few), (0, 1));
}
