//! The newest part of a recording, with what was carried on out of the rest, has the rows that the whole has of that time.
//!
//! The recording is the real one of `same_rows`; of it everything that the agent said before a horizon is folded, as a
//! recorder does that drops the oldest.

use std::fs;
use std::path::{Path, PathBuf};

use loadline_trace::Trace;
use loadline_trace::spool::session::Session;
use loadline_trace::spool::{RawDir, agent, carry};

fn raw() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/shop/raw")
}

/// The trace from `horizon` on.
fn cut(dir: &Path, horizon: i64) -> Trace {
    let to = RawDir::of(dir);
    fs::create_dir(to.path()).expect("an empty directory");
    for file in fs::read_dir(raw()).expect("the fixture").flatten() {
        fs::copy(file.path(), to.path().join(file.file_name())).expect("copied");
    }
    let mut session = Session::load(&to.session()).expect("readable");
    session.begin_ns = horizon;
    session.store(&to.session()).expect("stored");

    let bytes = fs::read(to.agent()).expect("the agent's");
    let header = agent::header(&bytes).expect("a header");
    let events = agent::read(&bytes[..header.extent(bytes.len() as u64) as usize]).events;
    let mut carried = carry::Carry::new();
    for e in events.iter().filter(|e| e.ts < horizon) {
        carried.take(e);
    }
    carried.settle(horizon, &|_| true);
    let carried = carried.events(&|_| true);
    let before = events.iter().filter(|e| e.ts < horizon).count();
    assert!(
        carried.len() < before / 2 + 200,
        "{} of {before} were carried",
        carried.len()
    );
    fs::write(to.carry(), carry::file(&carried, horizon, [0; 4])).expect("written");
    loadline_analyze::build(dir, false, &mut |_, _| {}).expect("tables");
    Trace::open(dir).expect("it opens")
}

/// What is in the trace of the time from `horizon` on, by things that do not depend on ids.
fn rows(horizon: i64) -> [(&'static str, String); 4] {
    let spans = format!(
        "SELECT s.kind, s.name, t.tid, e.tid AS end_tid, greatest(s.begin_ns, {horizon}) AS begin_ns, s.end_ns, s.status, s.resumed, \
                s.peer_port, s.complete AND s.begin_ns > {horizon} AS complete, s.open, p.kind AS parent, \
                c.peer_port AS connection, c.end_ns AS connection_end \
         FROM spans s JOIN threads t ON t.id = s.thread JOIN threads e ON e.id = s.end_thread \
         LEFT JOIN spans p ON p.id = s.parent LEFT JOIN spans c ON c.id = s.connection WHERE s.end_ns > {horizon}"
    );
    let waits = format!(
        "SELECT w.kind, w.class, w.object, t.tid, o.tid AS owner, greatest(w.begin_ns, {horizon}) AS begin_ns, w.end_ns, w.outcome \
         FROM waits w JOIN threads t ON t.id = w.thread LEFT JOIN threads o ON o.id = w.owner WHERE w.end_ns > {horizon}"
    );
    let vm = format!(
        "SELECT kind, name, cause, greatest(begin_ns, {horizon}) AS begin_ns, end_ns FROM vm WHERE end_ns > {horizon}"
    );
    let breakdown = format!(
        "SELECT s.kind, s.begin_ns, s.end_ns, b.phase, b.cause, b.duration_ns \
         FROM breakdown b JOIN spans s ON s.id = b.span WHERE s.begin_ns > {horizon}"
    );
    [
        ("spans", spans),
        ("waits", waits),
        ("vm", vm),
        ("breakdown", breakdown),
    ]
}

#[test]
fn a_window_has_the_rows_that_the_whole_recording_has_of_its_time() {
    let dir = tempfile::tempdir().expect("a directory");
    let whole = loadline_analyze::testing::built(&raw(), dir.path());
    let db = whole.sql().expect("views");
    let (begin, length) = (whole.meta.begin_ns, whole.meta.duration_ns());
    let mut compared = 0;
    for part in [2, 11, 23, 37, 50, 71, 88] {
        let horizon = begin + length * part / 100;
        let dir = tempfile::tempdir().expect("a directory");
        let window = cut(dir.path(), horizon);
        let of_window = window.sql().expect("views");
        for (table, query) in rows(horizon) {
            let copy = dir.path().join("rows.parquet");
            let copy = copy.display();
            of_window
                .execute_batch(&format!("COPY ({query}) TO '{copy}' (FORMAT parquet)"))
                .unwrap_or_else(|e| panic!("{query}: {e}"));
            let copy = format!("SELECT * FROM read_parquet('{copy}')");
            for (a, b, what) in [(&query, &copy, "missing"), (&copy, &query, "new")] {
                let other = format!("FROM ({a} EXCEPT ALL {b})");
                let n: i64 = db
                    .query_row(&format!("SELECT count(*) {other}"), [], |r| r.get(0))
                    .unwrap_or_else(|e| panic!("{other}: {e}"));
                let example: Option<String> = db
                    .query_row(
                        &format!("SELECT any_value(x)::VARCHAR FROM (SELECT x {other} x)"),
                        [],
                        |r| r.get(0),
                    )
                    .unwrap_or_else(|e| panic!("{other}: {e}"));
                assert_eq!(
                    n, 0,
                    "{table} at {part}%: {n} rows are {what}, as {example:?}"
                );
            }
            compared += db
                .query_row(&format!("SELECT count(*) FROM ({query})"), [], |r| {
                    r.get::<_, i64>(0)
                })
                .expect("a count");
        }
        let open: i64 = of_window
            .query_row(
                &format!(
                    "SELECT count(*) FROM spans WHERE begin_ns = {horizon} AND kind = 'connection'"
                ),
                [],
                |r| r.get(0),
            )
            .expect("a count");
        assert!(
            open > 0,
            "nothing was open at {part}%: the test shows nothing"
        );
        let uneven: i64 = of_window
            .query_row(
                "SELECT count(*) FROM (SELECT s.id FROM spans s JOIN breakdown b ON b.span = s.id \
                 GROUP BY s.id, s.begin_ns, s.end_ns HAVING sum(b.duration_ns) <> s.end_ns - s.begin_ns)",
                [],
                |r| r.get(0),
            )
            .expect("a count");
        assert_eq!(uneven, 0, "breakdowns that do not add up");
    }
    assert!(compared > 1_000, "only {compared} rows were compared");
}
