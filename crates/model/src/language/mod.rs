//! Reading models from TOML.
//!
//! Text becomes a tree that knows the line of every value; parameters are evaluated first (with `--set` applied), then
//! every section, then programs, which refer to the sections by name. Every error names file, line, key and what would
//! be right; an unknown key or name comes with the nearest known one.

mod check;
mod declared;
mod expr;
mod functions;
mod like;
mod parameters;
mod program;
mod section;
mod sources;
mod tree;

pub(crate) use check::each as each_step;
pub use expr::Value;

use crate::model::Model;
use section::{Context, Section};
use std::path::Path;

/// What is wrong with a model file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{file}{}: {message}", if *line == 0 { String::new() } else { format!(":{line}") })]
pub struct LoadError {
    /// The file.
    pub file: String,
    /// The line, counted from 1; 0 where it is about the whole file, or about what the command line says.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// A parameter given on the command line: name and expression.
pub type Setting = (String, String);

/// Reads a model from a file.
pub fn from_file(path: &Path, settings: &[Setting]) -> Result<Model, LoadError> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| LoadError {
        file: file.clone(),
        line: 0,
        message: format!("cannot be read: {e}"),
    })?;
    from_text(&text, &file, settings)
}

/// Reads a model from text; `file` is for messages, and where relative paths in it begin.
pub fn from_text(text: &str, file: &str, settings: &[Setting]) -> Result<Model, LoadError> {
    let root = like::resolve(tree::parse(text, file)?, file)?;
    let parameters::Parameters { values, uncertain } = parameters::evaluate(&root, file, settings)?;
    let context = Context {
        file,
        parameters: &values,
    };
    let root = Section::root(&context, &root)?;
    let mut model = Model {
        file: file.to_string(),
        ..Model::default()
    };
    model.title = root.text("title")?.unwrap_or_default();
    model.precision = root.number("precision", 1e-6, 0.5)?;
    model.uncertain = uncertain;
    for (name, value) in values.iter() {
        model.parameters.insert(name.clone(), value.to_string());
    }
    root.known("parameters");
    declared::read(&root, &mut model)?;
    program::read(&root, &mut model)?;
    sources::read(&root, &mut model)?;
    root.finish()?;
    check::model(&root, &mut model)?;
    Ok(model)
}

/// A documented model that uses most of what there is.
pub fn example() -> &'static str {
    include_str!("example.toml")
}

/// The nearest of `known` to a misspelt `name`, if one is near.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|k| (distance(name, k), k))
        .filter(|&(d, k)| d <= 1 + k.len() / 4)
        .min_by_key(|&(d, _)| d)
        .map(|(_, k)| k)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
