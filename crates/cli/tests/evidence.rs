//! The peer is blamed for what it kept back, and the server for what it did.

mod common;

use std::process::{Command, Stdio};

use common::{Jvm, alone, auction, kernel_level_or_skip, loadline, run_ok, scratch, sql, text};
use loadline_trace::Trace;

/// A client that takes its time: it waits before each flight of the handshake, and says for how long in all.
const DAWDLER: &str = r#"
import socket, ssl, sys, time
port, count, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for _ in range(count):
    context = ssl._create_unverified_context()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing)
    with socket.create_connection(("127.0.0.1", port)) as s:
        done = False
        while not done:
            try:
                tls.do_handshake()
                done = True
            except ssl.SSLWantReadError:
                pass
            if outgoing.pending:
                time.sleep(pause)
                s.sendall(outgoing.read())
            if not done:
                incoming.write(s.recv(65536))
        time.sleep(0.05)
"#;

/// Records while a client is at work; milliseconds of complete handshakes by cause.
fn handshakes(server: &Jvm, trace: &str, client: &mut Command) -> impl Fn(&str) -> f64 + use<> {
    let client = client
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the client starts");
    run_ok(&["record", "--pid", &server.pid(), "-o", trace, "-d", "4s"]);
    let client = client.wait_with_output().expect("it is ours");
    assert!(client.status.success(), "{}", text(&client));
    let trace = Trace::open(trace.as_ref()).expect("a finished trace");
    assert_eq!(trace.meta.lost(), 0, "{:?}", trace.meta.losses);
    move |cause| {
        sql(
            &trace,
            &format!(
                "SELECT coalesce(sum(b.duration_ns), 0) / 1e6 FROM breakdown b JOIN spans s ON s.id = b.span
                 WHERE b.kind = 'tls_handshake' AND s.complete AND b.cause LIKE '{cause}'"
            ),
        )
    }
}

#[test]
fn a_client_that_dawdles_is_waited_for_and_a_full_executor_is_a_queue() {
    if !kernel_level_or_skip("a_client_that_dawdles_is_waited_for_and_a_full_executor_is_a_queue") {
        return;
    }
    let _alone = alone();
    let (_dir, out) = scratch();
    // One worker.
    let (server, url) = auction(&[], &["--threads", "1"]);
    let port = url.rsplit(':').next().expect("it has one");
    let mut dawdler = Command::new("python3");
    dawdler.args(["-c", DAWDLER, port, "8", "0.3"]);
    let ms = handshakes(&server, &out, &mut dawdler);
    let (socket, all) = (ms("socket"), ms("%"));
    assert!(all > 1200.0, "two handshakes of 600 ms at least: {all} ms");
    // On a busy machine the first handshakes of a cold JVM are no small part; they are not waits.
    let waited = all - ms("run%");
    assert!(
        socket > 0.9 * waited,
        "{socket} ms for the client of {waited} ms of waiting, {} in the queue, of {all} ms in all",
        ms("queue")
    );

    let mut crowd = loadline();
    crowd
        .args(["load", &url, "--insecure"])
        .args(["--scenario", "browsing", "--users", "24", "--think", "0ms"])
        .args(["--duration", "6s"]);
    let ms = handshakes(&server, &format!("{out}2"), &mut crowd);
    let (socket, queue, all) = (ms("socket"), ms("queue"), ms("%"));
    assert!(
        queue > 0.5 * all && queue > 3.0 * socket,
        "{queue} ms of {all} ms in the queue, {socket} for the clients"
    );
}
