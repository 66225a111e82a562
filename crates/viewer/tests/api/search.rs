//! Searching, and filters of requests.

use serde_json::Value;

use crate::site::get;
use crate::{number, rows};

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
