//! Paths with placeholders, and links found in pages.

use crate::rng::Rng;

/// A path whose `{name}` are drawn from ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    /// Literal text, then the range that follows it, if one does.
    parts: Vec<(String, Option<(u64, u64)>)>,
}

impl Template {
    /// Reads a template; `range` gives a name's first and last value.
    pub(crate) fn parse(
        text: &str,
        range: impl Fn(&str) -> Option<(u64, u64)>,
    ) -> Result<Template, String> {
        if !text.starts_with('/') || text.bytes().any(|b| b <= b' ' || b >= 0x7f) {
            return Err(format!(
                "is {text:?}; it must begin with / and be printable ASCII without spaces"
            ));
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(length) = rest[open..].find('}') else {
                return Err(format!("is {text:?}; a {{ has no }}"));
            };
            let name = &rest[open + 1..open + length];
            let Some(values) = range(name) else {
                return Err(format!("is {text:?}; [ranges] has no {name}"));
            };
            parts.push((rest[..open].to_owned(), Some(values)));
            rest = &rest[open + length + 1..];
        }
        parts.push((rest.to_owned(), None));
        Ok(Template { parts })
    }

    /// A path, its placeholders drawn.
    pub(crate) fn fill(&self, rng: &mut Rng) -> String {
        use std::fmt::Write;
        let mut out = String::with_capacity(48);
        for (text, range) in &self.parts {
            out.push_str(text);
            if let Some((first, last)) = range {
                let value = first + rng.below((last - first).saturating_add(1));
                write!(out, "{value}").expect("a String takes everything");
            }
        }
        out
    }
}

/// One of the links of `page` that begin with `prefix`, each with the same probability.
pub(crate) fn pick_link(page: &[u8], prefix: &str, rng: &mut Rng) -> Option<String> {
    const ATTRIBUTE: &[u8] = b"href=\"";
    let mut found: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    while let Some(next) = find(&page[at..], ATTRIBUTE) {
        let link = &page[at + next + ATTRIBUTE.len()..];
        let length = link.iter().position(|&b| b == b'"')?;
        let link = &link[..length];
        if link.starts_with(prefix.as_bytes()) && !link.iter().any(|&b| b <= b' ' || b >= 0x7f) {
            found.push(link);
        }
        at += next + ATTRIBUTE.len() + length;
    }
    if found.is_empty() {
        return None;
    }
    let link = found[rng.below(found.len() as u64) as usize];
    // Only printable ASCII was let in.
    Some(String::from_utf8_lossy(link).replace("&amp;", "&"))
}

/// Where `needle` begins in `hay`.
pub(crate) fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let last_start = hay.len().checked_sub(needle.len())?;
    let mut at = 0;
    while at <= last_start {
        at += hay[at..=last_start].iter().position(|&b| b == first)?;
        if &hay[at..at + needle.len()] == needle {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    fn ranges(name: &str) -> Option<(u64, u64)> {
        (name == "item").then_some((5, 7))
    }

    #[test]
    fn placeholders_are_drawn_from_their_range() {
        let template = Template::parse("/item?id={item}&x={item}", ranges).expect("it is valid");
        let mut rng = Rng::new(1, 1, 1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            seen.insert(template.fill(&mut rng));
        }
        assert_eq!(seen.len(), 9);
        assert!(seen.contains("/item?id=5&x=7"), "{seen:?}");
    }

    #[test]
    fn a_wrong_template_is_refused_with_the_reason() {
        for (text, part) in [
            ("item", "begin with /"),
            ("/a b", "spaces"),
            ("/{item", "has no }"),
            ("/{user}", "[ranges] has no user"),
        ] {
            let error = Template::parse(text, ranges).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn links_with_the_prefix_are_found_and_unescaped() {
        let page =
            br#"<a href="/x">x</a><a href="/s?a=1&amp;b=2">s</a><a href="/s?a=3">t</a><a href="/s"#;
        let mut rng = Rng::new(1, 1, 1);
        // The last link is torn off; the page as a whole is then not trusted to have any.
        assert_eq!(pick_link(page, "/s?", &mut rng), None);
        let page = &page[..page.len() - 11];
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..50 {
            seen.insert(pick_link(page, "/s?", &mut rng).expect("there are two"));
        }
        assert_eq!(
            seen.into_iter().collect::<Vec<_>>(),
            ["/s?a=1&b=2", "/s?a=3"]
        );
        assert_eq!(pick_link(page, "/item", &mut rng), None);
    }

    proptest! {
        #[test]
        fn find_agrees_with_the_naive_search(hay in "[ab]{0,30}", needle in "[ab]{1,4}") {
            prop_assert_eq!(find(hay.as_bytes(), needle.as_bytes()), hay.find(&needle));
        }

        #[test]
        fn no_page_makes_it_panic(page in prop::collection::vec(any::<u8>(), 0..100), cut in "(href=\"|\"|/s){0,9}") {
            let page = [page, cut.into_bytes()].concat();
            let _ = pick_link(&page, "/s", &mut Rng::new(1, 1, 1));
        }
    }
}
