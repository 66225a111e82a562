//! Access logs in the common and combined formats, as Apache, nginx and Tomcat write them:
//! `host ident user [10/Oct/2000:13:55:36 -0700] "GET /x HTTP/1.0" 200 2326 "referer" "agent"`.
//!
//! A session is what one client (address and agent) did without a pause of half an hour. The log's
//! second is its resolution: what fell into one second is spread evenly over it, in its order.
//! Sessions are in the order of their begin, requests in that of theirs; a line that cannot be read
//! is counted, never guessed at.

use std::collections::HashMap;

use jiff::fmt::strtime;

/// The pause that ends a session: the usual choice of web statistics.
const SESSION_GAP_S: i64 = 30 * 60;

/// A request of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// Number of its session.
    pub session: usize,
    /// Since the log's first request.
    pub at_ns: u64,
    /// Its method.
    pub method: &'a str,
    /// Its path, with its query.
    pub path: &'a str,
}

/// What a log has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log<'a> {
    /// Requests in the order of their time.
    pub requests: Vec<Request<'a>>,
    /// How many sessions there are.
    pub sessions: usize,
    /// Lines that are no request; the first of them, from 1.
    pub skipped: Option<(u64, usize)>,
}

impl Log<'_> {
    /// When each session began, since the first.
    pub fn session_begins_ns(&self) -> Vec<u64> {
        let mut begins = Vec::with_capacity(self.sessions);
        for r in &self.requests {
            if r.session == begins.len() {
                begins.push(r.at_ns);
            }
        }
        begins
    }
}

struct Line<'a> {
    client: (&'a str, &'a str),
    second: i64,
    method: &'a str,
    path: &'a str,
}

/// Reads a log.
pub fn parse(text: &str) -> Log<'_> {
    let mut log = Log::default();
    let mut lines = Vec::new();
    for (n, text) in text.lines().enumerate() {
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        match line(text) {
            Some(line) => lines.push(line),
            None => {
                let (count, first) = log.skipped.unwrap_or((0, n + 1));
                log.skipped = Some((count + 1, first));
            }
        }
    }
    // Servers write a line when its reply is done, and so not quite in the order of their times.
    lines.sort_by_key(|l| l.second);
    let Some(begin) = lines.first().map(|l| l.second) else {
        return log;
    };
    let mut open: HashMap<(&str, &str), (usize, i64)> = HashMap::new();
    let mut at = 0;
    while at < lines.len() {
        let second = lines[at].second;
        let count = lines[at..]
            .iter()
            .take_while(|l| l.second == second)
            .count();
        for (i, line) in lines[at..at + count].iter().enumerate() {
            let session = match open.get(&line.client) {
                Some((session, last)) if second - last < SESSION_GAP_S => *session,
                _ => {
                    log.sessions += 1;
                    log.sessions - 1
                }
            };
            open.insert(line.client, (session, second));
            let whole = (second - begin) as u64 * 1_000_000_000;
            log.requests.push(Request {
                session,
                at_ns: whole + i as u64 * 1_000_000_000 / count as u64,
                method: line.method,
                path: line.path,
            });
        }
        at += count;
    }
    log
}

fn line(text: &str) -> Option<Line<'_>> {
    let host = text.split(' ').next().filter(|h| !h.is_empty())?;
    let open = text.find('[')?;
    let close = open + text[open..].find(']')?;
    let second = time(&text[open + 1..close])?;
    let mut quoted = text[close + 1..].split('"');
    let request = quoted.nth(1)?;
    // Between the quotes: status and size, the referer, a space, the agent.
    let agent = quoted.nth(3).unwrap_or("");
    let mut words = request.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let replayable = matches!(
        method,
        "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS"
    );
    // A proxy's log has whole addresses.
    let path = match target.split_once("://") {
        Some((_, rest)) if !target.starts_with('/') => &rest[rest.find('/')?..],
        _ => target,
    };
    let clean = path.starts_with('/') && path.bytes().all(|b| b > b' ' && b < 0x7f);
    (replayable && clean).then_some(Line {
        client: (host, agent),
        second,
        method,
        path,
    })
}

/// `10/Oct/2000:13:55:36 -0700` in seconds since 1970; without a zone it is UTC.
fn time(text: &str) -> Option<i64> {
    let zoned = strtime::parse("%d/%b/%Y:%H:%M:%S %z", text)
        .or_else(|_| strtime::parse("%d/%b/%Y:%H:%M:%S %z", format!("{text} +0000")));
    Some(zoned.ok()?.to_timestamp().ok()?.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_begin_when_their_first_request_was_made() {
        let log = parse(
            "a - - [10/Oct/2000:13:55:36 -0700] \"GET /1 HTTP/1.0\" 200 1\n\
             b - - [10/Oct/2000:13:55:37 -0700] \"GET /2 HTTP/1.0\" 200 1\n\
             a - - [10/Oct/2000:13:55:37 -0700] \"GET /3 HTTP/1.0\" 200 1\n\
             c - - [10/Oct/2000:13:55:40 -0700] \"GET /4 HTTP/1.0\" 200 1\n",
        );
        assert_eq!(
            (log.sessions, log.requests.len(), log.skipped),
            (3, 4, None)
        );
        assert_eq!(log.session_begins_ns(), [0, 1_000_000_000, 4_000_000_000]);
    }
}
