//! The loader on what nobody meant to write: random bytes and mutations of the shipped models. It never panics, and a
//! model that it accepts can be drawn, solved and simulated without a panic or a hang. `tests/corpus` keeps inputs that
//! once went wrong, and some that look as if they might.

use loadline_model::language::from_text;
use loadline_model::run::{Options, simulate};
use loadline_model::{draw, solve};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut files = Vec::new();
    for folder in ["", "queues", "threading"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        files.extend(
            entries
                .map(|e| e.unwrap().path())
                .filter(|p| p.extension().is_some_and(|e| e == "toml")),
        );
    }
    files.sort();
    files
}

/// Loads a text and, if it is accepted, puts the model through everything briefly.
fn survives(text: &str) {
    let Ok(model) = from_text(text, "fuzz.toml", &[]) else {
        return;
    };
    // A loader may accept ten million clients; a test need not run them.
    let heavy = model.sources.iter().any(|s| {
        matches!(s.arrivals, loadline_model::model::Arrivals::Closed(n) if n > 2_000)
            || s.quota.is_some_and(|q| q.requests > 2_000)
    }) || model.pools.iter().any(|p| p.min_threads > 2_000);
    if heavy {
        return;
    }
    draw::drawing(&model);
    let options = Options {
        requests: Some(200),
        most_seconds: 1e4,
        workers: 1,
        ..Options::default()
    };
    for solver in [solve::Solver::Mva, solve::Solver::Approximate] {
        let _ = solve::evaluate(&model, solver, &options);
    }
    if !model.terminates() {
        simulate(&model, &options);
    }
}

#[test]
fn the_corpus_is_survived() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        survives(&String::from_utf8_lossy(&bytes));
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

const PIECES: [&str; 24] = [
    "-1",
    "0",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "99999999999",
    "\"unlimited\"",
    "[]",
    "{}",
    "\"\"",
    "true",
    "\"exp(0)\"",
    "\"1/0\"",
    "\"hyper(1, 0)\"",
    "[[",
    "\"=clients\"",
    "1979-05-27",
    "cores",
    "threads",
    "program",
    "é",
    "\u{0}",
    "0x7f",
];

/// A model with a few characters removed, doubled, moved, or replaced by something of another kind.
fn mutated() -> impl Strategy<Value = String> {
    let texts: Vec<String> = models()
        .iter()
        .map(|f| std::fs::read_to_string(f).unwrap())
        .collect();
    let edits = prop::collection::vec((0.0f64..1.0, 0usize..40, 0..5u8, 0..PIECES.len()), 1..6);
    (prop::sample::select(texts), edits).prop_map(|(text, edits)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (place, length, kind, piece) in edits {
            let at = (place * chars.len() as f64) as usize;
            let end = (at + length).min(chars.len());
            let part: Vec<char> = chars[at..end].to_vec();
            match kind {
                0 => drop(chars.drain(at..end)),
                1 => drop(chars.splice(at..at, part)),
                2 => drop(chars.splice(at..end, PIECES[piece].chars())),
                3 => {
                    // A value of its line.
                    let equals = chars[at..]
                        .iter()
                        .position(|c| *c == '=')
                        .map(|i| at + i + 1);
                    if let Some(from) = equals {
                        let to = chars[from..]
                            .iter()
                            .position(|c| *c == '\n')
                            .map_or(chars.len(), |i| from + i);
                        drop(chars.splice(from..to, PIECES[piece].chars()));
                    }
                }
                _ => {
                    let lines: Vec<String> = chars
                        .iter()
                        .collect::<String>()
                        .lines()
                        .map(String::from)
                        .collect();
                    let line = (place * lines.len() as f64) as usize;
                    let kept = lines.iter().enumerate().filter(|(i, _)| *i != line);
                    chars = kept
                        .map(|(_, l)| l.as_str())
                        .collect::<Vec<_>>()
                        .join("\n")
                        .chars()
                        .collect();
                }
            }
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn mutated_models_are_survived(text in mutated()) {
        survives(&text);
    }
}
