//! What a trace tells about who used the server, and who may read it.

mod common;

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Stdio;

use common::{alone, auction, kernel_level_or_skip, loadline, scratch, sql, text};
use loadline_trace::Trace;

#[test]
fn a_redacted_trace_has_no_address_no_number_in_a_path_and_no_secret_and_is_its_callers() {
    if !kernel_level_or_skip("a_redacted_trace") {
        return;
    }
    let _one = alone();
    let (_dir, out) = scratch();
    let (jvm, url) = auction(&["-Ddb.password=hunter2"], &[]);
    let mut load = loadline()
        .args(["load", &url, "--insecure"])
        .args(["--users", "4", "--think", "20ms", "--duration", "4s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the load generator starts");
    let recorded = loadline()
        .args([
            "record",
            "--redact",
            "--pid",
            &jvm.pid(),
            "-d",
            "2s",
            "-o",
            &out,
        ])
        .env("SUDO_UID", "12345")
        .env("SUDO_GID", "12346")
        .output()
        .expect("the recorder starts");
    assert!(recorded.status.success(), "{}", text(&recorded));
    assert!(load.wait().expect("it ends").success());

    let trace = Trace::open(std::path::Path::new(&out)).expect("a trace");
    let count = |what: &str| sql::<i64>(&trace, &format!("SELECT count(*) FROM {what}"));
    assert!(count("spans WHERE kind = 'request'") > 20);
    assert!(count("spans WHERE kind = 'connection'") > 3);
    assert_eq!(
        count("spans WHERE peer IS NOT NULL OR peer_port IS NOT NULL"),
        0
    );
    assert_eq!(
        count("spans WHERE kind = 'request' AND regexp_matches(name, '[0-9]')"),
        0
    );
    assert!(count("resources WHERE kind = 'socket'") > 0);
    assert_eq!(
        count("resources WHERE local IS NOT NULL OR name LIKE '%127.0.0.1%'"),
        0
    );
    let said = std::fs::read_to_string(format!("{out}/trace.json")).expect("its header");
    assert!(
        !said.contains("hunter2") && said.contains("-Ddb.password=***"),
        "{said}"
    );
    assert!(said.contains("redacted"), "{said}");
    for entry in std::fs::read_dir(&out).expect("its files") {
        let file = entry.expect("a file").metadata().expect("there");
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        assert_eq!((file.uid(), file.gid()), (12345, 12346));
    }
}

#[test]
fn nothing_is_redacted_that_was_kept_raw() {
    let out = common::run(&["record", "--pid", "1", "--redact", "--keep-raw"]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out));
}
