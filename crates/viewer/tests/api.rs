//! What the server answers about a trace.

#[path = "support/site.rs"]
mod site;
mod support;

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
        ("/api/query?sql=%zz", "hexadecimal"),
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

/// The request whose wait for the lock was longest, and the thread and the moment of that.
fn convoyed() -> (i64, i64, i64) {
    let found = rows(
        "SELECT s.id, w.thread, (t(w.begin_ns) * 1e9)::BIGINT FROM waits w
         ASOF JOIN (SELECT * FROM spans WHERE kind = 'request') s ON s.thread = w.thread AND s.begin_ns <= w.begin_ns
         WHERE w.kind = 'monitor_enter' AND s.end_ns >= w.end_ns ORDER BY w.end_ns - w.begin_ns DESC LIMIT 1",
    );
    let of = |i: usize| number(&found[0][i]);
    (of(0), of(1), of(2))
}

#[test]
fn a_waterfall_has_the_spans_of_a_request_and_a_path_as_long_as_it() {
    let (id, thread, _) = convoyed();
    let told = get(&format!("/api/waterfall?id={id}")).json();
    let bars = told["bars"].as_array().expect("bars");
    let kinds: Vec<_> = bars
        .iter()
        .filter(|b| b["id"] == id || b["depth"] != 0)
        .map(|b| b["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(kinds[..4], ["request", "service", "pool_wait", "pool_use"]);
    assert!(kinds.contains(&"sql"), "{kinds:?}");
    let path = told["path"].as_array().expect("a path");
    assert_eq!(path[0]["begin"], told["begin"]);
    assert_eq!(path[path.len() - 1]["end"], told["end"]);
    assert!(path.windows(2).all(|w| w[0]["end"] == w[1]["begin"]));
    assert!(
        path.windows(2).all(|w| w[0]["thread"] != w[1]["thread"]
            || w[0]["cause"] != w[1]["cause"]
            || w[0]["inside"] != w[1]["inside"]),
        "what says the same is one step"
    );
    let others: Vec<_> = path.iter().filter(|s| s["hops"] != 0).collect();
    assert!(!others.is_empty(), "its thread waited for others");
    let of_lock = others
        .iter()
        .find(|s| s["meanwhile"]["waited_on"] == "shop.ItemCache")
        .expect("a step of who had the lock");
    assert_ne!(of_lock["thread"], thread);
    let threads = told["threads"].as_array().expect("threads");
    assert_eq!(threads[0]["id"], thread);
    assert!(
        path.iter()
            .all(|s| threads.iter().any(|t| t["id"] == s["thread"]))
    );
    let not_a_request = number(&rows("SELECT id FROM spans WHERE kind = 'sql' LIMIT 1")[0][0]);
    assert_eq!(
        get(&format!("/api/waterfall?id={not_a_request}")).status,
        404
    );
}

#[test]
fn the_first_request_of_a_connection_has_its_handshake() {
    let found = rows(
        "SELECT min_by(id, begin_ns), max_by(id, begin_ns) FROM spans WHERE kind = 'request' AND connection IN
         (SELECT connection FROM spans WHERE kind = 'tls_handshake' AND complete) GROUP BY connection HAVING count(*) > 1 ORDER BY 1 LIMIT 1",
    );
    let kinds = |id: &Value| {
        let told = get(&format!("/api/waterfall?id={id}")).json();
        told["bars"][0]["kind"].as_str().expect("a kind").to_owned()
    };
    assert!(kinds(&found[0][0]).starts_with("tls_"));
    assert_eq!(kinds(&found[0][1]), "request");
}

#[test]
fn a_chain_is_what_the_view_of_chains_tells() {
    let (_, _, at) = convoyed();
    let blocked = rows(&format!(
        "SELECT thread, (t(begin_ns) * 1e9)::BIGINT, begin_ns FROM wakings WHERE waker IS NOT NULL AND end_ns - begin_ns > 500000
         ORDER BY abs(t(begin_ns) * 1e9 - {at}) LIMIT 12"
    ));
    let mut longest = 0;
    for row in &blocked {
        let told = get(&format!(
            "/api/chain?thread={}&t={}",
            row[0],
            number(&row[1]) + 1
        ))
        .json();
        let links: Vec<_> = told
            .as_array()
            .expect("links")
            .iter()
            .map(|l| serde_json::json!([l["thread"], l["begin"], l["end"], l["waker"]]))
            .collect();
        let view = rows(&format!(
            "SELECT thread, (t(begin_ns) * 1e9)::BIGINT, (t(end_ns) * 1e9)::BIGINT, waker FROM waking_chain({}, {}) WHERE waker IS NOT NULL ORDER BY step LIMIT 16",
            row[0], row[2]
        ));
        assert_eq!(links, view, "thread {} at {}", row[0], row[1]);
        longest = longest.max(links.len());
    }
    assert!(longest > 1, "a chain of more than one link is among them");
    assert_eq!(
        get("/api/chain?thread=999&t=1").json(),
        serde_json::json!([])
    );
}

#[test]
fn locks_have_the_figures_of_the_views() {
    let told = get("/api/locks").json();
    assert_eq!(
        (&told["total"], told["locks"].as_array().map(Vec::len)),
        (&Value::from(1), Some(1))
    );
    let lock = &told["locks"][0];
    assert_eq!(lock["class"], "shop.ItemCache");
    let view = &rows("SELECT waits, waiters, wait_ns, longest_ns, convoy, held_ns FROM locks")[0];
    for (i, name) in [
        "waits",
        "waiters",
        "wait_ns",
        "longest_ns",
        "convoy",
        "held_ns",
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(lock[name], view[i], "{name}");
    }
    let did = &rows("SELECT running_ns, runnable_ns, lock_ns, io_ns, other_ns FROM lock_owners")[0];
    assert_eq!(&lock["meanwhile"], did);
    let longest = &rows(
        "SELECT thread, (t(begin_ns) * 1e9)::BIGINT, (t(end_ns) * 1e9)::BIGINT FROM lock_waits ORDER BY end_ns - begin_ns DESC LIMIT 1",
    )[0];
    assert_eq!(&lock["longest"], longest);
    // As many wait at the moment of the convoy as it says.
    let at = number(&lock["convoy_at"]);
    let waiting = &rows(&format!(
        "SELECT count(*) FROM lock_waits WHERE (t(begin_ns) * 1e9)::BIGINT <= {at} AND (t(end_ns) * 1e9)::BIGINT > {at}"
    ))[0][0];
    assert_eq!(waiting, &lock["convoy"]);
    let object = &get("/api/locks?by=object").json()["locks"][0];
    assert_eq!(
        (&object["object"], &object["waits"]),
        (&Value::from(0x5eed_1234), &lock["waits"])
    );
}

#[test]
fn a_search_finds_threads_paths_statements_and_locks_and_where_their_longest_is() {
    let find = |word: &str| {
        get(&format!("/api/search?q={word}"))
            .json()
            .as_array()
            .expect("hits")
            .clone()
    };
    let kinds = |hits: &[Value]| {
        hits.iter()
            .map(|h| h["kind"].as_str().expect("a kind").to_owned())
            .collect::<Vec<_>>()
    };
    let items = find("ITEM");
    assert_eq!(items[0]["name"], "GET /item");
    let (longest, begin) = (items[0]["request"].clone(), items[0]["begin"].clone());
    let row = &rows(
        "SELECT id, (t(begin_ns) * 1e9)::BIGINT FROM spans WHERE kind = 'request' AND name = 'GET /item' ORDER BY end_ns - begin_ns DESC LIMIT 1",
    )[0];
    assert_eq!((&longest, &begin), (&row[0], &row[1]));
    for kind in ["request", "service", "sql", "lock"] {
        assert!(
            kinds(&items).iter().any(|k| k == kind),
            "no {kind} in {:?}",
            kinds(&items)
        );
    }
    let lock = items.iter().find(|h| h["kind"] == "lock").expect("a lock");
    assert_eq!(lock["name"], "shop.ItemCache");
    let threads = find("exec-1");
    assert_eq!(threads[0]["name"], "http-nio-8443-exec-1");
    assert_eq!(kinds(&threads), ["thread"]);
    assert_eq!(find("poller")[0]["name"], "http-nio-8443-Poller");
    assert!(find("nothing+of+that+name").is_empty() && find("+").is_empty());
}

#[test]
fn requests_are_filtered_by_path_worker_status_statement_and_lock() {
    let total = |filter: &str| {
        number(&get(&format!("/api/requests?limit=5&filter={filter}")).json()["total"])
    };
    let (all, items) = (total(""), total("%2fITEM"));
    assert!(0 < items && items < all);
    assert_eq!(
        number(
            &rows("SELECT count(*) FROM spans WHERE kind = 'request' AND name = 'GET /item'")[0][0]
        ),
        items
    );
    assert_eq!(total("200"), all);
    assert!(0 < total("exec-3") && total("exec-3") < all);
    assert_eq!(total("404"), 0);
    let asked = "SELECT count(DISTINCT parent) FROM (SELECT s.parent FROM spans q JOIN spans s ON s.id = q.parent WHERE q.kind = 'sql' AND q.name LIKE '%FROM bids%')";
    assert_eq!(total("from%20bids"), number(&rows(asked)[0][0]));
    let waited = "SELECT count(DISTINCT r.id) FROM lock_waits w ASOF JOIN (SELECT * FROM spans WHERE kind = 'request') r
         ON r.thread = w.thread AND r.begin_ns <= w.begin_ns WHERE r.end_ns > w.begin_ns";
    assert_eq!(total("shop.itemcache"), number(&rows(waited)[0][0]));
}
