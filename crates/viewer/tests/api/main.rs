//! What the server answers about a trace.

mod search;
#[path = "../support/site.rs"]
mod site;
#[path = "../support/mod.rs"]
mod support;
mod why;

use serde_json::Value;
use site::{get, site};

#[test]
fn wrong_parameters_are_answered_with_400_and_what_they_must_be() {
    for (path, expected) in [
        ("/api/lanes?begin=0&end=9&px=0&threads=1", "px is 0"),
        (
            "/api/lanes?begin=9&end=9&px=5&threads=1",
            "begin must be before end",
        ),
        ("/api/lanes?begin=0&end=9&px=5", "threads is missing"),
        ("/api/lanes?begin=0&end=9&px=5&threads=a", "\"a\""),
        (
            "/api/spans?begin=0&end=9&px=99999&threads=1",
            "from 1 to 16384",
        ),
        ("/api/at?thread=14", "t is missing"),
        ("/api/at?thread=x&t=1", "whole number"),
        ("/api/requests?sort=size", "duration, begin, name or thread"),
        ("/api/requests?limit=9999", "from 1 to 500"),
        ("/api/waterfall?id=x", "whole number"),
        ("/api/chain?thread=14", "t is missing"),
        ("/api/locks?by=name", "class or object"),
        ("/api/search", "q is missing"),
        ("/api/overview?bins=0", "from 1 to 4000"),
        ("/api/query?sql=", "empty"),
    ] {
        let reply = get(path);
        assert_eq!(reply.status, 400, "{path}");
        assert!(
            reply.message().contains(expected),
            "{path}: {}",
            reply.message()
        );
    }
    for path in [
        "/api/at?thread=999&t=1",
        "/api/at?thread=14&t=-5",
        "/api/nothing",
        "/api/span?id=99999999",
        "/api/waterfall?id=99999999",
    ] {
        assert_eq!(get(path).status, 404, "{path}");
    }
}

#[test]
fn sql_is_one_select_over_the_trace_and_nothing_else() {
    let query = |sql: &str| {
        get(&format!(
            "/api/query?sql={}",
            sql.replace('%', "%25")
                .replace(' ', "%20")
                .replace('+', "%2b")
        ))
    };
    let target = site().dir.join("written.csv");
    let states = site().dir.join("t.trace/states.parquet");
    let before = std::fs::read(&states).expect("the table");
    for sql in [
        format!("COPY (SELECT 1) TO '{}'", target.display()),
        format!("COPY (SELECT 1) TO '{}'", states.display()),
        format!("SELECT 1; COPY (SELECT 1) TO '{}'", target.display()),
        format!(
            "SELECT 1') LIMIT 1; COPY (SELECT 1) TO '{}'; SELECT * FROM query('SELECT 2",
            target.display()
        ),
        "SELECT * FROM read_text('/etc/passwd')".to_string(),
        "SELECT * FROM '/etc/passwd'".to_string(),
        format!(
            "SELECT * FROM read_text('{}')",
            site().dir.join("secret.txt").display()
        ),
        "SELECT * FROM glob('/etc/*')".to_string(),
        "ATTACH '/tmp/x.db'".to_string(),
        "SET enable_external_access = true".to_string(),
        "DROP VIEW states".to_string(),
        "INSTALL httpfs".to_string(),
        "SELECT nothing FROM states".to_string(),
    ] {
        let reply = query(&sql);
        assert_eq!(
            reply.status,
            400,
            "{sql}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        assert!(!reply.message().is_empty());
    }
    assert!(!target.exists());
    assert_eq!(std::fs::read(&states).expect("the table"), before);
    let reply = query(
        "SELECT kind, count(*) AS n, sum(end_ns - begin_ns) / 1e9 AS s, 'it''s' AS text, NULL AS nothing FROM spans WHERE kind = 'request' GROUP BY ALL;",
    );
    assert_eq!(
        reply.status,
        200,
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
    let answer = reply.json();
    assert_eq!(
        answer["columns"],
        serde_json::json!(["kind", "n", "s", "text", "nothing"])
    );
    assert_eq!(answer["rows"][0][0], "request");
    assert!(answer["rows"][0][1].as_i64() > Some(100));
    assert_eq!(answer["rows"][0][3], "it's");
    assert_eq!(answer["rows"][0][4], Value::Null);
}

#[test]
fn an_answer_has_at_most_5000_rows_and_says_that_there_are_more() {
    let answer = get("/api/query?sql=SELECT%20*%20FROM%20range(6000)").json();
    assert_eq!(answer["rows"].as_array().map(Vec::len), Some(5000));
    assert_eq!(answer["more"], true);
}

/// Time per class of one lane, and how many columns its bytes describe.
fn decode(bytes: &[u8]) -> Vec<(i32, Vec<f64>, usize)> {
    let mut lanes = Vec::new();
    let mut rest = bytes;
    let mut take = |n: usize| {
        let (head, tail) = rest.split_at(n);
        rest = tail;
        (head.to_vec(), tail.is_empty())
    };
    loop {
        let thread = i32::from_le_bytes(take(4).0.try_into().expect("four bytes"));
        let times = (0..12)
            .map(|_| f64::from_le_bytes(take(8).0.try_into().expect("eight bytes")))
            .collect();
        let length = u32::from_le_bytes(take(4).0.try_into().expect("four bytes")) as usize;
        let (columns, last) = take(length);
        lanes.push((thread, times, count(&columns)));
        if last {
            return lanes;
        }
    }
}

fn count(bytes: &[u8]) -> usize {
    let (mut at, mut columns) = (0, 0);
    while at < bytes.len() {
        let n = u16::from_le_bytes([bytes[at + 1], bytes[at + 2]]) as usize;
        let mixed = bytes[at] == 255;
        at += 3;
        columns += n;
        for _ in 0..if mixed { n } else { 0 } {
            let parts = bytes[at] as usize;
            let sum: usize = (0..parts).map(|k| bytes[at + 2 + 2 * k] as usize).sum();
            assert_eq!(sum, 255, "the shares of a mixture");
            at += 1 + 2 * parts;
        }
    }
    columns
}

#[test]
fn lanes_have_a_column_per_pixel_at_any_zoom_and_their_times_add_up() {
    for (begin, end) in [
        (0i64, 3_000_000_000i64),
        (-500, 1_000),
        (1_000_000_000, 1_000_000_700),
        (2_900_000_000, 9_000_000_000),
    ] {
        let lanes = decode(
            &get(&format!(
                "/api/lanes?begin={begin}&end={end}&px=777&threads=14,0,-1,15"
            ))
            .body,
        );
        assert_eq!(
            lanes.iter().map(|l| l.0).collect::<Vec<_>>(),
            [14, 0, -1, 15]
        );
        for (thread, times, columns) in lanes {
            assert_eq!(columns, 777, "thread {thread}");
            assert_eq!(
                times.iter().sum::<f64>(),
                (end - begin) as f64,
                "thread {thread}"
            );
        }
    }
}

/// Each row's bars (begin, end, kind, name, id) and thin columns (column, kind, coverage), by thread.
type Spans = Vec<(i64, Vec<(Vec<[i64; 5]>, Vec<[u16; 3]>)>)>;

fn decode_spans(bytes: &[u8]) -> (Vec<String>, Spans) {
    let length = u32::from_le_bytes(bytes[..4].try_into().expect("a length")) as usize;
    let told: Value = serde_json::from_slice(&bytes[4..4 + length]).expect("JSON");
    let mut at = (4 + length).next_multiple_of(4);
    assert!(bytes[4 + length..at].iter().all(|b| *b == b' '));
    let mut columns = |n: u64| {
        let taken = &bytes[at..at + 4 * n as usize];
        at += taken.len();
        let column = |c: &[u8]| [u16::from_le_bytes([c[0], c[1]]), c[2].into(), c[3].into()];
        taken.chunks_exact(4).map(column).collect::<Vec<_>>()
    };
    let list = |v: &Value| v.as_array().expect("a list").clone();
    let mut lanes = Vec::new();
    for lane in list(&told["lanes"]) {
        let mut rows = Vec::new();
        for row in list(&lane["rows"]) {
            let numbers: Vec<i64> = list(&row["bars"])
                .iter()
                .map(|n| n.as_i64().expect("a number"))
                .collect();
            let bars = numbers
                .chunks_exact(5)
                .map(|b| b.try_into().expect("five"))
                .collect();
            rows.push((bars, columns(row["thin"].as_u64().expect("a number"))));
        }
        lanes.push((lane["thread"].as_i64().expect("a thread"), rows));
    }
    assert_eq!(at, bytes.len(), "nothing is left");
    let names = list(&told["names"]);
    let text = |n: &Value| n.as_str().expect("a name").to_string();
    (names.iter().map(text).collect(), lanes)
}

#[test]
fn spans_are_bars_where_they_are_a_pixel_wide_and_thin_columns_where_not() {
    let asked = "/api/query?sql=SELECT%20id,thread,t(begin_ns)*1e9,t(end_ns)*1e9,name%20FROM%20spans%20WHERE%20kind='request'%20AND%20complete%20ORDER%20BY%20id%20LIMIT%201";
    let row = get(asked).json()["rows"][0].clone();
    let (id, thread) = (
        row[0].as_i64().expect("an id"),
        row[1].as_i64().expect("a thread"),
    );
    let (begin, end) = (
        row[2].as_f64().expect("a time").round() as i64,
        row[3].as_f64().expect("a time").round() as i64,
    );
    let of = |begin: i64, end: i64, threads: &str| {
        let path = format!("/api/spans?begin={begin}&end={end}&px=777&threads={threads}");
        decode_spans(&get(&path).body)
    };
    let (names, lanes) = of(begin, end, &format!("{thread}"));
    let bars: Vec<_> = lanes[0].1.iter().flat_map(|(bars, _)| bars).collect();
    let bar = bars.iter().find(|b| b[4] == id).expect("the request");
    assert_eq!(&bar[..2], [begin, end]);
    assert_eq!(Some(names[bar[3] as usize].as_str()), row[4].as_str());

    // From far away, of more threads than are worth one CPU.
    let workers: Vec<String> = (14..22).map(|t| t.to_string()).collect();
    let many = [workers.as_slice(), &workers, &workers, &workers].concat();
    let (_, lanes) = of(0, 3_000_000_000, &many.join(","));
    let told: Vec<String> = lanes.iter().map(|(t, _)| t.to_string()).collect();
    assert_eq!(told, many);
    let thin = |n: usize| lanes[n].1.iter().map(|row| row.1.len()).sum::<usize>();
    assert!(thin(0) > 0);
    let kinds = get("/api/trace").json()["kinds"]
        .as_array()
        .map_or(0, Vec::len) as u16;
    assert_eq!(thin(0), thin(24), "of the same thread the same");
    for (_, thin) in lanes.iter().flat_map(|(_, rows)| rows) {
        assert!(thin.windows(2).all(|pair| pair[0][0] < pair[1][0]));
        let is_sane = |c: &[u16; 3]| c[0] < 777 && c[1] < kinds && c[2] > 0;
        assert!(thin.iter().all(is_sane));
    }
}

#[test]
fn a_moment_on_a_cpu_has_the_code_that_was_sampled_in_it() {
    let found = get("/api/query?sql=SELECT%20p.thread,t(s.begin_ns)*1e9,t(s.end_ns)*1e9%20FROM%20samples%20p%20JOIN%20states%20s%20ON%20s.thread=p.thread%20AND%20s.begin_ns%3C=p.ts_ns%20AND%20s.end_ns%3Ep.ts_ns").json();
    let row = &found["rows"][0];
    let at = |thread: &serde_json::Value, t: f64| {
        get(&format!("/api/at?thread={thread}&t={}", t.round() as i64)).json()
    };
    let number = |i: usize| row[i].as_f64().expect("a time");
    let moment = at(&row[0], number(1) + 10.0);
    assert_eq!(moment["class"], "running");
    assert_eq!(moment["code"], "shop.ItemService.show:52");
    assert_eq!(moment["stack"].as_array().map(Vec::len), Some(2));
    let after = at(&row[0], number(2) + 10.0);
    assert_eq!(after["code"], serde_json::Value::Null, "{after}");
}

#[test]
fn a_moment_within_a_wait_names_lock_owner_and_waker() {
    let found = get("/api/query?sql=SELECT%20thread,t(begin_ns)*1e9,end_ns-begin_ns,waker%20FROM%20states%20WHERE%20cause='lock'%20ORDER%20BY%203%20DESC%20LIMIT%201").json();
    let (thread, begin) = (
        found["rows"][0][0].as_i64().expect("a lock"),
        found["rows"][0][1].as_f64().expect("a time"),
    );
    let moment = get(&format!("/api/at?thread={thread}&t={}", begin as i64 + 10)).json();
    assert_eq!(moment["class"], "lock");
    assert_eq!(moment["wait"]["class"], "shop.ItemCache");
    assert_eq!(moment["waker"]["thread"], found["rows"][0][3]);
    assert_eq!(moment["notifier_name"], moment["waker"]["name"]);
    assert_eq!(moment["code"], "shop.ItemCache.get:31");
    assert_eq!(moment["stack"][0], "shop.ItemCache.get:31");
    assert_eq!(moment["stack"][2], "java.lang.Thread.run:840");
    assert!(
        moment["owner_name"]
            .as_str()
            .is_some_and(|n| n.contains("exec"))
    );
    assert_eq!(
        moment["end"]
            .as_i64()
            .zip(moment["begin"].as_i64())
            .map(|(e, b)| e - b),
        found["rows"][0][2].as_i64()
    );
    let kinds: Vec<_> = moment["spans"]
        .as_array()
        .expect("spans")
        .iter()
        .map(|s| s["kind"].clone())
        .collect();
    assert_eq!(kinds[..3], ["connection", "request", "service"]);
}

#[test]
fn requests_come_slowest_first_and_their_causes_add_up() {
    let answer = get("/api/requests?limit=50").json();
    let requests = answer["requests"].as_array().expect("requests");
    assert_eq!(requests.len(), 50);
    let length = |r: &Value| {
        r["end"]
            .as_i64()
            .zip(r["begin"].as_i64())
            .map(|(e, b)| e - b)
    };
    assert!(requests.windows(2).all(|w| length(&w[0]) >= length(&w[1])));
    for request in requests.iter().filter(|r| r["complete"] == true) {
        let sum: i64 = request["causes"]
            .as_array()
            .expect("causes")
            .iter()
            .filter_map(|c| c[1].as_i64())
            .sum();
        assert_eq!(Some(sum), length(request));
    }
    let early = get("/api/requests?begin=0&end=1000000000&sort=begin").json();
    assert!(early["total"].as_i64() < answer["total"].as_i64());
}

#[test]
fn the_diagnosis_is_that_of_the_command_and_its_queries_run_on_the_page() {
    let told = get("/api/diagnosis").json();
    let findings = told["findings"].as_array().expect("findings");
    assert!(findings.len() > 15);
    let confirmed: Vec<_> = findings
        .iter()
        .filter(|f| f["outcome"] == "confirmed")
        .map(|f| f["name"].clone())
        .collect();
    assert_eq!(told["confirmed"], Value::Array(confirmed));
    assert!(told["verdict"].as_str().is_some_and(|v| v.ends_with('.')));
    // Views and all: what the page offers to run is what was run.
    let locks = told["queries"]
        .as_array()
        .and_then(|q| q.iter().find(|q| q["name"] == "locks"))
        .expect("the query of the locks");
    let sql: String = locks["sql"]
        .as_str()
        .expect("SQL")
        .bytes()
        .map(|b| format!("%{b:02x}"))
        .collect();
    assert!(get(&format!("/api/query?sql={sql}")).json()["rows"].is_array());
}

#[test]
fn the_matrix_of_all_and_the_overview_agree_with_the_figures() {
    let (trace, matrix, overview) = (
        get("/api/trace").json(),
        get("/api/matrix").json(),
        get("/api/overview?bins=30").json(),
    );
    let count = matrix["counts"]
        .as_array()
        .expect("counts")
        .iter()
        .find(|c| c[0] == "request")
        .expect("requests")[1]
        .clone();
    assert_eq!(trace["figures"]["requests"], count);
    let mean = |v: &Value| {
        v.as_array()
            .map(|a| a.iter().filter_map(Value::as_f64).sum::<f64>() / a.len() as f64)
            .expect("numbers")
    };
    let close = |a: f64, b: &Value| (a - b.as_f64().expect("a number")).abs() < 1e-6 * a.abs();
    assert!(close(
        mean(&overview["requests_per_second"]),
        &trace["figures"]["requests_per_second"]
    ));
    assert!(close(mean(&overview["cpu"]), &trace["figures"]["cpu"]));
    let slowest = overview["slowest_ns"]
        .as_array()
        .expect("numbers")
        .iter()
        .filter_map(Value::as_i64)
        .max();
    let whole =
        &rows("SELECT max(end_ns - begin_ns) FROM spans WHERE kind = 'request' AND complete")[0][0];
    assert_eq!(slowest, whole.as_i64());
}

#[test]
fn counters_are_told_by_role_and_grow_by_all_that_was_read() {
    let told = get("/api/counters?bins=2").json();
    assert_eq!(told["roles"], serde_json::json!(["workers", "gc"]));
    assert_eq!(told["times"].as_array().map(Vec::len), Some(3));
    let lanes = told["lanes"].as_array().expect("lanes");
    let names: Vec<_> = lanes.iter().filter_map(|l| l["name"].as_str()).collect();
    assert_eq!(names, ["cpu_ns", "minor_faults"]);
    let grown = lanes[0]["grown"][0].as_array().expect("values");
    let sum: f64 = grown.iter().filter_map(Value::as_f64).sum();
    assert_eq!(sum, 3.0 * 6e8, "three seconds of the workers");
}

#[test]
fn a_request_tells_what_it_cost() {
    let requests = get("/api/requests?begin=0&end=3000000000&sort=duration").json();
    let id = requests["requests"][0]["id"].as_i64().expect("an id");
    let told = get(&format!("/api/request_counters?id={id}")).json();
    let find = |name: &str| {
        let rows = told.as_array().expect("rows");
        let row = rows.iter().find(|r| r[0] == name);
        row.unwrap_or_else(|| panic!("no {name} in {told}")).clone()
    };
    let (cpu, faults) = (find("cpu_ns"), find("minor_faults"));
    assert_eq!(
        (&cpu[2], &faults[2]),
        (&Value::Bool(false), &Value::Bool(true))
    );
    assert!(cpu[1].as_f64().is_some_and(|ns| ns > 0.0), "{cpu}");
    assert_eq!(
        get("/api/request_counters?id=99999999").json(),
        serde_json::json!([])
    );
}

/// Rows of a query.
fn rows(sql: &str) -> Vec<Value> {
    let encoded: String = sql.bytes().map(|b| format!("%{b:02x}")).collect();
    let answer = get(&format!("/api/query?sql={encoded}")).json();
    answer["rows"]
        .as_array()
        .unwrap_or_else(|| panic!("{sql}: {answer}"))
        .clone()
}

fn number(v: &Value) -> i64 {
    v.as_i64().unwrap_or_else(|| panic!("{v} is no number"))
}
