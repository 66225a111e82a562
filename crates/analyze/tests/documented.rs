//! What the documentation shows runs: the SQL of `docs/query.md`, the example of metrics, the notebook.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use loadline_analyze::query::{self, FileFormat};
use loadline_analyze::{metrics, report};
use loadline_trace::Trace;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A second of the auction site.
fn trace() -> &'static Trace {
    static TRACE: OnceLock<(tempfile::TempDir, Trace)> = OnceLock::new();
    let (_, trace) = TRACE.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a directory");
        let fixture = root().join("crates/analyze/tests/data/shop/raw");
        let trace = loadline_analyze::testing::built(&fixture, dir.path());
        (dir, trace)
    });
    trace
}

/// Blocks of a page that are fenced as `language`.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs").join(page)).expect(page);
    let fence = format!("```{language}\n");
    text.split(&fence)
        .skip(1)
        .map(|rest| rest.split("```").next().expect("an end").to_owned())
        .collect()
}

#[test]
fn the_sql_of_the_page_about_queries_runs() {
    let sql = blocks("query.md", "sql");
    assert!(sql.len() >= 3, "{} blocks", sql.len());
    for sql in sql {
        query::run(trace(), &sql).unwrap_or_else(|e| panic!("{sql}\n{e}"));
    }
}

#[test]
fn the_example_of_metrics_is_measured_and_shown() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), metrics::EXAMPLE).expect("written");
    let wanted = metrics::load(file.path()).expect("it is well-formed");
    let measured = metrics::measure(trace(), &wanted).expect("each gives a number");
    let value = |name: &str| {
        let m = measured.iter().find(|m| m.metric.name == name);
        m.unwrap_or_else(|| panic!("{name}")).value
    };
    assert!(value("responses, 99th percentile").expect("requests") > 0.0);
    assert_eq!(value("server errors"), Some(0.0));
    let mut report = report::report(trace()).expect("a report");
    report.metrics = measured;
    let page = report.render(false);
    assert!(
        page.contains("your metrics") && page.contains("statements per request"),
        "{page}"
    );
}

#[test]
fn a_metric_that_gives_no_number_is_an_error_with_its_place() {
    for (sql, what) in [
        ("SELECT 'a'", "a text"),
        ("SELECT 1, 2", "2 columns"),
        ("SELECT 1 UNION ALL SELECT 2", "more than one row"),
        ("SELECT x", "\"x\" was not found"),
    ] {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(
            file.path(),
            format!("[[metric]]\nname = \"m\"\nsql = \"{sql}\""),
        )
        .expect("written");
        let wanted = metrics::load(file.path()).expect("it is well-formed");
        let e = metrics::measure(trace(), &wanted).expect_err(sql);
        let text = format!("{e:#}");
        assert!(
            text.contains(what) && text.contains(":1: metric \"m\""),
            "{text}"
        );
    }
}

#[test]
fn a_bound_that_is_broken_is_said() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = "[[metric]]\nname = \"m\"\nsql = \"SELECT 3\"\nat_most = 2.5\n[[metric]]\nname = \"n\"\nsql = \"SELECT NULL\"\nat_most = 1";
    std::fs::write(file.path(), text).expect("written");
    let measured = metrics::measure(trace(), &metrics::load(file.path()).expect("well-formed"))
        .expect("measured");
    assert_eq!((measured[0].value, measured[0].well), (Some(3.0), false));
    assert_eq!((measured[1].value, measured[1].well), (None, true));
}

#[test]
fn rows_are_saved_in_every_format() {
    let dir = tempfile::tempdir().expect("a directory");
    let sql = "SELECT id, name, begin_ns, complete FROM spans WHERE kind = 'request' ORDER BY id;";
    let rows = query::run(trace(), sql).expect("rows").rows;
    for name in ["r.parquet", "r.csv", "r.arrow"] {
        let path = dir.path().join(name);
        let format = FileFormat::of(&path).expect("a known ending");
        let saved = query::save(trace(), sql, &path, format).expect(name);
        assert_eq!(saved, rows.len() as u64, "{name}");
        if name == "r.arrow" {
            let file = std::fs::File::open(&path).expect("it is there");
            let reader = arrow_ipc::reader::FileReader::try_new(file, None).expect("Arrow");
            let read: usize = reader.map(|b| b.expect("a batch").num_rows()).sum();
            assert_eq!(read, rows.len());
            continue;
        }
        let back = format!(
            "SELECT id, name, begin_ns, complete FROM '{}' ORDER BY id",
            path.display()
        );
        assert_eq!(query::run(trace(), &back).expect(name).rows, rows, "{name}");
    }
    let wrong = query::save(
        trace(),
        "SELECT nothing",
        &dir.path().join("w.csv"),
        FileFormat::Csv,
    );
    assert!(
        wrong
            .expect_err("no such column")
            .to_string()
            .contains("nothing")
    );
    assert_eq!(
        std::fs::read_dir(dir.path()).expect("it").count(),
        3,
        "nothing half-written is left"
    );
}

#[test]
fn the_notebook_runs() {
    let test = "the_notebook_runs";
    let packages = Command::new(root().join("scripts/python-packages"))
        .arg("polars==1.34.0")
        .output()
        .expect("the script starts");
    if !packages.status.success() {
        use std::io::Write;
        let why = String::from_utf8_lossy(&packages.stderr).into_owned();
        let _ = writeln!(std::io::stderr(), "SKIP {test}: {}", why.trim());
        return;
    }
    let text = std::fs::read_to_string(root().join("docs/notebook.ipynb")).expect("the notebook");
    let notebook: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut program = String::new();
    for cell in notebook["cells"].as_array().expect("cells") {
        if cell["cell_type"] == "code" {
            let lines = cell["source"].as_array().expect("lines");
            program.extend(lines.iter().filter_map(|l| l.as_str()));
            program.push('\n');
        }
    }
    program +=
        "print(endpoints.height, breakdown.height, threads.height, over_time['requests'].sum())\n";
    let said = Command::new("python3")
        .args(["-c", &program])
        .env(
            "PYTHONPATH",
            String::from_utf8_lossy(&packages.stdout).trim(),
        )
        .env("TRACE", &trace().dir)
        .output()
        .expect("python starts");
    let out = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        said.status.success(),
        "{out}{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let requests: i64 = trace()
        .sql()
        .expect("views")
        .query_row(
            "SELECT count(*) FROM spans WHERE kind = 'request' AND complete",
            [],
            |r| r.get(0),
        )
        .expect("a count");
    let last = out.lines().last().expect("the last line");
    assert!(last.ends_with(&format!(" {requests}")), "{last}");
}
