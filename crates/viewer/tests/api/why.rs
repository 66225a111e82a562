//! Why a request took as long as it did: its waterfall, chains of wakings, locks.

use serde_json::Value;

use crate::site::get;
use crate::{number, rows};

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
    // Cut at any moment, the parts add up.
    let duration = number(&get("/api/trace").json()["duration"]);
    let middle = number(&lock["convoy_at"]) + 1;
    let within = |begin: i64, end: i64| {
        let told = get(&format!("/api/locks?begin={begin}&end={end}")).json();
        ["wait_ns", "held_ns"].map(|name| number(&told["locks"][0][name]))
    };
    let (before, after) = (within(0, middle), within(middle, duration));
    assert!(before[0] > 0 && after[0] > 0);
    assert_eq!(
        [before[0] + after[0], before[1] + after[1]],
        ["wait_ns", "held_ns"].map(|name| number(&lock[name]))
    );
    let nowhere = get(&format!(
        "/api/locks?begin={}&end={}",
        duration + 1,
        duration + 2
    ))
    .json();
    assert_eq!(nowhere["total"], 0);
}
