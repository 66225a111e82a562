//! Where a link or a redirect leads, seen from a page of the target. Pure.
//!
//! Only what a load generator meets: absolute addresses, `//host`, absolute and relative paths.
//! What leads to another host is never followed: load goes where the user said, and nowhere else.

/// The path (with its query, without its fragment) that `link` on page `base` means, if it is on
/// the target `https://authority` or `http://authority`; none if it leads elsewhere or nowhere.
pub(crate) fn resolve(base: &str, link: &str, tls: bool, authority: &str) -> Option<String> {
    let link = link.trim();
    let link = link.split('#').next().unwrap_or_default();
    if link.is_empty() || link.len() > 8192 || link.bytes().any(|b| b <= b' ' || b >= 0x7f) {
        return None;
    }
    if let Some((scheme, rest)) = link.split_once("://")
        && !scheme.contains(['/', '?'])
    {
        let ours = if tls { "https" } else { "http" };
        return scheme
            .eq_ignore_ascii_case(ours)
            .then(|| on_host(rest, authority))?;
    }
    if let Some(rest) = link.strip_prefix("//") {
        return on_host(rest, authority);
    }
    let path = base.split('?').next().unwrap_or("/");
    if link.starts_with('/') {
        return Some(normal(link));
    }
    if link.starts_with('?') {
        return Some(format!("{path}{link}"));
    }
    // javascript:, data:, mailto: and the like.
    let scheme_end = link.find([':', '/', '?']).map(|at| link.as_bytes()[at]);
    if scheme_end == Some(b':') {
        return None;
    }
    let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    Some(normal(&format!("{folder}{link}")))
}

fn on_host(rest: &str, authority: &str) -> Option<String> {
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    if !host.eq_ignore_ascii_case(authority) {
        return None;
    }
    Some(match path {
        "" => "/".into(),
        p if p.starts_with('?') => format!("/{p}"),
        p => normal(p),
    })
}

/// Takes `.` and `..` out of a path; the query stays as it is.
fn normal(link: &str) -> String {
    let (path, query) = match link.find('?') {
        Some(at) => link.split_at(at),
        None => (link, ""),
    };
    if !path.contains("/.") {
        return link.to_owned();
    }
    let mut out: Vec<&str> = Vec::new();
    let last = path.split('/').count() - 1;
    for (i, part) in path.split('/').enumerate() {
        match part {
            "." | ".." => {
                if part == ".." && out.len() > 1 {
                    out.pop();
                }
                if i == last {
                    out.push("");
                }
            }
            part => out.push(part),
        }
    }
    format!("{}{query}", out.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_are_resolved_as_browsers_do() {
        let at = |link: &str| resolve("/a/b/page?x=1", link, true, "h:8443");
        for (link, expected) in [
            ("/x", Some("/x")),
            ("x.png", Some("/a/b/x.png")),
            ("../x.png", Some("/a/x.png")),
            ("../../../x", Some("/x")),
            ("./x", Some("/a/b/x")),
            ("..", Some("/a/")),
            ("?p=2", Some("/a/b/page?p=2")),
            ("/x?a=/../b#f", Some("/x?a=/../b")),
            ("https://h:8443/y", Some("/y")),
            ("https://H:8443", Some("/")),
            ("https://h:8443?q", Some("/?q")),
            ("//h:8443/z", Some("/z")),
            ("http://h:8443/y", None),
            ("https://other/y", None),
            ("https://h:8443.evil/y", None),
            ("//other/z", None),
            ("javascript:alert(1)", None),
            ("data:image/png;base64,xx", None),
            ("mailto:a@b", None),
            ("#top", None),
            ("a b", None),
            ("", None),
        ] {
            assert_eq!(at(link).as_deref(), expected, "{link}");
        }
    }

    proptest! {
        #[test]
        fn no_link_makes_it_panic_or_leave_the_host(base in "/[a-z/.?]{0,20}", link in "[a-z:/.?#@ \\PC]{0,30}") {
            if let Some(path) = resolve(&base, &link, true, "h") {
                prop_assert!(path.starts_with('/'), "{:?}", path);
                prop_assert!(path.bytes().all(|b| b > b' ' && b < 0x7f));
            }
        }
    }
}
