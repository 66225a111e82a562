//! `loadline load` as users run it: what it refuses, what it keeps, several processes, the page.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{loadline, run, run_ok, text};

/// A page server on a thread of its own, that can be ended.
struct Pages {
    url: String,
    ended: Arc<AtomicBool>,
    address: std::net::SocketAddr,
}

impl Pages {
    fn start(delay: Duration) -> Pages {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let ended = Arc::<AtomicBool>::default();
        let over = ended.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let over = over.clone();
                std::thread::spawn(move || {
                    let stream = stream.expect("accepted");
                    let mut lines = BufReader::new(&stream).lines();
                    while let Some(Ok(line)) = lines.next() {
                        if line.is_empty() {
                            std::thread::sleep(delay);
                            let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                            if over.load(Ordering::Relaxed) || (&stream).write_all(reply).is_err() {
                                return;
                            }
                        }
                    }
                });
            }
        });
        Pages {
            url: format!("http://{address}"),
            ended,
            address,
        }
    }

    fn stop(&self) {
        self.ended.store(true, Ordering::Relaxed);
        let _wake = std::net::TcpStream::connect(self.address);
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.stop();
    }
}

fn refuses(args: &[&str], code: i32, parts: &[&str]) {
    let out = run(args);
    assert_eq!(out.status.code(), Some(code), "{}", text(&out));
    for part in parts {
        assert!(text(&out).contains(part), "{part:?}: {}", text(&out));
    }
}

fn json(stdout: &[u8]) -> serde_json::Value {
    serde_json::from_slice(stdout).expect("JSON on stdout")
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place_and_remedy() {
    let dir = tempfile::tempdir().expect("a directory");
    let storm = dir.path().join("storm.toml");
    std::fs::write(
        &storm,
        "name = \"x\"\nstart = \"a\"\n[arrivals]\nusers = 2\nrate = 3.0\n[[interaction]]\nname = \"a\"\npath = \"/\"\nnext = { end = 1 }\n",
    )
    .expect("written");
    let storm = storm.display().to_string();
    let load = |more: &[&'static str]| {
        let mut args = vec!["load", "http://127.0.0.1:9"];
        args.extend_from_slice(more);
        args
    };
    refuses(
        &["load", "http://127.0.0.1:9", "--scenario", &storm],
        2,
        &["storm.toml:5: arrivals has users and rate"],
    );
    refuses(
        &["load", "http://no-such-host.invalid:80"],
        2,
        &["no-such-host.invalid", "does not resolve"],
    );
    refuses(&load(&[]), 1, &["nothing answers at 127.0.0.1:9"]);
    refuses(&load(&["--cpus", "1000"]), 2, &["CPU 1000"]);
    refuses(&load(&["--replay", "/nonexistent"]), 1, &["/nonexistent"]);
    refuses(
        &load(&["--html", "/nonexistent/x.html"]),
        1,
        &["/nonexistent/x.html"],
    );
}

#[test]
fn a_certificate_that_is_not_trusted_is_an_error_that_names_the_remedy() {
    let Some(server) = openssl_server() else {
        common::skip("untrusted certificate", "openssl is not installed");
        return;
    };
    let url = format!("https://127.0.0.1:{}", server.port);
    refuses(
        &["load", &url, "--scenario", "keep-alive"],
        1,
        &["not trusted", "--insecure", "--ca"],
    );
}

/// `openssl s_server` with a certificate of its own making.
struct Openssl {
    process: std::process::Child,
    port: u16,
    _dir: tempfile::TempDir,
}

impl Drop for Openssl {
    fn drop(&mut self) {
        let _already_gone = self.process.kill();
        let _ended = self.process.wait();
    }
}

fn openssl_server() -> Option<Openssl> {
    let dir = tempfile::tempdir().expect("a directory");
    let made = Command::new("openssl")
        .args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=x"])
        .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
        .args(["-keyout", "key", "-out", "crt"])
        .current_dir(dir.path())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    assert!(made.success());
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|l| l.local_addr())
        .expect("a port")
        .port();
    let process = Command::new("openssl")
        .args(["s_server", "-quiet", "-www", "-key", "key", "-cert", "crt"])
        .args(["-accept", &format!("127.0.0.1:{port}")])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let server = Openssl {
        process,
        port,
        _dir: dir,
    };
    common::eventually("openssl listens", 20, || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    Some(server)
}

#[test]
fn a_server_that_dies_in_the_middle_ends_the_run_and_the_partial_result_is_kept() {
    let server = Pages::start(Duration::ZERO);
    let child = loadline()
        .args([
            "load",
            &server.url,
            "--scenario",
            "keep-alive",
            "--users",
            "3",
        ])
        .args(["-d", "60s", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_millis(1500));
    server.stop();
    let out = child.wait_with_output().expect("it is ours");
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    let result = json(&out.stdout);
    assert_eq!(result["partial"], true);
    assert!(result["replies"].as_u64().expect("a number") > 0);
    assert!(result["seconds"].as_f64().expect("a number") < 30.0);
    let why = result["error"].as_str().expect("a reason");
    assert!(why.contains("has gone"), "{why}");
    assert!(text(&out).contains("marked as partial"), "{}", text(&out));
}

#[test]
fn running_out_of_descriptors_ends_the_run_with_a_partial_result() {
    let server = Pages::start(Duration::from_secs(30));
    let limited = |load: &[&str]| {
        Command::new("sh")
            .args(["-c", "ulimit -n 80 && exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_loadline"))
            .args([
                "load",
                &server.url,
                "--scenario",
                "keep-alive",
                "--timeout",
                "30s",
                "-d",
                "60s",
                "--json",
            ])
            .args(load)
            .stdin(Stdio::null())
            .output()
            .expect("it starts")
    };
    let out = limited(&["--rate", "50"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    let result = json(&out.stdout);
    assert_eq!(
        (&result["partial"], &result["limited_by_generator"]),
        (&true.into(), &true.into())
    );
    assert!(text(&out).contains("raise ulimit -n"), "{}", text(&out));

    let out = limited(&["--users", "100"]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out));
    assert!(
        text(&out).contains("100 users need 164 file descriptors"),
        "{}",
        text(&out)
    );
}

#[test]
fn several_processes_make_one_load_and_one_result() {
    let server = Pages::start(Duration::from_millis(5));
    let dir = tempfile::tempdir().expect("a directory");
    let page = dir.path().join("load.html");
    let page_path = page.display().to_string();
    let out = run_ok(&[
        "load",
        &server.url,
        "--scenario",
        "keep-alive",
        "--users",
        "7",
        "-d",
        "2s",
        "--json",
        "--processes",
        "3",
        "--html",
        &page_path,
    ]);
    let result = json(&out.stdout);
    assert_eq!(result["generator"]["processes"], 3);
    assert_eq!(result["failures"], 0);
    // Seven users over three processes, each of whom stays for all of the run.
    assert_eq!(result["sessions"]["started"], 7);
    assert_eq!(result["phases"]["tcp"]["count"], 7);
    let replies = result["replies"].as_u64().expect("a number");
    assert!(replies > 100, "{replies}");
    let series = result["series"].as_array().expect("a list");
    let good: u64 = series
        .iter()
        .map(|s| s["goodput"].as_u64().expect("a number"))
        .sum();
    assert_eq!(good, replies);
    let html = std::fs::read_to_string(page).expect("the page");
    assert!(html.contains("<svg") && html.ends_with("</body></html>\n"));
    assert!(!html.contains("NaN") && !html.contains("<script"));
}

#[test]
fn the_example_scenario_runs_as_it_is_printed() {
    let out = run_ok(&["load", "--example-config"]);
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("example.toml");
    std::fs::write(&file, &out.stdout).expect("written");
    let server = Pages::start(Duration::ZERO);
    let out = run_ok(&[
        "load",
        &server.url,
        "--scenario",
        &file.display().to_string(),
        "--users",
        "1",
        "-d",
        "1s",
        "--json",
    ]);
    // The pages of this server are not those of the auction site, and it says so.
    assert!(json(&out.stdout)["failures_by_kind"]["wrong_page"].as_u64() > Some(0));
}
