//! Links found in pages.

use loadline_stats::{Random, SplitMix64};

/// One of the links of `page` that begin with `prefix`, each with the same probability.
pub(crate) fn pick_link(page: &[u8], prefix: &str, rng: &mut SplitMix64) -> Option<String> {
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
    use loadline_stats::SplitMix64;
    use proptest::prelude::*;

    #[test]
    fn links_with_the_prefix_are_found_and_unescaped() {
        let page =
            br#"<a href="/x">x</a><a href="/s?a=1&amp;b=2">s</a><a href="/s?a=3">t</a><a href="/s"#;
        let mut rng = SplitMix64::new(1, 1, 1);
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
            let _ = pick_link(&page, "/s", &mut SplitMix64::new(1, 1, 1));
        }
    }
}
