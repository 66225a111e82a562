//! Parts that repeat: `[pools.second] like = "first"` takes every key of `[pools.first]` that it does not give itself.
//!
//! Keys are taken whole: a `program` replaces a `program`, a table of `entries` a table of `entries`. What is taken keeps the
//! line where it was written, so that errors point there. A part may be like one that is like a third.

use super::LoadError;
use super::nearest;
use super::tree::{Kind, Node};

type Entries = Vec<(String, usize, Node)>;

/// Sections whose parts have names.
const SECTIONS: [&str; 11] = [
    "machines",
    "pools",
    "stations",
    "resources",
    "links",
    "heaps",
    "groups",
    "guards",
    "tls",
    "classes",
    "sessions",
];

/// Resolves every `like` of a file.
pub(super) fn resolve(mut root: Node, file: &str) -> Result<Node, LoadError> {
    if let Kind::Table(sections) = &mut root.kind {
        for (section, _, node) in sections {
            if let (true, Kind::Table(parts)) =
                (SECTIONS.contains(&section.as_str()), &mut node.kind)
            {
                let written = parts.clone();
                for (name, _, part) in parts.iter_mut() {
                    if let Kind::Table(entries) = &mut part.kind {
                        *entries = whole(section, name, &written, &mut Vec::new(), file)?;
                    }
                }
            }
        }
    }
    Ok(root)
}

/// All keys of a part: its own, and those that it takes. `path` is who asked for whom, to find circles.
fn whole(
    section: &str,
    name: &str,
    written: &Entries,
    path: &mut Vec<String>,
    file: &str,
) -> Result<Entries, LoadError> {
    let Some((
        _,
        _,
        Node {
            kind: Kind::Table(own),
            ..
        },
    )) = written.iter().find(|(n, ..)| n == name)
    else {
        return Ok(Vec::new());
    };
    let mut entries = own.clone();
    let Some(at) = entries.iter().position(|(key, ..)| key == "like") else {
        return Ok(entries);
    };
    let (_, line, model) = entries.remove(at);
    let wrong = |message: String| LoadError {
        file: file.to_string(),
        line,
        message: format!("{section}.{name}.like: {message}"),
    };
    let Kind::Text(other) = model.kind else {
        return Err(wrong(format!(
            "it is {}; it must be a name",
            model.kind.name()
        )));
    };
    if !written.iter().any(|(n, ..)| *n == other) {
        let hint = nearest(
            &other,
            written
                .iter()
                .map(|(n, ..)| n.as_str())
                .filter(|n| *n != name),
        )
        .map_or(String::new(), |n| format!("; did you mean \"{n}\"?"));
        return Err(wrong(format!("there is no [{section}.{other}]{hint}")));
    }
    path.push(name.to_string());
    if path.contains(&other) {
        return Err(wrong(format!("{} are like each other", path.join(" and "))));
    }
    for taken in whole(section, &other, written, path, file)? {
        if !entries.iter().any(|(key, ..)| *key == taken.0) {
            entries.push(taken);
        }
    }
    Ok(entries)
}
