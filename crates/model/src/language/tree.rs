//! TOML as a tree whose every value knows its line.

use super::LoadError;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub line: usize,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Text(String),
    Number(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Vec<(String, usize, Node)>),
}

impl Kind {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Kind::Text(_) => "text",
            Kind::Number(_) => "a number",
            Kind::Flag(_) => "true or false",
            Kind::List(_) => "a list",
            Kind::Table(_) => "a table",
        }
    }
}

pub(super) fn parse(text: &str, file: &str) -> Result<Node, LoadError> {
    let line_of = |offset: usize| {
        1 + text.as_bytes()[..offset.min(text.len())]
            .iter()
            .filter(|&&b| b == b'\n')
            .count()
    };
    let table = DeTable::parse(text).map_err(|e| LoadError {
        file: file.to_string(),
        line: e.span().map_or(1, |s| line_of(s.start)),
        message: format!("not TOML: {}", e.message()),
    })?;
    Ok(Node {
        line: 1,
        kind: Kind::Table(entries(table.get_ref(), &line_of, file)?),
    })
}

type Entries = Vec<(String, usize, Node)>;

fn entries(
    table: &DeTable<'_>,
    line_of: &impl Fn(usize) -> usize,
    file: &str,
) -> Result<Entries, LoadError> {
    let mut list: Entries = Vec::new();
    for (key, value) in table {
        list.push((
            key.get_ref().to_string(),
            line_of(key.span().start),
            node(value, line_of, file)?,
        ));
    }
    // In the order of the file: positions in messages and the order of parameters follow it.
    list.sort_by_key(|(_, line, _)| *line);
    Ok(list)
}

fn node(
    value: &Spanned<DeValue<'_>>,
    line_of: &impl Fn(usize) -> usize,
    file: &str,
) -> Result<Node, LoadError> {
    let line = line_of(value.span().start);
    let wrong = |what: &str| LoadError {
        file: file.to_string(),
        line,
        message: what.to_string(),
    };
    let kind = match value.get_ref() {
        DeValue::String(s) => Kind::Text(s.to_string()),
        DeValue::Integer(i) => Kind::Number(
            i64::from_str_radix(&i.as_str().replace('_', ""), i.radix())
                .map_err(|_| wrong("this whole number is too large"))? as f64,
        ),
        DeValue::Float(f) => Kind::Number(
            f.as_str()
                .replace('_', "")
                .parse()
                .map_err(|_| wrong("this is not a number"))?,
        ),
        DeValue::Boolean(b) => Kind::Flag(*b),
        DeValue::Datetime(_) => return Err(wrong("dates mean nothing in a model")),
        DeValue::Array(list) => Kind::List(
            list.iter()
                .map(|v| node(v, line_of, file))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => Kind::Table(entries(table, line_of, file)?),
    };
    Ok(Node { line, kind })
}
