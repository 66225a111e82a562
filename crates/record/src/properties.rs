//! The system properties of a running JVM, asked of it by the attach protocol: nothing is loaded into it.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::attach::Attach;
use crate::error::Result;
use crate::target::Target;

/// How long a JVM may take to answer: it does so in a thread of its own, also when it is busy.
const AT_MOST: Duration = Duration::from_secs(10);

/// All that are strings, by their names.
pub fn system_properties(pid: i32) -> Result<BTreeMap<String, String>> {
    let target = Target::look(pid)?;
    target.check_recordable()?;
    let attach = Attach::open(&target, AT_MOST)?;
    let text = attach.command("properties", ["", "", ""], AT_MOST)?;
    Ok(parse(&text))
}

/// What `java.util.Properties.store` writes: a line each, comments with `#`, what is special behind a backslash.
fn parse(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (key, value) = line.split_at(end_of_key(line));
            (plain(key), plain(value.strip_prefix('=').unwrap_or(value)))
        })
        .collect()
}

/// The first `=` that no backslash stands before.
fn end_of_key(line: &str) -> usize {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            '=' if !escaped => return at,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    line.len()
}

fn plain(text: &str) -> String {
    let mut units = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    let push = |units: &mut Vec<u16>, c: char| {
        let mut buffer = [0; 2];
        units.extend_from_slice(c.encode_utf16(&mut buffer));
    };
    while let Some(c) = chars.next() {
        if c != '\\' {
            push(&mut units, c);
            continue;
        }
        match chars.next() {
            Some('n') => push(&mut units, '\n'),
            Some('r') => push(&mut units, '\r'),
            Some('t') => push(&mut units, '\t'),
            Some('f') => push(&mut units, '\u{c}'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                // Half of a character beyond 16 bits may stand here: both halves make it again.
                units.extend(u16::from_str_radix(&digits, 16));
            }
            Some(c) => push(&mut units, c),
            None => {}
        }
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_as_java_writes_them() {
        let text = "#Tue Nov 24 02:00:00 UTC 2026\n\
                    dev.loadline.guard/requests\\ of\\ Catalina={\"name\"\\:\"x\\\\u0022\",\"a\"\\:1}\n\
                    line.separator=\\n\nempty=\nodd\\=key=a\\=b\nsmile=\\uD83D\\uDE00\\u00E9\n";
        let all = parse(text);
        assert_eq!(
            all["dev.loadline.guard/requests of Catalina"],
            r#"{"name":"x\u0022","a":1}"#
        );
        assert_eq!(all["line.separator"], "\n");
        assert_eq!((&*all["empty"], &*all["odd=key"]), ("", "a=b"));
        assert_eq!(all["smile"], "\u{1f600}é");
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn what_is_cut_off_is_read_as_far_as_it_goes() {
        for text in ["a=\\", "a=\\u12", "a\\", "=", "\\u"] {
            assert!(parse(text).len() == 1, "{text}");
        }
    }
}
