//! The server as a browser, and as what pretends to be one, meets it.

#[path = "support/site.rs"]
mod site;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loadline_viewer::{Options, Show, serve};
use site::{get, send, site};

#[test]
fn a_host_that_is_not_ours_is_refused() {
    let port = site().port;
    for host in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example",
        "",
    ] {
        let reply = send(port, &format!("GET /api/trace HTTP/1.1\r\nHost: {host}"));
        assert_eq!(reply.status, 403, "{host:?}");
        assert!(reply.message().contains("127.0.0.1"));
    }
    assert_eq!(
        send(port, &format!("GET / HTTP/1.1\r\nHost: localhost:{port}")).status,
        200
    );
}

#[test]
fn a_page_of_another_site_is_refused_and_no_cors_header_is_sent() {
    let port = site().port;
    let from = |site: &str| {
        send(
            port,
            &format!(
                "GET /api/trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://evil.example\r\nSec-Fetch-Site: {site}"
            ),
        )
    };
    assert_eq!(from("cross-site").status, 403);
    assert_eq!(from("same-site").status, 403);
    let own = from("same-origin");
    assert_eq!(own.status, 200);
    assert!(!own.head.contains("access-control"));
    assert!(own.head.contains("content-security-policy"));
}

#[test]
fn only_get_is_answered() {
    let port = site().port;
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let reply = send(
            port,
            &format!("{method} /api/trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0"),
        );
        assert_eq!(reply.status, 405, "{method}");
    }
}

#[test]
fn files_of_the_page_have_their_types_and_nothing_else_is_reached() {
    assert!(site().dir.join("secret.txt").is_file());
    assert!(get("/").head.contains("text/html"));
    assert!(get("/assets/a.js").head.contains("text/javascript"));
    for path in [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "//etc/passwd",
        "/assets",
        "/nothing",
    ] {
        assert_eq!(get(path).status, 404, "{path}");
    }
}

#[test]
fn a_server_ends_soon_after_it_is_told_to() {
    let site = site();
    let stop = Arc::new(AtomicBool::new(false));
    let options = Options {
        show: Show::One(site.dir.join("t.trace")),
        web: site.dir.join("web"),
        port: 0,
    };
    let server = serve(options).expect("a server");
    let running = {
        let stop = stop.clone();
        std::thread::spawn(move || server.run_until(&stop))
    };
    std::thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    stop.store(true, Ordering::Relaxed);
    running.join().expect("no panic").expect("no error");
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn what_cannot_be_served_is_said_with_its_remedy() {
    let site = site();
    let (trace, web) = (site.dir.join("t.trace"), site.dir.join("web"));
    let error = |dir, web, port| {
        let show = Show::One(dir);
        format!(
            "{:#}",
            serve(Options { show, web, port })
                .err()
                .expect("it must fail")
        )
    };
    assert!(error(trace.clone(), site.dir.clone(), 0).contains("npm run build"));
    assert!(error(web.clone(), web.clone(), 0).contains("is not a trace"));
    assert!(error(trace, web, site.port).contains("choose another, or 0 for any"));
}

/// Threads of this process that look after a query.
fn running_queries() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task")
        .expect("threads")
        .flatten();
    let name = |task: &std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).unwrap_or_default()
    };
    tasks.filter(|t| name(t).trim() == "query-watchdog").count()
}

#[test]
fn a_query_ends_when_the_page_that_asked_goes_away() {
    use std::io::Write;
    let port = site().port;
    let until = |what: &str, wanted: fn(usize) -> bool| {
        let began = Instant::now();
        while !wanted(running_queries()) {
            assert!(began.elapsed() < Duration::from_secs(5), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let mut page = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    let endless = "SELECT%20count(*)%20FROM%20range(100000)%20a,range(100000)%20b,range(100000)%20c%20WHERE%20a.range%2bb.range%2bc.range=7";
    write!(
        page,
        "GET /api/query?sql={endless} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
    )
    .expect("sent");
    until("the query did not begin", |n| n > 0);
    std::thread::sleep(Duration::from_millis(300));
    assert!(running_queries() > 0, "it would run for hours");
    drop(page);
    until("the query outlived its page", |n| n == 0);
}
