//! Against the real auction site, if its jar is built (`mvn -pl bed/auction -am package`).

use loadline_load::{Arrivals, Options, Scenario, Target, Trust, Versions, run};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

struct Site {
    process: Child,
    port: u16,
}

impl Site {
    fn start(jar: &Path, port_file: &Path) -> Site {
        let process = Command::new("java")
            .args([
                "-jar",
                &jar.display().to_string(),
                "--port",
                "0",
                "--max-seconds",
                "60",
                "--port-file",
            ])
            .arg(port_file)
            .stdout(Stdio::null())
            .spawn()
            .expect("java is installed");
        let mut site = Site { process, port: 0 };
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(40) {
            let text = std::fs::read_to_string(port_file).unwrap_or_default();
            if let Ok(port) = text.trim().parse() {
                site.port = port;
                return site;
            }
            let ended = site.process.try_wait().expect("ours");
            assert!(ended.is_none(), "the site ended early");
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the site was not ready within 40 s");
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            // SAFETY: our own child, still running, so the id is its.
            unsafe { libc::kill(self.process.id() as i32, libc::SIGTERM) };
        }
        let _ = self.process.wait();
    }
}

/// Past the test runner's capture, where skipped tests are counted.
fn skip(jar: &Path) {
    let _ = std::io::Write::write_fmt(
        &mut std::io::stderr(),
        format_args!(
            "SKIP auction: {} is not built: run make build\n",
            jar.display()
        ),
    );
}

#[test]
fn every_visitor_of_the_auction_sees_the_right_pages() {
    let jar = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bed/auction/target/auction.jar");
    if !jar.exists() {
        skip(&jar);
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let site = Site::start(&jar, &dir.path().join("port"));
    for versions in [Versions::Tls13, Versions::Tls12] {
        let mut scenario = Scenario::builtin("browsing").expect("built in");
        scenario.arrivals = Arrivals::Closed { users: 10 };
        scenario.think_mean = Duration::from_millis(30);
        scenario.versions = versions;
        let target = Target::parse(&format!("https://127.0.0.1:{}", site.port)).expect("valid");
        let mut options = Options::new(target, scenario);
        options.duration = Duration::from_secs(6);
        options.trust = Trust::Any;
        let summary = run(&options, &AtomicBool::new(false), &mut |_| {}).expect("it runs");
        let text = summary.render(options.scenario.arrivals);
        assert_eq!(summary.failures, 0, "{text}");
        assert!(
            summary.replies > 100 && summary.sessions.completed > 5,
            "{text}"
        );
        assert!(
            summary.handshakes.full > 5 && summary.handshakes.resumed > 5,
            "{text}"
        );
        assert!(
            summary
                .interactions
                .iter()
                .filter(|i| i.response.count > 0)
                .count()
                >= 9,
            "{text}"
        );
        let json = serde_json::to_value(&summary).expect("it serializes");
        assert_eq!(json["replies"].as_u64(), Some(summary.replies));
    }
}

#[test]
fn bidders_register_log_in_bid_buy_sell_and_comment() {
    let jar = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bed/auction/target/auction.jar");
    if !jar.exists() {
        skip(&jar);
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let site = Site::start(&jar, &dir.path().join("port"));
    let mut scenario = Scenario::builtin("bidding").expect("built in");
    scenario.arrivals = Arrivals::Closed { users: 10 };
    scenario.think_mean = Duration::ZERO;
    scenario.client.resources = true;
    let target = Target::parse(&format!("https://127.0.0.1:{}", site.port)).expect("valid");
    let mut options = Options::new(target, scenario);
    options.duration = Duration::from_secs(10);
    options.trust = Trust::Any;
    let summary = run(&options, &AtomicBool::new(false), &mut |_| {}).expect("it runs");
    let text = summary.render(options.scenario.arrivals);
    assert_eq!(
        (summary.failures, summary.resources.failed),
        (0, 0),
        "{text}"
    );
    assert!(summary.resources.fetched.count > 100, "{text}");
    for form in [
        "register_user",
        "store_bid",
        "store_buy_now",
        "about_me",
        "view_item",
    ] {
        let seen = summary.interactions.iter().find(|i| i.name == form);
        assert!(seen.is_some_and(|i| i.response.count > 0), "{form}: {text}");
    }
}
