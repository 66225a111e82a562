//! SQL as a statement's name: literals become `?`, white space becomes one space, comments go.
//!
//! Statements that differ only in their values then have one name. Text that is normalised
//! already stays as it is.

/// Longest name; a generated statement may be megabytes.
const LIMIT: usize = 2000;

/// The normalised text.
pub fn normalise(sql: &str) -> String {
    let chars: Vec<char> = sql.chars().take(4 * LIMIT).collect();
    let mut out = String::with_capacity(sql.len().min(LIMIT));
    let mut at = 0;
    while at < chars.len() && out.len() < LIMIT {
        let c = chars[at];
        let next = chars.get(at + 1).copied();
        at = match c {
            '\'' => {
                out.push('?');
                after_quoted(&chars, at, '\'')
            }
            '"' | '`' => {
                let end = after_quoted(&chars, at, c); // an identifier: kept
                out.extend(&chars[at..end]);
                end
            }
            '-' if next == Some('-') => {
                space(&mut out);
                until(&chars, at, |rest| rest[0] == '\n')
            }
            '/' if next == Some('*') => {
                space(&mut out);
                (until(&chars, at + 2, |rest| rest.starts_with(&['*', '/'])) + 2).min(chars.len())
            }
            c if c.is_whitespace() => {
                space(&mut out);
                at + 1
            }
            c if c.is_ascii_digit() && !out.ends_with(is_word) => {
                out.push('?');
                until(&chars, at, |rest| {
                    !(rest[0].is_ascii_alphanumeric() || rest[0] == '.')
                })
            }
            c => {
                out.push(c);
                at + 1
            }
        };
    }
    if at < chars.len() || chars.len() == 4 * LIMIT {
        out.push('…');
    }
    out.truncate(out.trim_end().len());
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.')
}

fn space(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

fn until(chars: &[char], from: usize, stop: impl Fn(&[char]) -> bool) -> usize {
    (from..chars.len())
        .find(|&i| stop(&chars[i..]))
        .unwrap_or(chars.len())
}

/// Behind the closing quote; a doubled quote does not close.
fn after_quoted(chars: &[char], open: usize, quote: char) -> usize {
    let mut at = open + 1;
    while at < chars.len() {
        if chars[at] == quote {
            if chars.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    chars.len()
}

#[cfg(test)]
mod tests {
    use super::normalise;
    use proptest::prelude::*;

    #[test]
    fn statements_that_differ_in_values_have_one_name() {
        let want = "SELECT a1 FROM t2 WHERE x = ? AND y > ? LIMIT ?";
        assert_eq!(
            normalise("SELECT a1 FROM t2\n  WHERE x = 'it''s' AND y > 3.5e2 LIMIT 10"),
            want
        );
        assert_eq!(
            normalise("SELECT a1 FROM t2 WHERE x = 'b' AND y > 7 LIMIT 20"),
            want
        );
    }

    #[test]
    fn comments_go_and_identifiers_stay() {
        assert_eq!(
            normalise("/* 1 */ select \"a 1\" -- x\n from `b'c`  "),
            "select \"a 1\" from `b'c`"
        );
    }

    #[test]
    fn a_long_statement_is_cut() {
        assert!(normalise(&"a, ".repeat(100_000)).len() < 2100);
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing_more(sql in "[ -~\n]{0,80}") {
            let once = normalise(&sql);
            prop_assert_eq!(normalise(&once), once);
        }
    }
}
