//! Goodput over CPUs as `loadline characterize --cpus 1,2,4` measured it: the load line of each CPU count.

use std::fs;
use std::path::{Path, PathBuf};

use loadline_policy::Curve;
use serde::Deserialize;

/// Of `result.json`, as `crates/characterize/src/result.rs` writes it.
const FORMAT: u32 = 2;
/// Within the folder that characterize makes.
const RESULT: &str = "result.json";

#[derive(Deserialize)]
struct Characterization {
    format: u32,
    counts: Vec<Count>,
}

#[derive(Deserialize)]
struct Count {
    cpus: u32,
    curve: Option<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    load_line: Option<LoadLine>,
}

#[derive(Deserialize)]
struct LoadLine {
    replies_per_s: f64,
}

/// The curve in a `result.json`, or in the folder that holds one; what is relative is so to `base`. An error says what
/// is wrong with the file, and what would be right.
pub(crate) fn read(file: &str, base: &Path) -> Result<Curve, String> {
    let path = base.join(file);
    let path: PathBuf = if path.is_dir() {
        path.join(RESULT)
    } else {
        path
    };
    let text = fs::read_to_string(&path).map_err(|e| {
        format!(
            "{}: {e}: it must be the folder of a `loadline characterize --cpus 1,2` or its {RESULT}",
            path.display()
        )
    })?;
    parse(&text).map_err(|e| format!("{}: {e}", path.display()))
}

fn parse(text: &str) -> Result<Curve, String> {
    let known: Characterization = serde_json::from_str(text)
        .map_err(|e| format!("is no {RESULT} of `loadline characterize` ({e})"))?;
    if known.format != FORMAT {
        return Err(format!(
            "is a {RESULT} of format {}, and this version reads {FORMAT}: characterize anew, or write the points here",
            known.format
        ));
    }
    let line = |c: &Count| Some(c.curve.as_ref()?.load_line.as_ref()?.replies_per_s);
    let points = known
        .counts
        .iter()
        // 0: it was not known on which CPUs the server ran.
        .filter(|c| c.cpus > 0)
        .filter_map(|c| Some((f64::from(c.cpus), line(c)?)));
    let points: Vec<(f64, f64)> = points.collect();
    if points.is_empty() {
        return Err("has no load line for any number of CPUs: characterize with --cpus".into());
    }
    Curve::new(points).map_err(|e| e.to_string())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// As `loadline characterize --cpus 1,2` writes it, what is not read here left out.
    pub(crate) const TWO_COUNTS: &str = r#"{"format": 2, "partial": false, "counts": [
        {"cpus": 2, "curve": {"load_line": {"sessions_per_s": 31.5, "replies_per_s": 270.0, "p95_ms": 19.0}}},
        {"cpus": 1, "curve": {"load_line": {"sessions_per_s": 17.0, "replies_per_s": 150.0, "p95_ms": 21.0}}}
    ], "conclusion": ""}"#;

    #[test]
    fn the_load_line_of_each_cpu_count_is_a_point() {
        let dir = tempfile::tempdir().expect("a directory");
        let folder = dir.path().join("shop.characterize");
        fs::create_dir(&folder).expect("made");
        fs::write(folder.join(RESULT), TWO_COUNTS).expect("written");
        let curve = read("shop.characterize", dir.path()).expect("a curve");
        assert_eq!(curve.points(), [(1.0, 150.0), (2.0, 270.0)]);
        let file = read("shop.characterize/result.json", dir.path());
        assert_eq!(file.expect("the same"), curve);
    }

    #[test]
    fn what_is_no_characterization_is_refused_with_the_remedy() {
        let line = r#"{"load_line": {"replies_per_s": 120.0, "p95_ms": 9}}"#;
        for (text, says) in [
            (
                "{}".to_owned(),
                "is no result.json of `loadline characterize`",
            ),
            (
                r#"{"format": 1, "counts": []}"#.into(),
                "of format 1, and this version reads 2",
            ),
            (r#"{"format": 2, "counts": []}"#.into(), "has no load line"),
            (
                format!(
                    r#"{{"format": 2, "counts": [{{"cpus": 0, "curve": {line}}}, {{"cpus": 2, "curve": null}}]}}"#
                ),
                "characterize with --cpus",
            ),
        ] {
            let e = parse(&text).expect_err(says);
            assert!(e.contains(says), "{e}");
        }
        let e = read("nowhere", Path::new("/tmp")).expect_err("it is not there");
        assert!(
            e.contains("nowhere") && e.contains("loadline characterize --cpus"),
            "{e}"
        );
        let one = format!(r#"{{"format": 2, "counts": [{{"cpus": 4, "curve": {line}}}]}}"#);
        assert_eq!(parse(&one).expect("a curve").points(), [(4.0, 120.0)]);
    }
}
