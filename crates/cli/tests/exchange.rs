//! Models from and to layered queueing networks, as a user has them.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{run, scratch, text};

fn model(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("models").join(name).display().to_string()
}

/// A folder that goes away, and a file in it.
fn file(name: &str) -> (tempfile::TempDir, PathBuf) {
    let (dir, _) = scratch();
    let path = dir.path().join(name);
    (dir, path)
}

fn done(args: &[&str]) -> String {
    let out = run(args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out));
    text(&out)
}

fn refused(args: &[&str], code: i32, parts: &[&str]) {
    let out = run(args);
    let said = text(&out);
    assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
    for part in parts {
        assert!(
            said.contains(part),
            "{args:?} does not say {part:?}: {said}"
        );
    }
}

#[test]
fn a_model_goes_to_a_network_and_comes_back() {
    let (dir, network) = file("tomcat.lqnx");
    let network = network.to_str().expect("UTF-8");
    let back = dir.path().join("back.toml");
    let back = back.to_str().expect("UTF-8");
    done(&[
        "export",
        &model("tomcat.toml"),
        "--to",
        "lqn",
        "-o",
        network,
        "--set",
        "rate=40",
    ]);
    let xml = fs::read_to_string(network).expect("written");
    assert!(xml.contains("open-arrival-rate=\"40\""), "{xml}");
    done(&["import", network, "-o", back]);
    let said = done(&["simulate", back, "--requests", "20000"]);
    assert!(said.contains("tomcat"), "{said}");
    // Neither writes over what is there.
    refused(
        &["import", network, "-o", back],
        1,
        &["back.toml", "cannot be made"],
    );
    refused(
        &[
            "export",
            &model("tomcat.toml"),
            "--to",
            "lqn",
            "-o",
            network,
        ],
        1,
        &["tomcat.lqnx", "cannot be made"],
    );
}

#[test]
fn what_a_network_cannot_say_is_refused_or_listed() {
    let (_dir, network) = file("weather.lqnx");
    let out = network.to_str().expect("UTF-8");
    let weather = model("weather.toml");
    refused(
        &["export", &weather, "--to", "lqn", "-o", out],
        1,
        &[
            "machines.web: scheduler round-robin",
            "heaps.web",
            "--without",
        ],
    );
    assert!(!network.exists(), "it left {out}");
    let said = done(&["export", &weather, "--to", "lqn", "-o", out, "--without"]);
    assert!(
        said.contains("note: without machines.web: scheduler round-robin"),
        "{said}"
    );
    assert!(
        fs::read_to_string(out)
            .expect("written")
            .contains("not in it: machines.web")
    );
}

#[test]
fn wrong_use_is_named() {
    let (dir, network) = file("x.lqnx");
    let out = network.to_str().expect("UTF-8");
    refused(
        &[
            "export",
            dir.path().to_str().expect("UTF-8"),
            "--to",
            "lqn",
            "-o",
            out,
        ],
        1,
        &["loadline model"],
    );
    refused(
        &["export", "some.trace", "--to", "csv", "--without"],
        2,
        &["--to lqn"],
    );
    fs::write(
        &network,
        "<lqn-model name=\"x\"><processor name=\"p\" scheduling=\"rand\"/></lqn-model>",
    )
    .expect("written");
    let toml = dir.path().join("x.toml");
    refused(
        &["import", out, "-o", toml.to_str().expect("UTF-8")],
        1,
        &["x.lqnx:1", "\"rand\" cannot be said here"],
    );
}
