//! The parameters of a model: defaults in the file, overridden by `--set`.
//!
//! `clients = 8`, `demand = "5ms"`, or with documentation and a range:
//! `clients = { default = 8, range = [1, 1000], help = "…" }`, `database = { default = "A", choices = ["A", "B"] }`.
//! What was fitted has the half width of its 95% interval: `page = { default = "3ms", ci95 = "0.1ms" }`.

use super::expr::{Scope, Value};
use super::tree::{Kind, Node};
use super::{LoadError, Setting, nearest};
use crate::model::Uncertain;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn folder(file: &str) -> PathBuf {
    Path::new(file)
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default()
}

pub(super) fn evaluate(
    root: &Node,
    file: &str,
    settings: &[Setting],
) -> Result<Parameters, LoadError> {
    let mut values = BTreeMap::new();
    let mut uncertain = Vec::new();
    let wrong = |line: usize, message: String| LoadError {
        file: file.to_string(),
        line,
        message,
    };
    let empty = Vec::new();
    let declared = match &root.kind {
        Kind::Table(entries) => match entries.iter().find(|(name, ..)| name == "parameters") {
            Some((
                _,
                _,
                Node {
                    kind: Kind::Table(parameters),
                    ..
                },
            )) => parameters,
            Some((_, line, node)) => {
                return Err(wrong(
                    *line,
                    format!("parameters is {}; it must be a table", node.kind.name()),
                ));
            }
            None => &empty,
        },
        _ => &empty,
    };
    if let Some((name, _)) = settings
        .iter()
        .find(|(name, _)| !declared.iter().any(|(d, ..)| d == name))
    {
        let known = declared.iter().map(|(d, ..)| d.as_str());
        let hint = nearest(name, known.clone()).map_or_else(
            || match known.clone().collect::<Vec<_>>()[..] {
                [] => "it has none".into(),
                ref all => format!("it has {}", all.join(", ")),
            },
            |near| format!("did you mean `{near}`?"),
        );
        return Err(wrong(
            0,
            format!("--set {name}: the model has no such parameter; {hint}"),
        ));
    }
    for (name, line, node) in declared {
        let given = settings
            .iter()
            .rev()
            .find(|(n, _)| n == name)
            .map(|(_, text)| text.as_str());
        let Details {
            default,
            choices,
            range,
            ci95,
        } = details(node, name, &wrong)?;
        let value = match (given, &default.kind) {
            (Some(text), _) if choices.is_some() => {
                Value::Text(text.trim_matches(['\'', '"']).to_string())
            }
            (None, Kind::Text(text)) if choices.is_some() => Value::Text(text.clone()),
            (Some(text), _) => evaluate_one(&values, file, text)
                .map_err(|e| wrong(0, format!("--set {name}={text}: {e}")))?,
            (None, Kind::Text(text)) => evaluate_one(&values, file, text)
                .map_err(|e| wrong(*line, format!("{name}: {e}")))?,
            (None, Kind::Number(x)) => Value::Number(*x),
            (None, Kind::Flag(b)) => Value::Number(f64::from(u8::from(*b))),
            (None, other) => {
                return Err(wrong(
                    *line,
                    format!("{name} is {}; it must be a number or text", other.name()),
                ));
            }
        };
        let unfit = |must: String| match given {
            Some(text) => wrong(0, format!("--set {name}={text}: it must be {must}")),
            None => wrong(*line, format!("{name} is {value}; it must be {must}")),
        };
        if let (Some(choices), Value::Text(text)) = (&choices, &value)
            && !choices.contains(text)
        {
            return Err(unfit(format!("one of {}", choices.join(", "))));
        }
        if let (Some((low, high)), Value::Number(x)) = (range, &value)
            && !(low..=high).contains(x)
        {
            return Err(unfit(format!("from {low} to {high}")));
        }
        if let Some(ci95) = ci95 {
            let half = match &ci95.kind {
                Kind::Number(x) => Ok(Value::Number(*x)),
                Kind::Text(text) => evaluate_one(&values, file, text),
                other => Err(format!("it is {}", other.name())),
            };
            match (half, &value) {
                (Ok(Value::Number(ci95)), Value::Number(x)) if ci95 >= 0.0 => {
                    // What the user sets is taken as it is.
                    if given.is_none() {
                        uncertain.push(Uncertain {
                            name: name.clone(),
                            value: *x,
                            ci95,
                            range,
                        });
                    }
                }
                (Err(e), _) => return Err(wrong(ci95.line, format!("{name}.ci95: {e}"))),
                _ => {
                    let must = "it must be a number of 0 or more, of a parameter that is a number";
                    return Err(wrong(ci95.line, format!("{name}.ci95: {must}")));
                }
            }
        }
        values.insert(name.clone(), value);
    }
    Ok(Parameters { values, uncertain })
}

/// Parameters as they are, and what is not exactly known of them.
pub(super) struct Parameters {
    pub values: BTreeMap<String, Value>,
    pub uncertain: Vec<Uncertain>,
}

struct Details<'a> {
    default: &'a Node,
    choices: Option<Vec<String>>,
    range: Option<(f64, f64)>,
    ci95: Option<&'a Node>,
}

fn details<'a>(
    node: &'a Node,
    name: &str,
    wrong: &impl Fn(usize, String) -> LoadError,
) -> Result<Details<'a>, LoadError> {
    let Kind::Table(entries) = &node.kind else {
        return Ok(Details {
            default: node,
            choices: None,
            range: None,
            ci95: None,
        });
    };
    let (mut default, mut choices, mut range, mut ci95) = (None, None, None, None);
    for (key, line, value) in entries {
        match (key.as_str(), &value.kind) {
            ("default", _) => default = Some(value),
            ("help", Kind::Text(_)) => {}
            ("ci95", _) => ci95 = Some(value),
            ("choices", Kind::List(list)) => {
                let words: Vec<String> = list
                    .iter()
                    .filter_map(|n| {
                        if let Kind::Text(t) = &n.kind {
                            Some(t.clone())
                        } else {
                            None
                        }
                    })
                    .collect();
                choices = Some(words);
            }
            ("range", Kind::List(list)) => match list.as_slice() {
                [
                    Node {
                        kind: Kind::Number(low),
                        ..
                    },
                    Node {
                        kind: Kind::Number(high),
                        ..
                    },
                ] => {
                    range = Some((*low, *high));
                }
                _ => return Err(wrong(*line, format!("{name}.range must be two numbers"))),
            },
            _ => {
                return Err(wrong(
                    *line,
                    format!(
                        "{name}.{key} is not known; there are default, range, choices, ci95, help"
                    ),
                ));
            }
        }
    }
    let default = default.ok_or_else(|| wrong(node.line, format!("{name}.default is missing")))?;
    Ok(Details {
        default,
        choices,
        range,
        ci95,
    })
}

fn evaluate_one(values: &BTreeMap<String, Value>, file: &str, text: &str) -> Result<Value, String> {
    Scope {
        parameters: values,
        folder: folder(file),
    }
    .evaluate(text)
}
