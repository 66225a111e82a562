//! A trace of a flight recording: of a small program, on every JDK that is here.

mod common;

use std::path::Path;
use std::process::Command;

use common::{java_program, jdks, root, run, run_ok, skip, sql, text};
use loadline_trace::Trace;

fn record(home: &Path, jfr: &Path) {
    let said = Command::new(home.join("bin/java"))
        .arg(format!(
            "-XX:StartFlightRecording:filename={},settings=profile",
            jfr.display()
        ))
        .arg(java_program("Flight"))
        .output()
        .expect("java starts");
    assert!(said.status.success(), "{}", text(&said));
}

#[test]
fn a_flight_recording_becomes_a_trace_on_every_jdk() {
    let jdks = jdks();
    if jdks.is_empty() {
        return skip(
            "a_flight_recording_becomes_a_trace_on_every_jdk",
            "no JDK in /usr/lib/jvm",
        );
    }
    for (version, home) in jdks {
        let dir = tempfile::tempdir().expect("a directory");
        let jfr = dir.path().join("waits.jfr");
        record(&home, &jfr);
        let out = dir.path().join("waits.trace");
        let out_text = out.display().to_string();
        let said = common::loadline()
            .args(["import", &jfr.display().to_string(), "-o", &out_text])
            .env("JAVA_HOME", &home)
            .output()
            .expect("it starts");
        assert!(said.status.success(), "JDK {version}: {}", text(&said));

        let trace = Trace::open(&out).expect("a trace");
        assert_eq!(trace.meta.target.java, version);
        assert!(!out.join("raw").exists());
        let count = |q: &str| sql::<i64>(&trace, q);
        let of = |thread: &str, cause: &str| {
            sql::<f64>(
                &trace,
                &format!(
                    "SELECT coalesce(sum(ms(s.end_ns - s.begin_ns)), 0.0)::DOUBLE FROM states s JOIN threads t ON t.id = s.thread
                     WHERE t.name = '{thread}' AND cause = '{cause}'"
                ),
            )
        };
        // The holder has the monitor for 60 ms five times over; who comes 5 ms later waits some 50 ms at least once.
        assert!(
            of("contender", "lock") > 40.0,
            "JDK {version}: {}",
            of("contender", "lock")
        );
        assert!(
            of("parker", "lock") > 40.0,
            "JDK {version}: {}",
            of("parker", "lock")
        );
        assert!(
            of("reader", "socket") > 100.0,
            "JDK {version}: {}",
            of("reader", "socket")
        );
        let owner = "SELECT count(*) FROM waits w JOIN threads o ON o.id = w.owner
            WHERE w.kind = 'monitor_enter' AND o.name = 'holder'";
        assert!(count(owner) >= 1, "JDK {version}");
        assert!(
            count("SELECT count(*) FROM vm WHERE kind = 'gc' AND heap_after < heap_before") >= 1
        );
        let burner = "SELECT count(*) FROM samples p JOIN threads t ON t.id = p.thread WHERE t.name = 'burner' AND p.kind = 'cpu'";
        // Of some 75; on a machine that is full JFR's sampler has missed all but three.
        assert!(count(burner) >= 1, "JDK {version}");
        // Gapless, as every trace.
        let gaps = "SELECT count(*) FROM (SELECT begin_ns - lag(end_ns) OVER (PARTITION BY thread ORDER BY begin_ns) AS gap FROM states) WHERE gap <> 0";
        assert_eq!(count(gaps), 0, "JDK {version}");

        let report = run_ok(&["report", &out_text]);
        let report = text(&report);
        assert!(
            report.contains("not recorded") && report.contains("running and runnable"),
            "{report}"
        );
        let flame = dir.path().join("flame").display().to_string();
        run_ok(&["export", &out_text, "--to", "flame", "-o", &flame]);
        let folded =
            std::fs::read_to_string(Path::new(&flame).join("stacks.folded")).expect("stacks");
        assert!(
            folded.contains("on CPU;") && folded.contains("off CPU;") && folded.contains("Flight."),
            "{folded}"
        );
    }
}

#[test]
fn what_is_no_flight_recording_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("t.trace").display().to_string();
    let readme = root().join("README.md").display().to_string();
    let said = run(&["import", &readme, "-o", &out]);
    assert_eq!(said.status.code(), Some(1));
    assert!(
        text(&said).contains("is not a flight recording"),
        "{}",
        text(&said)
    );
    let cut = dir.path().join("cut.jfr");
    std::fs::write(&cut, b"FLR\0\0\x02").expect("written");
    let said = run(&["import", &cut.display().to_string(), "-o", &out]);
    assert_eq!(said.status.code(), Some(1));
    assert!(text(&said).contains("cannot be read"), "{}", text(&said));
    assert!(!Path::new(&out).exists());
}
