//! `loadline characterize` against the real auction site: complete, stopped, continued, and in error.

mod common;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use common::{SMALL, alone, eventually, loadline, root, run, run_ok, runs, signal, skip, text};

/// A command line that starts the site; the marker tells its processes from anybody else's.
/// C1 alone: such a site is warm sooner.
fn site(marker: &str) -> String {
    let jar = root().join("bed/auction/target/auction.jar");
    assert!(
        jar.exists(),
        "{} is missing: run `make build`",
        jar.display()
    );
    // What a guard would say of itself: read by the same way, without a guard that refuses somebody.
    let guard = r#"{"name":"shop","guards":"connections","mode":"observe","objective":"p95=250ms","refusedByBudget":3}"#;
    format!(
        "java -XX:TieredStopAtLevel=1 -Dmarker={marker} '-Ddev.loadline.guard/shop={guard}' -jar '{}' --port 0 --max-seconds 150 {}",
        jar.display(),
        SMALL.join(" ")
    )
}

fn arguments<'a>(start: &'a str, out: &'a str) -> Vec<&'a str> {
    vec![
        "characterize",
        "--start",
        start,
        "--cpus",
        "1",
        "--points",
        "3",
        "--search",
        "1",
        "--duration",
        "2s",
        "--warmup",
        "500ms",
        "--think",
        "50ms",
        "--trace",
        "1s",
        "-o",
        out,
    ]
}

/// The command under test; killed if the test fails while it runs.
struct Running(Option<Child>);

impl Running {
    fn start(args: &[&str]) -> Running {
        let mut command = loadline();
        command.args(args).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Running(Some(command.spawn().expect("the binary starts")))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it is taken only by wait")
    }

    fn wait(mut self) -> Output {
        let child = self.0.take().expect("it is taken once");
        child.wait_with_output().expect("it is ours")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn points(dir: &Path) -> Vec<(String, std::time::SystemTime)> {
    let mut all: Vec<_> = std::fs::read_dir(dir.join("points"))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            name.contains("-at-") && name.ends_with(".json")
        })
        .map(|e| {
            let written = e.metadata().and_then(|m| m.modified()).expect("a file");
            (e.file_name().to_string_lossy().into_owned(), written)
        })
        .collect();
    all.sort();
    all
}

/// Stopped by Ctrl-C after its first point it leaves nothing behind and a partial report; the same
/// command goes on from there to a complete one.
#[test]
fn a_characterization_is_stopped_and_continued() {
    let _alone = alone();
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("shop.characterize");
    let (start, folder) = (site("characterize-main"), out.display().to_string());
    let mut first = Running::start(&arguments(&start, &folder));
    eventually("the first point is done", 150, || !points(&out).is_empty());
    signal(first.child(), libc::SIGINT);
    let first = first.wait();
    assert_eq!(first.status.code(), Some(1), "{}", text(&first));
    assert!(
        !runs("-Dmarker=characterize-main"),
        "the server was left behind"
    );
    let said = text(&first);
    assert!(
        said.contains("partial") && said.contains("about "),
        "{said}"
    );
    let html = std::fs::read_to_string(out.join("index.html")).expect("a partial page");
    assert!(
        html.contains("Partial: not everything"),
        "the page does not say that it is partial"
    );
    let kept = points(&out);

    let other = run(&[
        "characterize",
        "--start",
        &start,
        "--duration",
        "7s",
        "-o",
        &folder,
    ]);
    assert_eq!(other.status.code(), Some(2), "{}", text(&other));
    assert!(
        text(&other).contains("other parameters (") && text(&other).contains("--restart"),
        "{}",
        text(&other)
    );

    let second = run_ok(&arguments(&start, &folder));
    assert!(
        !runs("-Dmarker=characterize-main"),
        "the server was left behind"
    );
    assert!(text(&second).contains("done already"), "{}", text(&second));
    let said = text(&second);
    for part in ["  1 CPU   ", "load line ", "report: "] {
        assert!(said.contains(part), "no {part:?} in\n{said}");
    }
    let now = points(&out);
    assert!(
        kept.iter().all(|p| now.contains(p)),
        "a finished point was measured again"
    );
    assert!(now.len() >= 3, "{now:?}");
    let json = std::fs::read_to_string(out.join("result.json")).expect("a result");
    let result: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(result["partial"], false, "{said}");
    let count = &result["counts"][0];
    let notes = count["notes"].to_string();
    assert!(
        notes.contains("guarded by shop (connections, observe, p95=250ms)"),
        "{notes}"
    );
    assert_eq!(
        count["points"][0]["guard"]["mode"], "observe",
        "{}",
        count["points"][0]["guard"]
    );
    assert_eq!(count["layout"]["server"].as_array().map(Vec::len), Some(1));
    assert!(
        count["points"]
            .as_array()
            .is_some_and(|p| p.iter().any(|p| p["cpu"]["server"].as_f64() > Some(0.0)))
    );
    // What it wrote is what the CPU manager takes for a curve.
    let shop = "[[application]]\nname = \"shop\"\ncurve = \"shop.characterize\"";
    let config = dir.path().join("share.toml").display().to_string();
    match loadline_share::Config::parse(shop, &config) {
        Ok(_) => assert!(!count["curve"]["load_line"].is_null()),
        Err(e) => {
            assert!(count["curve"]["load_line"].is_null(), "{e}");
            assert!(e.to_string().contains("has no load line"), "{e}");
        }
    }
    // A machine that has other things to do may answer nobody in two seconds.
    let answered = count["points"]
        .as_array()
        .is_some_and(|p| p.iter().any(|p| p["load"]["replies"].as_u64() > Some(0)));
    if answered {
        assert!(
            said.contains("peak ") && said.contains("requests/s"),
            "{said}"
        );
    }
    for side in ["below", "above"] {
        let side = &count[side];
        if side.is_null() {
            skip(
                "a_characterization_is_stopped_and_continued",
                "no traces here",
            );
            continue;
        }
        assert!(side["rate"].as_f64() > Some(0.0), "{side}");
        assert!(side["seconds"].as_f64() > Some(0.5), "{side}");
        assert!(
            out.join("traces")
                .join(side["trace"].as_str().unwrap_or("?"))
                .is_dir()
        );
    }
}

#[test]
fn a_server_that_dies_in_the_middle_is_quoted_and_nothing_is_left() {
    let _alone = alone();
    let dir = tempfile::tempdir().expect("a directory");
    let script = "java -Dmarker=characterize-dies -version; echo the disk is full >&2; exit 4";
    let out = run(&[
        "characterize",
        "--start",
        &format!("sh -c '{script}'"),
        "-o",
        &dir.path().join("d").display().to_string(),
    ]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    assert!(
        text(&out).contains("exit status 4") && text(&out).contains("the disk is full"),
        "{}",
        text(&out)
    );
    assert!(!runs("-Dmarker=characterize-dies"));
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_started() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("d").display().to_string();
    let refused = |args: &[&str], why: &str| {
        let mut all = vec!["characterize", "-o", &out];
        all.extend(args);
        let ended = run(&all);
        assert_eq!(ended.status.code(), Some(2), "{}", text(&ended));
        assert!(text(&ended).contains(why), "no {why:?} in {}", text(&ended));
    };
    refused(
        &["--start", "sleep 60", "--cpus", "4000"],
        "this program may use",
    );
    refused(
        &["--start", "java -jar 'shop.jar", "--points", "3"],
        "is a quote missing?",
    );
    refused(&["--start", "no-such-program-anywhere"], "cannot be run");
    refused(
        &["--url", "https://no-such-host.invalid:1"],
        "does not resolve",
    );
    refused(&["--url", "https://192.0.2.1:8443"], "--i-own-this-target");
    refused(&["--url", "https://127.0.0.1:1", "--cpus", "1"], "--pid");
    refused(
        &["--url", "https://127.0.0.1:1", "--pid", "999999999"],
        "no such process",
    );
    refused(
        &["--start", "sleep 60", "--objective", "p95=soon"],
        "p95=200ms",
    );
    let silent = run(&[
        "characterize",
        "--url",
        "https://127.0.0.1:1",
        "-o",
        &out,
        "--restart",
    ]);
    assert_eq!(silent.status.code(), Some(1), "{}", text(&silent));
    assert!(
        text(&silent).contains("nothing answers at https://127.0.0.1:1"),
        "{}",
        text(&silent)
    );
}

/// Not even SIGKILL leaves the server behind, and a process that it did not start is left alone.
#[test]
fn killed_it_leaves_no_server_behind() {
    let _alone = alone();
    let dir = tempfile::tempdir().expect("a directory");
    let start = site("characterize-killed");
    let folder = dir.path().join("d").display().to_string();
    let mut killed = Running::start(&arguments(&start, &folder));
    let mut bystander = Command::new("sleep")
        .arg("60")
        .spawn()
        .expect("sleep starts");
    eventually("the server runs", 60, || {
        runs("-Dmarker=characterize-killed")
    });
    killed.child().kill().expect("it is ours");
    killed.wait();
    eventually("the server is gone", 20, || {
        !runs("-Dmarker=characterize-killed")
    });
    std::thread::sleep(Duration::from_millis(50));
    assert!(bystander.try_wait().expect("it is ours").is_none());
    bystander.kill().expect("it is ours");
    bystander.wait().expect("it is ours");
}
