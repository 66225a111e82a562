use std::path::Path;

use loadline_analyze::testing;
use loadline_trace::Trace;

use super::*;
use crate::lane::Window;
use crate::load::load;

/// The trace of a second of a real server, which has sums as any other.
fn shop(dir: &Path) -> Trace {
    let spools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analyze/tests/data/shop/raw");
    testing::built(&spools, dir)
}

#[test]
fn the_first_picture_has_the_times_of_the_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let trace = shop(dir.path());
    assert!(!is_for(&trace), "a small one is read at once");
    let (sums, whole) = (
        first(&trace).expect("sums"),
        load(&trace).expect("all of it"),
    );
    let duration = whole.duration();
    assert_eq!(sums.threads.len(), whole.threads.len());
    let busy = whole.threads.iter().filter(|t| t.states > 100).count();
    assert!(busy > 2, "{busy}");
    for (a, b) in sums.threads.iter().zip(&whole.threads) {
        let name = &b.name;
        assert_eq!(a.states, b.states, "{name}");
        assert_eq!(a.requests, b.requests, "{name}");
        assert_eq!(a.rows.len(), b.rows.len(), "{name}: depth");
        assert_eq!(
            a.lane.times(0, duration),
            b.lane.times(0, duration),
            "{name}"
        );
        // Within a tenth of it, sums are cut where they may not be.
        let part = duration / 10;
        for begin in (0..10).map(|n| n * part) {
            let (a, b) = (
                a.lane.times(begin, begin + part),
                b.lane.times(begin, begin + part),
            );
            for (a, b) in a.iter().zip(b) {
                assert!(
                    (a - b).abs() <= 2 * duration / 1024,
                    "{name} at {begin}: {a} of {b}"
                );
            }
        }
    }
    let told = |m: &Model| {
        let mut requests = m.answered.requests.clone();
        requests.sort_unstable();
        let a = &m.answered;
        (
            requests,
            a.full_handshakes,
            a.resumed_handshakes,
            a.connections,
        )
    };
    assert_eq!(told(&sums), told(&whole));
    assert!(told(&whole).0.len() > 10);
}

#[test]
fn streams_are_counted_as_no_connections() {
    let dir = tempfile::tempdir().expect("a directory");
    let trace = shop(dir.path());
    let before = load(&trace).expect("all of it").answered.connections;
    assert!(before > 3, "{before}");
    let (spans, changed) = (
        dir.path().join("spans.parquet"),
        dir.path().join("changed.parquet"),
    );
    let of = spans.display();
    trace
        .sql()
        .expect("a database")
        .execute_batch(&format!(
            "COPY (SELECT * REPLACE (if(kind = 'connection' AND id <> (SELECT min(id) FROM '{of}' WHERE kind = 'connection'), 'stream ' || name, name) AS name)
                   FROM '{of}' ORDER BY begin_ns) TO '{}' (FORMAT parquet)",
            changed.display()
        ))
        .expect("other names");
    std::fs::rename(changed, spans).expect("in its place");
    let trace = Trace::open(dir.path()).expect("the same trace");
    assert_eq!(load(&trace).expect("all of it").answered.connections, 1);
    assert_eq!(first(&trace).expect("sums").answered.connections, 1);
}

#[test]
fn rows_of_the_first_picture_cover_what_spans_do() {
    let dir = tempfile::tempdir().expect("a directory");
    let trace = shop(dir.path());
    let (sums, whole) = (
        first(&trace).expect("sums"),
        load(&trace).expect("all of it"),
    );
    let window = Window {
        begin: 0,
        end: whole.duration(),
        px: 100,
    };
    // Pixels, of 255 each.
    let covered = |row: &Row| -> f64 {
        let view = row.view(window);
        let bars: i64 = view.bars.iter().map(|b| b.end - b.begin).sum();
        let thin: f64 = view.thin.iter().map(|t| f64::from(t.coverage)).sum();
        bars as f64 / window.ns_per_px() * 255.0 + thin
    };
    let mut compared = 0;
    for (a, b) in sums.threads.iter().zip(&whole.threads) {
        for (a, b) in a.rows.iter().zip(&b.rows) {
            let (a, b) = (covered(a), covered(b));
            // A thin column is rounded, and told as 1 at least.
            assert!((a - b).abs() <= 0.1 * b + 100.0, "{a} of {b}");
            compared += usize::from(b > 300.0);
        }
    }
    assert!(compared > 3, "{compared} rows with something in them");
}
