//! Session logs as httperf's `--wsesslog` reads them (httperf(1)): an unindented line begins a burst,
//! indented ones follow its reply, an empty line or a comment ends a session.
//!
//! ```text
//! # session 1
//! /login method=POST contents='user=1&password=x' think=2.0
//!     /style.css
//! /home
//! ```

use super::{Burst, Recorded, Replay};
use crate::scenario::Ask;
use std::borrow::Cow;

pub(super) fn parse(text: &str) -> Result<Replay, (usize, String)> {
    let mut replay = Replay::default();
    let mut session = Recorded::default();
    for (n, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            if !session.bursts.is_empty() {
                replay.sessions.push(std::mem::take(&mut session));
            }
            continue;
        }
        let (request, think_ns) = request(line.trim()).map_err(|what| (n + 1, what))?;
        if line.starts_with([' ', '\t']) {
            let Some(burst) = session.bursts.last_mut() else {
                return Err((
                    n + 1,
                    "an indented request has none before it to follow".into(),
                ));
            };
            burst.more.push(request);
            burst.think_ns = think_ns.or(burst.think_ns);
        } else {
            let interaction = replay.name(&request.path);
            session.bursts.push(Burst {
                at_ns: 0,
                think_ns,
                interaction,
                request,
                more: Vec::new(),
            });
        }
    }
    if !session.bursts.is_empty() {
        replay.sessions.push(session);
    }
    Ok(replay)
}

/// One line: a path and `key=value`s.
fn request(line: &str) -> Result<(Ask, Option<u64>), String> {
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (path, mut rest) = line.split_at(end);
    if !path.starts_with('/') || path.bytes().any(|b| b <= b' ' || b >= 0x7f) {
        return Err(format!("{path:?} is not a path"));
    }
    let mut ask = Ask::get(path.to_owned());
    let mut think_ns = None;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let (key, value) = rest
            .split_once('=')
            .ok_or_else(|| format!("{rest:?} is not key=value"))?;
        let (value, after) = value_of(value)?;
        rest = after;
        match key {
            "method" => {
                if value.is_empty() || !value.bytes().all(|b| b.is_ascii_uppercase()) {
                    return Err(format!(
                        "method is {value:?}; it must be GET, HEAD, POST or the like"
                    ));
                }
                ask.method = Cow::Owned(value.into_owned());
            }
            "contents" => ask.body = Some(value.into_owned().into_bytes()),
            "think" => {
                let seconds: f64 = value.parse().unwrap_or(-1.0);
                if !(0.0..=86_400.0).contains(&seconds) {
                    return Err(format!(
                        "think is {value:?}; it must be from 0 to 86400 seconds"
                    ));
                }
                think_ns = Some((seconds * 1e9) as u64);
            }
            // How long httperf itself waited, or what it did not send: nothing to replay.
            "timeout" | "size" => {}
            other => {
                return Err(format!(
                    "{other:?} is not known; it may be method, contents, think, timeout, size"
                ));
            }
        }
    }
    Ok((ask, think_ns))
}

/// A value and what follows it: bare, in '' as it is, or in "" with \n, \t, \r, \\ and \".
fn value_of(text: &str) -> Result<(Cow<'_, str>, &str), String> {
    if let Some(inside) = text.strip_prefix('\'') {
        let end = inside.find('\'').ok_or("a ' has no end")?;
        return Ok((Cow::Borrowed(&inside[..end]), &inside[end + 1..]));
    }
    let Some(inside) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        return Ok((Cow::Borrowed(&text[..end]), &text[end..]));
    };
    let mut value = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Cow::Owned(value), &inside[at + 1..])),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, 'r')) => value.push('\r'),
                Some((_, other)) => value.push(other),
                None => break,
            },
            c => value.push(c),
        }
    }
    Err("a \" has no end".into())
}
