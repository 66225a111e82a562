//! Exports of a real recording (a second of the auction site with its system calls, from `crates/analyze/tests/data`),
//! read back by rules of the tools that they are for, and held against SQL over the same trace.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use loadline_export::{Format, Written, export};
use loadline_trace::Trace;
use loadline_trace::duckdb::Connection;
use loadline_trace::spool::agent::kind as ev;

/// The trace, built once.
fn trace() -> &'static Trace {
    static TRACE: OnceLock<(tempfile::TempDir, Trace)> = OnceLock::new();
    let (_, trace) = TRACE.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a directory");
        let fixture = root().join("crates/analyze/tests/data/shop/raw");
        let trace = loadline_analyze::testing::built(&fixture, dir.path());
        (dir, trace)
    });
    trace
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn exported(format: Format, name: &str) -> (tempfile::TempDir, PathBuf, Written) {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join(name);
    let mut last = (0, 0);
    let written = export(trace(), format, &out, &mut |done, total| {
        last = (done, total)
    })
    .expect("it is exported");
    assert_eq!(last.0, last.1, "progress ends at its total");
    let left: Vec<_> = std::fs::read_dir(dir.path()).expect("it").collect();
    assert_eq!(left.len(), 1, "no temporary file is left: {left:?}");
    (dir, out, written)
}

fn rows<T>(sql: &str, of: impl Fn(&loadline_trace::duckdb::Row) -> T) -> Vec<T> {
    let db = trace().sql().expect("views");
    let mut statement = db.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let rows = statement.query_map([], |r| Ok(of(r))).expect("rows");
    rows.map(|r| r.expect("a row")).collect()
}

fn count(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |r| r.get(0))
        .unwrap_or_else(|e| panic!("{sql}: {e}"))
}

fn skip(test: &str, why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIP {test}: {why}");
}

/// A `.prv` and its companions, read by the rules of paraver-kernel: `traceheader`, `tracebodyio_v1`, `rowfileparser`,
/// `pcffileparser`.
struct Prv {
    end: i64,
    threads: usize,
    /// Time per thread (from 1) and state.
    states: BTreeMap<(usize, i64), i64>,
    /// Events per type.
    events: HashMap<i64, Vec<(usize, i64, i64)>>,
    communications: usize,
}

fn prv(path: &Path) -> Prv {
    let text = std::fs::read_to_string(path).expect("the records");
    let mut lines = text.lines();
    let header = lines.next().expect("a header");
    let rest = header.strip_prefix("#Paraver (").expect("its magic");
    let (date, rest) = rest.split_once("):").expect("a date");
    assert_eq!(date.len(), "22/11/2026 at 23:59".len(), "{date}");
    let parts: Vec<&str> = rest.split(':').collect();
    let [end, nodes, appls, tasks, threads] = parts[..] else {
        panic!("{header}");
    };
    let end: i64 = end
        .strip_suffix("_ns")
        .expect("ns")
        .parse()
        .expect("a time");
    let cpus: i64 = nodes
        .strip_prefix("1(")
        .and_then(|n| n.strip_suffix(')'))
        .expect("one node")
        .parse()
        .expect("its CPUs");
    // `1:1(threads:node)`, split at the colons.
    assert_eq!((appls, &tasks[..2], threads), ("1", "1(", "1)"));
    let threads: usize = tasks[2..].parse().expect("threads");

    let mut found = Prv {
        end,
        threads,
        states: BTreeMap::new(),
        events: HashMap::new(),
        communications: 0,
    };
    let mut last = 0;
    for line in lines {
        let n: Vec<i64> = line
            .split(':')
            .map(|n| n.parse().unwrap_or_else(|e| panic!("{line}: {e}")))
            .collect();
        let located = |at: usize| {
            assert!((0..=cpus).contains(&n[at]), "{line}: its CPU");
            assert_eq!((n[at + 1], n[at + 2]), (1, 1), "{line}");
            let thread = n[at + 3] as usize;
            assert!((1..=threads).contains(&thread), "{line}: its thread");
            thread
        };
        let thread = located(1);
        let ts = n[5];
        assert!(
            ts >= last && ts <= end,
            "{line}: after {last}, within {end}"
        );
        last = ts;
        match n[0] {
            1 => {
                assert_eq!(n.len(), 8, "{line}");
                assert!(n[6] >= ts && n[6] <= end && n[7] >= 1, "{line}");
                *found.states.entry((thread, n[7])).or_default() += n[6] - ts;
            }
            2 => {
                assert!(n.len() >= 8 && n.len().is_multiple_of(2), "{line}");
                for pair in n[6..].chunks(2) {
                    let of = found.events.entry(pair[0]).or_default();
                    of.push((thread, ts, pair[1]));
                }
            }
            3 => {
                assert_eq!(n.len(), 15, "{line}");
                located(7);
                found.communications += 1;
            }
            kind => panic!("{line}: a record of kind {kind}"),
        }
    }
    found
}

/// Labels of the `.pcf`: types of events, and the values that have a label.
fn pcf(path: &Path) -> HashMap<i64, (String, HashSet<i64>)> {
    let text = std::fs::read_to_string(path).expect("the labels");
    let (mut labels, mut current) = (HashMap::new(), Vec::new());
    let mut section = "";
    for line in text.lines().filter(|l| !l.is_empty()) {
        assert!(
            !line.trim().is_empty(),
            "paraver-kernel falls over a line of spaces"
        );
        if ["EVENT_TYPE", "VALUES", "STATES", "STATES_COLOR"].contains(&line) {
            section = line;
            if line == "EVENT_TYPE" {
                current.clear();
            }
            continue;
        }
        let number = |text: &str| -> i64 { text.parse::<i32>().expect("an int").into() };
        match section {
            "EVENT_TYPE" => {
                let mut parts = line.splitn(3, ' ');
                assert_eq!(parts.next(), Some("0"), "{line}");
                let kind = number(parts.next().expect("a type"));
                let label = parts.next().expect("a label").to_owned();
                assert!(
                    labels.insert(kind, (label, HashSet::new())).is_none(),
                    "{line} twice"
                );
                current.push(kind);
            }
            "VALUES" => {
                let value = number(line.split(' ').next().expect("a value"));
                for kind in &current {
                    labels.get_mut(kind).expect("it").1.insert(value);
                }
            }
            _ => {}
        }
    }
    labels
}

#[test]
fn paraver_has_every_state_event_and_wake_up_of_the_trace() {
    let (_dir, out, written) = exported(Format::Paraver, "shop.paraver");
    assert!(written.notes.is_empty(), "{:?}", written.notes);
    let file = |ending: &str| out.join(format!("shop.{ending}"));
    let prv = prv(&file("prv"));
    assert_eq!(prv.end, trace().meta.duration_ns());

    // Rows: the names of the threads with a kernel id.
    let row = std::fs::read_to_string(file("row")).expect("the names");
    let names: Vec<&str> = row
        .split_once("LEVEL THREAD SIZE ")
        .expect("threads")
        .1
        .lines()
        .skip(1)
        .collect();
    assert_eq!(names.len(), prv.threads);
    let of_rows = rows(
        "SELECT id, name FROM threads WHERE kind <> 'virtual' ORDER BY name, id",
        |r| {
            (
                r.get::<_, i64>(0).expect("id"),
                r.get::<_, String>(1).expect("name"),
            )
        },
    );
    assert_eq!(of_rows.len() + 1, names.len(), "and the virtual machine's");
    let row_of: HashMap<i64, usize> = of_rows
        .iter()
        .zip(1..)
        .map(|((id, _), row)| (*id, row))
        .collect();

    // Sums of states per thread are SQL's, to the nanosecond.
    let codes = [
        "running",
        "runnable",
        "preempted",
        "blocked",
        "uninterruptible",
        "unknown",
    ];
    let want: BTreeMap<(usize, i64), i64> = rows(
        "SELECT thread, state, sum(end_ns - begin_ns)::BIGINT FROM states GROUP BY ALL",
        |r| {
            let state: String = r.get(1).expect("state");
            let code = codes.iter().position(|c| *c == state).expect("a state") as i64 + 1;
            (
                (row_of[&r.get::<_, i64>(0).expect("thread")], code),
                r.get(2).expect("ns"),
            )
        },
    )
    .into_iter()
    .collect();
    assert!(want.len() > 50, "the recording has states");
    assert_eq!(prv.states, want);

    let db = trace().sql().expect("views");
    let wakes = "SELECT count(*) FROM states WHERE waker IS NOT NULL";
    assert_eq!(prv.communications as i64, count(&db, wakes));
    // Every span, wait and system call begins once; what ends it is the value that holds after it.
    let begun = |kind: i64| prv.events[&kind].iter().filter(|(.., v)| *v != 0).count() as i64;
    let requests = "SELECT count(*) FROM spans WHERE kind = 'request'";
    assert_eq!(begun(2003), count(&db, requests));
    assert_eq!(begun(3000), count(&db, "SELECT count(*) FROM waits"));
    assert_eq!(begun(4000), count(&db, "SELECT count(*) FROM syscalls"));

    // Whatever has names has one for every value.
    let labels = pcf(&file("pcf"));
    for (kind, events) in &prv.events {
        let (label, values) = labels
            .get(kind)
            .unwrap_or_else(|| panic!("type {kind} has no label"));
        for (.., value) in events.iter().filter(|_| !values.is_empty()) {
            assert!(values.contains(value), "{label}: {value}");
        }
    }
    assert!(out.join("system-calls-with-connection.cfg").is_file());
}

/// The tables that paraver-kernel's own command-line analyser computes with our views are SQL's.
#[test]
fn paraver_itself_computes_what_sql_does() {
    let test = "paraver_itself_computes_what_sql_does";
    let analyser = std::env::var("PARAMEDIR").unwrap_or_else(|_| "paramedir".into());
    if Command::new(&analyser).arg("--version").output().is_err() {
        return skip(
            test,
            "paramedir (of paraver-kernel) is not installed; PARAMEDIR may name it",
        );
    }
    let (_dir, out, _) = exported(Format::Paraver, "shop.paraver");
    let table = |view: &str| -> Vec<(String, Vec<f64>)> {
        let csv = out.join(format!("{view}.csv"));
        let said = Command::new(&analyser)
            .current_dir(&out)
            .arg("shop.prv")
            .arg(format!("{view}.cfg"))
            .arg(csv.file_name().expect("a name"))
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(!text.contains("rror"), "{view}: {text}");
        let csv = std::fs::read_to_string(&csv).unwrap_or_else(|e| panic!("{view}: {e} {text}"));
        // A header, a line per row, an empty line, totals.
        csv.lines()
            .skip(1)
            .take_while(|l| !l.trim().is_empty())
            .map(|l| {
                let mut cells = l.split('\t');
                let name = cells.next().expect("a name").to_owned();
                (name, cells.filter_map(|c| c.trim().parse().ok()).collect())
            })
            .collect()
    };
    let states = table("time-per-state");
    let sums: HashMap<String, f64> = rows(
        "SELECT t.name, sum(s.end_ns - s.begin_ns)::DOUBLE FROM states s JOIN threads t ON t.id = s.thread GROUP BY t.name",
        |r| (r.get(0).expect("name"), r.get(1).expect("ns")),
    )
    .into_iter()
    .collect();
    let mut by_name: HashMap<String, f64> = HashMap::new();
    for (name, cells) in &states {
        *by_name.entry(name.clone()).or_default() += cells.iter().sum::<f64>();
    }
    for (name, want) in &sums {
        let got = by_name.get(name).copied().unwrap_or(0.0);
        // It prints microseconds with two digits, per state.
        assert!(
            (got * 1e3 - want).abs() <= 60.0,
            "{name}: {got} µs is not {want} ns"
        );
    }
    for view in std::fs::read_dir(&out).expect("the views") {
        let view = view.expect("an entry").path();
        if view.extension().is_some_and(|e| e == "cfg") {
            table(view.file_stem().and_then(|s| s.to_str()).expect("a name"));
        }
    }
}

/// Perfetto's own messages read it, and it holds what SQL says.
#[test]
fn perfetto_reads_every_slice_switch_and_counter() {
    let test = "perfetto_reads_every_slice_switch_and_counter";
    let packages = Command::new(root().join("scripts/python-packages"))
        .args(["perfetto==0.59.1", "protobuf"])
        .output()
        .expect("the script starts");
    if !packages.status.success() {
        return skip(test, String::from_utf8_lossy(&packages.stderr).trim());
    }
    let (_dir, out, _) = exported(Format::Perfetto, "shop.pftrace");
    let said = Command::new("python3")
        .env(
            "PYTHONPATH",
            String::from_utf8_lossy(&packages.stdout).trim(),
        )
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_perfetto.py"))
        .arg(&out)
        .output()
        .expect("python starts");
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let seen: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");

    let db = trace().sql().expect("views");
    let same = |what: &serde_json::Value, sql: &str| {
        assert_eq!(what.as_i64().unwrap_or(0), count(&db, sql), "{sql}");
    };
    same(
        &seen["threads"],
        "SELECT count(*) FROM threads WHERE tid IS NOT NULL",
    );
    for kind in ["request", "service", "sql", "tls_handshake"] {
        let pieces = format!(
            "SELECT count(*) FROM spans s LEFT JOIN segments g ON g.span = s.id WHERE s.kind = '{kind}'"
        );
        same(&seen["slices"][kind], &pieces);
        let ns = format!(
            "SELECT sum(coalesce(g.end_ns, s.end_ns) - coalesce(g.begin_ns, s.begin_ns))::BIGINT
             FROM spans s LEFT JOIN segments g ON g.span = s.id WHERE s.kind = '{kind}'"
        );
        same(&seen["ns"][kind], &ns);
    }
    same(&seen["slices"]["syscall"], "SELECT count(*) FROM syscalls");
    same(
        &seen["ns"]["cause"],
        "SELECT sum(end_ns - begin_ns)::BIGINT FROM states WHERE cause NOT IN ('running', 'runnable')",
    );
    // A thread that runs to the end of the recording is never switched out.
    let begin = trace().meta.begin_ns;
    let end = trace().meta.end_ns;
    let mut threads = 0;
    for (tid, ns) in rows(
        &format!("SELECT t.tid, sum(s.end_ns - s.begin_ns)::BIGINT FROM states s JOIN threads t ON t.id = s.thread
             WHERE s.state = 'running' AND s.cpu IS NOT NULL AND s.begin_ns > {begin} AND s.end_ns < {end} GROUP BY 1"),
        |r| (r.get::<_, i32>(0).expect("tid"), r.get::<_, i64>(1).expect("ns")),
    ) {
        let seen = seen["running_ns"][tid.to_string()].as_i64().unwrap_or(0);
        assert!((seen - ns).abs() <= 2_000_000, "thread {tid}: {seen} is not {ns}");
        threads += 1;
    }
    assert!(threads > 5, "{threads} threads ran");
    assert!(seen["wakings"].as_i64() > Some(100), "{}", seen["wakings"]);
    let counters = seen["counters"].as_object().expect("counters").len() as i64;
    assert_eq!(
        counters,
        count(&db, "SELECT count(DISTINCT (scope, name)) FROM counters")
    );
    assert_eq!(seen["clocks"]["3"].as_i64(), Some(begin));
}

#[test]
fn firefox_has_a_marker_per_span_and_wait_and_samples_of_every_thread() {
    let (_dir, out, _) = exported(Format::Firefox, "shop.json");
    let file = std::fs::File::open(&out).expect("the file");
    let profile: serde_json::Value = serde_json::from_reader(file).expect("JSON");
    assert!(profile["meta"]["preprocessedProfileVersion"].as_i64() >= Some(55));
    let threads = profile["threads"].as_array().expect("threads");
    let db = trace().sql().expect("views");
    let platform = count(&db, "SELECT count(*) FROM threads WHERE kind <> 'virtual'");
    assert_eq!(threads.len() as i64, platform + 2);
    let (mut requests, mut all) = (0, 0);
    for thread in threads {
        let markers = &thread["markers"];
        let column = |name: &str| markers[name].as_array().unwrap_or_else(|| panic!("{name}"));
        let n = markers["length"].as_u64().expect("a length") as usize;
        for name in ["name", "startTime", "endTime", "phase", "category", "data"] {
            assert_eq!(column(name).len(), n, "{name}");
        }
        let strings = thread["stringArray"]
            .as_array()
            .or_else(|| profile["shared"]["stringArray"].as_array())
            .expect("strings");
        let named = |i: &serde_json::Value| strings[i.as_u64().expect("an index") as usize].clone();
        requests += column("name")
            .iter()
            .filter(|n| named(n) == "request")
            .count() as i64;
        all += n as i64;
    }
    let requests_sql =
        "SELECT count(*) FROM spans s LEFT JOIN segments g ON g.span = s.id WHERE kind = 'request'";
    assert_eq!(requests, count(&db, requests_sql));
    let all_sql = "SELECT (SELECT count(*) FROM spans s LEFT JOIN segments g ON g.span = s.id)
        + (SELECT count(*) FROM waits) + (SELECT count(*) FROM vm) + (SELECT count(*) FROM marks)";
    assert_eq!(all, count(&db, all_sql));
}

#[test]
fn where_stacks_were_taken_there_are_graphs_of_the_code_that_waited_and_that_allocated() {
    let mut r = loadline_analyze::testing::Recording::new(0, 100_000_000);
    let stack = r
        .agent
        .stack(&[("java.lang.Thread.run", 840), ("shop.Cache.get", 31)]);
    r.agent.event(11, 1_000_000, ev::THREAD, 21, 0, "exec-1");
    r.agent
        .event(11, 10_000_000, ev::MONITOR_ENTER, 99, 0, "shop.Cache");
    r.agent
        .event(11, 62_000_000, ev::MONITOR_ENTERED, 99, stack, "shop.Cache")
        .event(11, 70_000_000, ev::ALLOCATION, 65_600, stack | 128, "[B");
    let dir = tempfile::tempdir().expect("a directory");
    r.write(dir.path()).expect("spools");
    loadline_analyze::build(dir.path(), false, &mut |_, _| {}).expect("a trace");
    let trace = Trace::open(dir.path()).expect("it opens");
    let out = dir.path().join("flame");
    let written = export(&trace, Format::Flame, &out, &mut |_, _| {}).expect("it is exported");
    assert_eq!(written.files.len(), 6, "{:?}", written.files);
    let folded = std::fs::read_to_string(out.join("off-cpu.folded")).expect("stacks");
    assert_eq!(
        folded,
        "off CPU;java.lang.Thread.run;shop.Cache.get;lock 52000\n"
    );
    let page = std::fs::read_to_string(out.join("off-cpu.html")).expect("the page");
    assert!(page.contains("\"shop.Cache.get\""));
    let folded = std::fs::read_to_string(out.join("allocations.folded")).expect("stacks");
    assert_eq!(folded, "java.lang.Thread.run;shop.Cache.get;byte[] 65600\n");
    let page = std::fs::read_to_string(out.join("allocations.html")).expect("the page");
    assert!(page.contains("unit = \"bytes\""));
}

#[test]
fn a_flame_graph_adds_up_and_needs_no_other_file() {
    let (_dir, out, written) = exported(Format::Flame, "shop.flame");
    assert!(written.notes[0].contains("call stacks were not recorded"));
    let folded = std::fs::read_to_string(out.join("stacks.folded")).expect("stacks");
    let sum: i64 = folded
        .lines()
        .map(|l| {
            l.rsplit_once(' ')
                .expect("a time")
                .1
                .parse::<i64>()
                .expect("a number")
        })
        .sum();
    let db = trace().sql().expect("views");
    let want = count(
        &db,
        "SELECT sum(duration_ns)::BIGINT // 1000 FROM breakdown WHERE kind IN ('request', 'tls_handshake')",
    );
    // Each line is rounded down to a microsecond.
    let lines = folded.lines().count() as i64;
    assert!(
        lines > 10 && sum <= want && sum >= want - 2 * lines,
        "{sum} of {want}"
    );
    let page = std::fs::read_to_string(out.join("index.html")).expect("the page");
    assert!(page.contains("\"socket\"") && !page.contains("/*DATA*/"));
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("src="));
}

#[test]
fn csv_has_every_row_of_every_table() {
    let (_dir, out, _) = exported(Format::Csv, "shop.csv");
    let db = trace().sql().expect("views");
    for (table, want) in &trace().meta.tables {
        let file = out.join(format!("{table}.csv"));
        let read = format!(
            "SELECT count(*) FROM read_csv('{}', header = true)",
            file.display()
        );
        assert_eq!(count(&db, &read), *want as i64, "{table}");
    }
}

#[test]
fn what_is_there_already_is_not_overwritten() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("shop.pftrace");
    std::fs::write(&out, "mine").expect("written");
    let e = export(trace(), Format::Perfetto, &out, &mut |_, _| {}).expect_err("it is there");
    assert!(e.to_string().contains("exists already"), "{e}");
    assert_eq!(std::fs::read_to_string(&out).expect("it is there"), "mine");
}
