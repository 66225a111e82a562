//! `loadline characterize --units` on the two closed programs of the test bed: one that is its own driver, one that is a
//! server with users.

mod common;

use std::path::Path;

use common::{alone, root, run, run_ok, runs, text};
use serde_json::Value;

fn jar(name: &str) -> String {
    let jar = root().join(format!("bed/{name}/target/{name}.jar"));
    assert!(
        jar.exists(),
        "{} is missing: run `make build`",
        jar.display()
    );
    jar.display().to_string()
}

/// A sweep of seconds: every load once, no search.
const SHORT: [&str; 9] = [
    "characterize",
    "-d",
    "2s",
    "--warmup",
    "2s",
    "--search",
    "0",
    "--repeat",
    "0",
];

fn result(dir: &Path) -> Value {
    let text = std::fs::read_to_string(dir.join("result.json")).expect("a result");
    serde_json::from_str(&text).expect("JSON")
}

fn loads(count: &Value) -> Vec<f64> {
    let points = count["points"].as_array().expect("points");
    points
        .iter()
        .map(|p| p["rate"].as_f64().expect("a load"))
        .collect()
}

#[test]
fn a_program_that_is_its_own_driver_is_measured_anew_with_each_load() {
    let _one = alone();
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("wholesale.characterize");
    let marker = "-Dmarker=closed-wholesale";
    let driver = format!(
        "java {marker} -Xmx256m -jar '{}' --warehouses {{load}} --items 500 --ramp 0 --measure 600",
        jar("wholesale")
    );
    let out_dir = out.display().to_string();
    let args = [
        &SHORT[..],
        &[
            "--units",
            &driver,
            "--loads",
            "1,2,4",
            "--unit",
            "new-order,payment",
        ],
        &["--cpus", "1", "--trace", "0", "-o", &out_dir],
    ]
    .concat();
    let said = text(&run_ok(&args));
    assert!(!runs(marker), "a driver was left behind");
    for part in ["warehouses", "units/s", "levels off at"] {
        assert!(said.contains(part), "no {part:?} in\n{said}");
    }
    let made = result(&out);
    let count = &made["counts"][0];
    assert_eq!(loads(count), [1.0, 2.0, 4.0]);
    for p in count["points"].as_array().expect("points") {
        let per_s = p["load"]["replies_per_s"].as_f64().expect("a rate");
        assert!(
            (500.0..1e6).contains(&per_s),
            "{per_s} transactions/s of two kinds"
        );
        let p95 = p["load"]["response"]["p95_ms"].as_f64().expect("a time");
        assert!(p95 > 0.0 && p95 < 1000.0, "{p95} ms");
        let cpu = p["cpu"]["server"].as_f64().expect("CPUs");
        assert!((0.5..=1.1).contains(&cpu), "{cpu} of one CPU");
    }
    let page = std::fs::read_to_string(out.join("index.html")).expect("a page");
    assert!(page.contains("units of work per second") && !page.contains("sessions/s"));
    let model = root().join("models/wholesale.toml").display().to_string();
    let folder = out.display().to_string();
    let compared = run_ok(&[
        "compare",
        &model,
        &folder,
        "--load",
        "warehouses",
        "--requests",
        "20000",
        "--json",
    ]);
    let compared: Value = serde_json::from_slice(&compared.stdout).expect("JSON");
    assert_eq!(compared["load_unit"], "warehouses");
    let rows = compared["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    for row in rows {
        let used = row["utilization"]["predicted"].as_f64().expect("a share");
        assert!(used > 0.95, "a closed company keeps its CPU busy: {row}");
    }
    // The same command has nothing left to do.
    let begun = std::time::Instant::now();
    run_ok(&args);
    assert!(begun.elapsed().as_secs() < 5, "it measured again");
}

#[test]
fn a_server_is_started_once_and_its_users_come_in_rooms() {
    let _one = alone();
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("chat.characterize");
    let marker = "-Dmarker=closed-chat";
    let chat = jar("chat");
    let start = format!("java {marker} -jar '{chat}' server --io nio --loops 1 --max-seconds 120");
    let driver = format!(
        "java {marker} -jar '{chat}' client --io nio --loops 1 --port {{port}} --rooms {{load}} --users 5 --messages 1000000"
    );
    let out_dir = out.display().to_string();
    let args = [
        &SHORT[..],
        &["--start", &start, "--units", &driver, "--loads", "1,8"],
        &["--trace", "1s", "-o", &out_dir],
    ];
    let said = text(&run_ok(&args.concat()));
    assert!(!runs(marker), "a process was left behind");
    assert!(said.contains("rooms"), "{said}");
    let made = result(&out);
    let count = &made["counts"][0];
    assert_eq!(loads(count), [1.0, 8.0]);
    for which in ["below", "above"] {
        let side = &count[which];
        if side.is_null() {
            // Without the kernel level there is no recording, and that is said.
            assert!(said.contains("no trace"), "{said}");
            continue;
        }
        let phases = side["phases"].as_array().expect("phases");
        let running = phases.iter().find(|p| p["label"] == "threads, running");
        let ms = running.and_then(|p| p["ms"]["running"].as_f64());
        // A broadcast to five costs some tens of microseconds.
        assert!(
            ms.is_some_and(|ms| (0.001..10.0).contains(&ms)),
            "{which}: {side}"
        );
    }
}

fn refused(args: &[&str], code: i32, part: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("it.characterize").display().to_string();
    let mut all = vec!["characterize", "--warmup", "500ms", "-d", "1s", "-o", &out];
    all.extend(args);
    let said = run(&all);
    assert_eq!(said.status.code(), Some(code), "{}", text(&said));
    assert!(
        text(&said).contains(part),
        "no {part:?} in\n{}",
        text(&said)
    );
}

#[test]
fn what_cannot_be_driven_is_said_with_the_remedy() {
    let _one = alone();
    refused(&["--units", "drive it", "--loads", "1"], 2, "{load}");
    refused(&["--units", "drive {load}"], 2, "--loads");
    refused(
        &["--units", "drive {load}", "--loads", "8..1"],
        2,
        "before it begins",
    );
    let port = ["--units", "drive {load} {port}", "--loads", "1"];
    refused(&port, 2, "--start");
    let nowhere = ["--units", "/nowhere/drive {load}", "--loads", "1"];
    refused(&nowhere, 2, "cannot be run");
    let fails = [
        "--units",
        "sh -c 'echo no rooms left; exit 3' {load}",
        "--loads",
        "7",
    ];
    refused(&fails, 1, "no rooms left");
    refused(
        &["--units", "sh -c : {load}", "--loads", "7"],
        1,
        "give it more to do",
    );
    let driver = format!(
        "java -jar '{}' --warehouses {{load}} --items 500 --ramp 0 --measure 600",
        jar("wholesale")
    );
    let other = [
        "--units", &driver, "--loads", "1", "--unit", "refund", "--trace", "0",
    ];
    refused(&other, 1, "no refund ended meanwhile; there were");
}
