//! Typed access to a table of the tree: every getter says which key, in which line, and what would be right.

use super::expr::{self, Scope, Value};
use super::tree::{Kind, Node};
use super::{LoadError, nearest, parameters};
use loadline_stats::random::Dist;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Context<'a> {
    pub file: &'a str,
    pub parameters: &'a BTreeMap<String, Value>,
}

impl Context<'_> {
    pub(super) fn wrong(&self, line: usize, message: impl Into<String>) -> LoadError {
        LoadError {
            file: self.file.to_string(),
            line,
            message: message.into(),
        }
    }

    fn evaluate(&self, text: &str) -> Result<Value, String> {
        if let Some(rest) = text.strip_prefix('=') {
            return Err(unmarked(rest));
        }
        Scope {
            parameters: self.parameters,
            folder: parameters::folder(self.file),
        }
        .evaluate(text)
    }

    pub(super) fn dist_of(&self, key: &str, node: &Node) -> Result<Dist, LoadError> {
        let value = match &node.kind {
            Kind::Number(x) => Ok(Value::Number(*x)),
            Kind::Text(text) => self.evaluate(text),
            other => Err(format!(
                "it is {}; it must be a number or an expression",
                other.name()
            )),
        };
        let dist = value
            .and_then(expr::dist)
            .map_err(|e| self.wrong(node.line, format!("{key}: {e}")))?;
        let mean = dist.mean();
        if let Dist::Constant(x) = dist
            && (x.is_nan() || x < 0.0)
        {
            return Err(self.wrong(node.line, format!("{key} is {x}; it must be 0 or more")));
        }
        if mean.is_nan() {
            return Err(self.wrong(node.line, format!("{key} has no mean")));
        }
        Ok(dist)
    }

    pub(super) fn number_of(&self, key: &str, node: &Node) -> Result<f64, LoadError> {
        let value = match &node.kind {
            Kind::Number(x) => Ok(Value::Number(*x)),
            Kind::Flag(b) => Ok(Value::Number(f64::from(u8::from(*b)))),
            Kind::Text(text) => self.evaluate(text),
            other => Err(format!(
                "it is {}; it must be a number or an expression",
                other.name()
            )),
        };
        match value {
            Ok(Value::Number(x)) => Ok(x),
            Ok(_) => Err(self.wrong(node.line, format!("{key} must be a number"))),
            Err(e) => Err(self.wrong(node.line, format!("{key}: {e}"))),
        }
    }

    /// Text, as it stands.
    pub(super) fn text_of(&self, key: &str, node: &Node) -> Result<String, LoadError> {
        match &node.kind {
            Kind::Text(text) => match text.strip_prefix('=') {
                None => Ok(text.clone()),
                Some(rest) => Err(self.wrong(node.line, format!("{key}: {}", unmarked(rest)))),
            },
            other => Err(self.wrong(
                node.line,
                format!("{key} is {}; it must be text", other.name()),
            )),
        }
    }

    /// One of the `known` names, or an expression that gives one.
    fn name_of(&self, key: &str, node: &Node, known: &[&str]) -> Result<String, LoadError> {
        let text = self.text_of(key, node)?;
        if known.contains(&text.as_str()) {
            return Ok(text);
        }
        match self.evaluate(&text) {
            Ok(Value::Text(name)) => Ok(name),
            // No expression: a misspelt name, about which the caller knows more to say.
            _ => Ok(text),
        }
    }
}

/// What is said of an expression that is marked as one.
fn unmarked(expression: &str) -> String {
    format!("write \"{expression}\" without the `=`: expressions need no mark")
}

/// The longest time that a model may name, in seconds: three years. Beyond it a run would never complete anything, and
/// nanoseconds in 64 bits would end after 584 years.
const LONGEST_S: f64 = 1e8;

/// A table, and which of its keys were asked for.
pub(super) struct Section<'a> {
    pub context: &'a Context<'a>,
    pub path: String,
    pub line: usize,
    pub entries: &'a [(String, usize, Node)],
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Section<'a> {
    pub(super) fn root(context: &'a Context<'a>, node: &'a Node) -> Result<Section<'a>, LoadError> {
        Section::of(context, String::new(), node)
    }

    pub(super) fn of(
        context: &'a Context<'a>,
        path: String,
        node: &'a Node,
    ) -> Result<Section<'a>, LoadError> {
        match &node.kind {
            Kind::Table(entries) => Ok(Section {
                context,
                path,
                line: node.line,
                entries,
                asked: RefCell::new(BTreeSet::new()),
            }),
            other => Err(context.wrong(
                node.line,
                format!("{path} is {}; it must be a table", other.name()),
            )),
        }
    }

    fn key(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_string()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    pub(super) fn wrong(&self, key: &str, message: impl Into<String>) -> LoadError {
        let line = self
            .entries
            .iter()
            .find(|(k, ..)| k == key)
            .map_or(self.line, |(_, line, _)| *line);
        self.context
            .wrong(line, format!("{}: {}", self.key(key), message.into()))
    }

    /// Marks a key as read elsewhere.
    pub(super) fn known(&self, key: &str) {
        self.asked.borrow_mut().insert(key.to_string());
    }

    pub(super) fn node(&self, key: &str) -> Option<&'a Node> {
        self.known(key);
        self.entries
            .iter()
            .find(|(k, ..)| k == key)
            .map(|(_, _, node)| node)
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<String>, LoadError> {
        self.node(key)
            .map(|n| self.context.text_of(&self.key(key), n))
            .transpose()
    }

    pub(super) fn choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, LoadError> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let names: Vec<&str> = choices.iter().map(|c| c.0).collect();
        let text = self.context.name_of(&self.key(key), node, &names)?;
        match choices.iter().find(|(name, _)| *name == text) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let hint = nearest(&text, names.iter().copied())
                    .map_or(String::new(), |n| format!("; did you mean {n}?"));
                Err(self.wrong(
                    key,
                    format!(
                        "\"{text}\" is not known; there are {}{hint}",
                        names.join(", ")
                    ),
                ))
            }
        }
    }

    pub(super) fn number(&self, key: &str, low: f64, high: f64) -> Result<Option<f64>, LoadError> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let x = self.context.number_of(&self.key(key), node)?;
        if (low..=high).contains(&x) {
            return Ok(Some(x));
        }
        let range = if high == f64::INFINITY {
            format!("{low} or more")
        } else {
            format!("from {low} to {high}")
        };
        Err(self.wrong(key, format!("it is {x}; it must be {range}")))
    }

    /// A whole number from `low`; `unlimited` is [`crate::model::UNLIMITED`].
    pub(super) fn count(&self, key: &str, low: f64) -> Result<Option<u32>, LoadError> {
        let Some(x) = self.number(key, low, f64::INFINITY)? else {
            return Ok(None);
        };
        if x == f64::INFINITY {
            return Ok(Some(crate::model::UNLIMITED));
        }
        if x.fract().abs() > 1e-9 || x > 1e9 {
            return Err(self.wrong(key, format!("it is {x}; it must be a whole number")));
        }
        Ok(Some(x.round() as u32))
    }

    pub(super) fn flag(&self, key: &str) -> Result<bool, LoadError> {
        Ok(self.number(key, 0.0, 1.0)?.is_some_and(|x| x != 0.0))
    }

    pub(super) fn dist(&self, key: &str) -> Result<Option<Dist>, LoadError> {
        self.node(key)
            .map(|n| self.context.dist_of(&self.key(key), n))
            .transpose()
    }

    /// How long something takes.
    pub(super) fn time(&self, key: &str) -> Result<Option<Dist>, LoadError> {
        let time = self.dist(key)?;
        match time.as_ref().map(Dist::mean) {
            // A law without a mean gives finite times all the same.
            Some(mean)
                if mean > LONGEST_S
                    && (mean.is_finite() || matches!(time, Some(Dist::Constant(_)))) =>
            {
                Err(self.too_long(key, mean))
            }
            _ => Ok(time),
        }
    }

    /// How long something is waited for; "unlimited" is for ever.
    pub(super) fn patience(&self, key: &str) -> Result<Option<Dist>, LoadError> {
        match self.dist(key)? {
            Some(Dist::Constant(f64::INFINITY)) => Ok(None),
            _ => self.time(key),
        }
    }

    /// A fixed time in seconds, `low` or more.
    pub(super) fn seconds(&self, key: &str, low: f64) -> Result<Option<f64>, LoadError> {
        match self.number(key, low, f64::INFINITY)? {
            Some(x) if x > LONGEST_S => Err(self.too_long(key, x)),
            x => Ok(x),
        }
    }

    /// As [`Section::seconds`]; "unlimited" is for ever.
    pub(super) fn seconds_or_never(&self, key: &str) -> Result<Option<f64>, LoadError> {
        match self.number(key, 0.0, f64::INFINITY)? {
            Some(f64::INFINITY) => Ok(Some(f64::INFINITY)),
            _ => self.seconds(key, 0.0),
        }
    }

    fn too_long(&self, key: &str, seconds: f64) -> LoadError {
        self.wrong(
            key,
            format!("it is {seconds:e} s; a time must be {LONGEST_S:e} s (three years) or less"),
        )
    }

    pub(super) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, LoadError> {
        value.ok_or_else(|| {
            self.context
                .wrong(self.line, format!("{} is missing", self.key(key)))
        })
    }

    pub(super) fn list(&self, key: &str) -> Result<Option<&'a [Node]>, LoadError> {
        match self.node(key) {
            None => Ok(None),
            Some(Node {
                kind: Kind::List(list),
                ..
            }) => Ok(Some(list)),
            Some(node) => Err(self.wrong(
                key,
                format!("it is {}; it must be a list", node.kind.name()),
            )),
        }
    }

    pub(super) fn section(&self, key: &str) -> Result<Option<Section<'a>>, LoadError> {
        self.node(key)
            .map(|node| Section::of(self.context, self.key(key), node))
            .transpose()
    }

    /// The named tables below `key`: `[machines.web]`, `[machines.db]`.
    pub(super) fn named(&self, key: &str) -> Result<Vec<(String, Section<'a>)>, LoadError> {
        let Some(section) = self.section(key)? else {
            return Ok(Vec::new());
        };
        section
            .entries
            .iter()
            .map(|(name, _, node)| {
                Ok((
                    name.clone(),
                    Section::of(self.context, format!("{key}.{name}"), node)?,
                ))
            })
            .collect()
    }

    /// The index of the thing that `key` names among `known`.
    pub(super) fn reference(
        &self,
        key: &str,
        kind: &str,
        known: &[&str],
    ) -> Result<Option<usize>, LoadError> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let text = self.context.name_of(&self.key(key), node, known)?;
        find(&text, kind, known)
            .map(Some)
            .map_err(|e| self.wrong(key, e))
    }

    /// All keys must have been asked for.
    pub(super) fn finish(&self) -> Result<(), LoadError> {
        let asked = self.asked.borrow();
        match self.entries.iter().find(|(key, ..)| !asked.contains(key)) {
            None => Ok(()),
            Some((key, line, _)) => {
                let hint = nearest(key, asked.iter().map(String::as_str)).map_or_else(
                    || {
                        format!(
                            "; there are {}",
                            asked.iter().cloned().collect::<Vec<_>>().join(", ")
                        )
                    },
                    |near| format!("; did you mean `{near}`?"),
                );
                Err(self
                    .context
                    .wrong(*line, format!("{} is not known{hint}", self.key(key))))
            }
        }
    }
}

/// The index of a name.
pub(super) fn find(name: &str, kind: &str, known: &[&str]) -> Result<usize, String> {
    known.iter().position(|k| *k == name).ok_or_else(|| {
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("; did you mean \"{near}\"?"),
            None if known.is_empty() => String::new(),
            None => format!("; there are {}", known.join(", ")),
        };
        format!("there is no {kind} \"{name}\"{hint}")
    })
}
