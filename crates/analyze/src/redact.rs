//! What `record --redact` keeps out of the tables: addresses, and what stands for one customer in a path.
//!
//! SQL's literals, query strings, headers and bodies are never recorded, redacted or not. What the program says of itself
//! (spans and events of `loadline-api`, names of servlets and locks) is its own.

use std::net::IpAddr;

use loadline_trace::tables::{Resource, Span, is_stream};

/// In place of what is left out.
const LEFT_OUT: &str = "*";
/// A longer part of a path is no word of the site's own.
const LONGEST_WORD: usize = 30;

/// A span's name and peer.
pub fn span(mut span: Span) -> Span {
    span.peer = None;
    span.peer_port = None;
    match span.kind {
        "connection" if is_stream(&span.name) => span.name = "stream".into(), // it goes on counting as none
        "connection" => span.name = LEFT_OUT.into(),
        "request" => span.name = path(&span.name).into(),
        "call" => span.name = name(&span.name).into(),
        _ => {}
    }
    span
}

/// The addresses of a socket.
pub fn resource(mut resource: Resource) -> Resource {
    if resource.local.take().is_some() | resource.remote.take().is_some() {
        resource.name = LEFT_OUT.into();
    }
    resource
}

/// Of `GET /users/42/cart`, `GET /users/*/cart`.
fn path(name: &str) -> String {
    let part = |part: &str| {
        let own = part.chars().count() <= LONGEST_WORD
            && !part.contains(|c: char| c.is_ascii_digit() || matches!(c, '@' | '%' | ';' | '='));
        if own {
            part.to_owned()
        } else {
            LEFT_OUT.into()
        }
    };
    let (method, path) = name.split_once(' ').unwrap_or(("", name));
    let parts: Vec<String> = path.split('/').map(part).collect();
    format!("{method} {}", parts.join("/"))
        .trim_start()
        .to_owned()
}

/// A name, as of a thread, with the addresses in it left out.
pub fn name(name: &str) -> String {
    let of_address = |c: char| c.is_ascii_hexdigit() || c == '.' || c == ':';
    let mut out = String::new();
    let mut rest = name;
    while let Some(start) = rest.find(of_address) {
        let end = rest[start..]
            .find(|c| !of_address(c))
            .map_or(rest.len(), |n| start + n);
        out += &rest[..start];
        let word = &rest[start..end];
        out += if is_address(word) { LEFT_OUT } else { word };
        rest = &rest[end..];
    }
    out + rest
}

fn is_address(word: &str) -> bool {
    let without_port = word.rsplit_once(':').map_or(word, |(host, _)| host);
    [word, without_port, word.trim_end_matches([':', '.'])]
        .iter()
        .any(|w| w.contains(['.', ':']) && w.parse::<IpAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_one_customer_is_left_out_of_paths() {
        for (given, told) in [
            ("GET /users/42/cart", "GET /users/*/cart"),
            ("GET /", "GET /"),
            ("POST /mail/tom@example.org", "POST /mail/*"),
            ("GET /a%20b/list;jsessionid=1", "GET /*/*"),
            (
                "GET /reset/qwertzuiopasdfghjklyxcvbnmqwertz",
                "GET /reset/*",
            ),
            ("/owners/find", "/owners/find"),
        ] {
            assert_eq!(path(given), told, "{given}");
        }
    }

    #[test]
    fn a_stream_stays_one_without_its_peer() {
        use crate::spans::{Kind, Name, Names, Span};
        let mut names = Names::default();
        let mut stream = Span::new(Kind::Connection, Name::STREAM, 1, 0);
        stream.peer = names.of_text(7, |_| Some("10.0.0.5".into()));
        stream.peer_port = 8443;
        let row = stream.row(0, &names);
        assert_eq!(&*row.name, "stream 10.0.0.5:8443");
        let told = span(row);
        assert_eq!((&*told.name, told.peer), ("stream", None));
    }

    #[test]
    fn addresses_are_left_out_of_names() {
        for (given, told) in [
            ("RMI TCP Connection(3)-10.0.0.5", "RMI TCP Connection(3)-*"),
            ("client 10.0.0.5:8443 idle", "client * idle"),
            ("to fe80::1", "to *"),
            ("https-jsse-nio-8443-exec-1", "https-jsse-nio-8443-exec-1"),
            ("GC Thread#0", "GC Thread#0"),
            ("pool-1.2", "pool-1.2"),
        ] {
            assert_eq!(name(given), told, "{given}");
        }
    }
}
