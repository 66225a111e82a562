//! A trace of schema 1 is read as if it had been written today.
//!
//! The fixture is a recording of the auction site for two seconds, made by the last version that
//! wrote schema 1 (JDK 17, with system calls).

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use common::{loadline, root, run, run_ok, signal, text};
use loadline_trace::{Trace, tables};

fn fixture() -> String {
    root()
        .join("crates/trace/tests/data/schema-1")
        .display()
        .to_string()
}

#[test]
fn it_is_reported() {
    let report = text(&run_ok(&["report", &fixture()]));
    for part in [
        "shop",
        "none lost",
        "requests/s",
        "TLS handshake, full",
        "verdict",
    ] {
        assert!(report.contains(part), "no {part:?} in:\n{report}");
    }
    let json = run_ok(&["report", &fixture(), "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["about"]["events"], 38_934);
    assert_eq!(json["about"]["not_recorded"], serde_json::json!([]));
}

#[test]
fn it_is_diagnosed_and_what_it_lacks_is_said() {
    let json = run_ok(&["diagnose", &fixture(), "--json"]).stdout;
    let found: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let report = run_ok(&["report", &fixture(), "--json"]).stdout;
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(found["verdict"], report["verdict"]["text"], "one verdict");
    assert_eq!(found["confirmed"], report["verdict"]["confirmed"]);
    let findings = found["findings"].as_array().expect("findings");
    let of = |name: &str| {
        let one = findings.iter().find(|f| f["name"] == name);
        one.unwrap_or_else(|| panic!("no {name}"))
    };
    // Counters that schema 1 does not have.
    for name in ["throttled", "accept-overflow"] {
        assert_eq!(of(name)["outcome"], "not_enough_data", "{name}");
        let record = of(name)["record"].as_str().unwrap_or_default();
        assert!(record.contains("counter"), "{name}: {record}");
    }
    assert_eq!(of("hot-lock")["outcome"], "refuted");
    // That version redefined classes when it attached, on a JDK that drops compiled code for it.
    assert_eq!(found["confirmed"], serde_json::json!(["code-thrown-away"]));
    // The number in the text is that of a query which runs by itself.
    let number = of("cpu")["queries"][0].to_string();
    let sql = run_ok(&["diagnose", &fixture(), "--query", &number]).stdout;
    let sql = String::from_utf8(sql).expect("UTF-8");
    let rows = text(&run_ok(&["query", &fixture(), &sql]));
    assert!(rows.contains("seconds"), "{rows}");
    let human = text(&run_ok(&["diagnose", &fixture(), "--sql"]));
    for part in ["symptom", "hypothesis", "not enough data", "verdict", &sql] {
        assert!(
            human.contains(part.lines().next().unwrap_or(part)),
            "no {part:?} in:\n{human}"
        );
    }
    let wrong = run(&["diagnose", &fixture(), "--query", "99"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn it_answers_sql_in_the_present_schema() {
    let query = |sql: &str| String::from_utf8(run_ok(&["query", &fixture(), "--csv", sql]).stdout);
    for table in tables::all() {
        let csv = query(&format!("SELECT * FROM {} LIMIT 1", table.name)).expect("UTF-8");
        let columns: Vec<&str> = table.columns.iter().map(|c| c.name).collect();
        assert_eq!(csv.lines().next(), Some(columns.join(",").as_str()));
    }
    let counts =
        "SELECT count(*) FILTER (open AND NOT complete), count(*) FILTER (open AND complete),
        count(*) FILTER (cpu_ns IS NOT NULL) FROM spans";
    assert_eq!(query(counts).expect("UTF-8").lines().nth(1), Some("6,0,0"));
    // What schema 1 did not tell is not made up.
    let told =
        "SELECT count(*) FILTER (interrupt AND waker_tid <> 0), count(*) FILTER (NOT interrupt),
        count(*) FILTER (interrupt) > 0 FROM states";
    assert_eq!(query(told).expect("UTF-8").lines().nth(1), Some("0,0,true"));
    let empty = "SELECT count(*) FROM mounts UNION ALL SELECT count(*) FROM stacks UNION ALL SELECT count(*) FROM samples";
    assert_eq!(query(empty).expect("UTF-8"), "count_star()\n0\n0\n0\n");
}

#[test]
fn the_viewer_opens_it() {
    let mut server = loadline()
        .args(["open", &fixture(), "--no-browser", "--port", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    let mut stderr = BufReader::new(server.stderr.take().expect("it is piped"));
    stderr.read_line(&mut line).expect("its address");
    let address = line
        .trim()
        .split_once("http://")
        .and_then(|(_, rest)| rest.split('/').next())
        .unwrap_or_else(|| panic!("no address in {line:?}"))
        .to_owned();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        )
        .expect("a request");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("a reply");
        reply
    };
    let states = Trace::open(fixture().as_ref())
        .expect("it opens")
        .meta
        .tables["states"];
    let trace = get("/api/trace");
    let counted = get("/api/query?sql=SELECT%20count(*)%20FROM%20states");
    signal(&server, libc::SIGINT);
    assert!(server.wait().expect("it is ours").success());
    assert!(trace.starts_with("HTTP/1.1 200"), "{trace}");
    assert!(trace.contains("\"schema\":1"), "{trace}");
    assert!(counted.contains(&format!("[[{states}]]")), "{counted}");
}
