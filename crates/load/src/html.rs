//! What a load generator needs of a page: the resources that a browser would fetch with it, and
//! values that a later request needs. A scan for tags, not a parser: it never fails and never panics.

use crate::scenario::find;

/// Resources of one page that are looked at; a page with more is not what this is for.
const MAX_RESOURCES: usize = 256;

/// Links of the images, style sheets, scripts and icons of a page, in their order, each once.
pub(crate) fn resources(page: &[u8]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(open) = page[at..].iter().position(|&b| b == b'<') {
        let tag = &page[at + open + 1..];
        if tag.starts_with(b"!--") {
            // What is commented out is not fetched.
            match find(tag, b"-->") {
                Some(end) => at += open + 1 + end + 3,
                None => break,
            }
            continue;
        }
        let end = tag.iter().position(|&b| b == b'>').unwrap_or(tag.len());
        let tag = &tag[..end];
        at += open + 1 + end;
        let name_end = tag
            .iter()
            .position(|b| !b.is_ascii_alphanumeric())
            .unwrap_or(tag.len());
        let name = tag[..name_end].to_ascii_lowercase();
        let link = match name.as_slice() {
            b"img" | b"script" | b"iframe" | b"embed" | b"source" => attribute(tag, b"src"),
            b"input"
                if attribute(tag, b"type").is_some_and(|t| t.eq_ignore_ascii_case("image")) =>
            {
                attribute(tag, b"src")
            }
            b"link" => attribute(tag, b"rel")
                .filter(|rel| {
                    rel.split_ascii_whitespace().any(|r| {
                        r.eq_ignore_ascii_case("stylesheet") || r.eq_ignore_ascii_case("icon")
                    })
                })
                .and_then(|_| attribute(tag, b"href")),
            _ => None,
        };
        if let Some(link) = link
            && !link.is_empty()
            && !found.contains(&link)
        {
            found.push(link);
            if found.len() == MAX_RESOURCES {
                break;
            }
        }
        if at >= page.len() {
            break;
        }
    }
    found
}

/// The value of an attribute of a tag, quoted or not, with `&amp;` read as `&`.
fn attribute(tag: &[u8], name: &[u8]) -> Option<String> {
    let mut at = 0;
    while at + name.len() < tag.len() {
        let begins = at > 0 && tag[at - 1].is_ascii_whitespace();
        if begins && tag[at..at + name.len()].eq_ignore_ascii_case(name) {
            let rest = tag[at + name.len()..].trim_ascii_start();
            if let Some(value) = rest.strip_prefix(b"=") {
                let value = value.trim_ascii_start();
                let value = match value.first() {
                    Some(&quote @ (b'"' | b'\'')) => {
                        let inside = &value[1..];
                        let end = inside.iter().position(|&b| b == quote)?;
                        &inside[..end]
                    }
                    _ => {
                        let end = value
                            .iter()
                            .position(u8::is_ascii_whitespace)
                            .unwrap_or(value.len());
                        &value[..end]
                    }
                };
                return Some(String::from_utf8_lossy(value).trim().replace("&amp;", "&"));
            }
        }
        at += 1;
    }
    None
}

/// The values that follow `text` in `page`: each the run of letters, digits, `_`, `.` and `-`.
pub(crate) fn values_after<'a>(page: &'a [u8], text: &[u8]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = find(&page[at..], text) {
        at += next + text.len();
        let rest = &page[at..];
        let end = rest
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-')))
            .unwrap_or(rest.len());
        if let Ok(value) = std::str::from_utf8(&rest[..end])
            && !value.is_empty()
        {
            found.push(value);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn resources_are_those_that_a_browser_fetches() {
        let page = br#"<html><head><link rel="stylesheet" href="/style.css?a=1&amp;b=2">
            <LINK REL='shortcut icon' HREF='/favicon.ico'><link rel="canonical" href="/no">
            <script src=/app.js></script><script>var a = "<img src='/js.png'>";</script></head>
            <img class="x" src="/a.png"><img src="/a.png"><!-- <img src="/commented.png"> -->
            <input type="image" src="/button.png"><input type="text" src="/no.png">
            <a href="/no.html"><img data-src="/no.png" alt="x>"#;
        assert_eq!(
            resources(page),
            [
                "/style.css?a=1&b=2",
                "/favicon.ico",
                "/app.js",
                "/js.png",
                "/a.png",
                "/button.png"
            ]
        );
    }

    #[test]
    fn values_follow_their_text() {
        let page = b"<a href='/item?id=17'>x</a><a href=\"/item?id=4-b&x\"><a href='/item?id='>";
        assert_eq!(values_after(page, b"item?id="), ["17", "4-b"]);
        assert!(values_after(page, b"user=").is_empty());
    }

    proptest! {
        #[test]
        fn no_page_makes_it_panic(
            junk in prop::collection::vec(any::<u8>(), 0..200),
            tags in "(<img |<link |<script|src=|href=|rel=stylesheet|'|\"|>|<!--|-->|=| ){0,30}",
            cut in any::<prop::sample::Index>(),
        ) {
            let mut page = tags.into_bytes();
            let at = cut.index(page.len() + 1);
            page.splice(at..at, junk);
            let _ = resources(&page);
            let _ = values_after(&page, b"src=");
        }
    }
}
