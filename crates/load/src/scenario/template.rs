//! Texts with placeholders: paths and form fields.
//!
//! A placeholder `{name}` is either drawn from a range each time, or held: a value that the session
//! keeps (drawn when it begins, replaced by what pages say).

use loadline_stats::{Random, SplitMix64};

/// What a placeholder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Drawn each time: first and last value.
    Drawn(u64, u64),
    /// The session's value of this number.
    Held(usize),
}

/// A text whose `{name}` are filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    /// Literal text, then what follows it, if something does.
    parts: Vec<(String, Option<Slot>)>,
}

impl Template {
    /// Reads a path.
    pub(crate) fn path(
        text: &str,
        slot: impl Fn(&str) -> Option<Slot>,
    ) -> Result<Template, String> {
        if !text.starts_with('/') || text.bytes().any(|b| b <= b' ' || b >= 0x7f) {
            return Err(format!(
                "is {text:?}; it must begin with / and be printable ASCII without spaces"
            ));
        }
        Template::text(text, slot)
    }

    /// Reads any text.
    pub(crate) fn text(
        text: &str,
        slot: impl Fn(&str) -> Option<Slot>,
    ) -> Result<Template, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(length) = rest[open..].find('}') else {
                return Err(format!("is {text:?}; a {{ has no }}"));
            };
            let name = &rest[open + 1..open + length];
            let Some(slot) = slot(name) else {
                return Err(format!("is {text:?}; [ranges] has no {name}"));
            };
            parts.push((rest[..open].to_owned(), Some(slot)));
            rest = &rest[open + length + 1..];
        }
        parts.push((rest.to_owned(), None));
        Ok(Template { parts })
    }

    /// The text, its placeholders drawn or taken from what the session holds.
    pub(crate) fn fill(&self, rng: &mut SplitMix64, held: &[String]) -> String {
        use std::fmt::Write;
        let mut out = String::with_capacity(48);
        for (text, slot) in &self.parts {
            out.push_str(text);
            match slot {
                Some(Slot::Drawn(first, last)) => {
                    write!(out, "{}", draw(rng, *first, *last)).expect("a String takes everything");
                }
                Some(Slot::Held(n)) => out.push_str(&held[*n]),
                None => {}
            }
        }
        out
    }
}

/// A whole number from `first` to `last`.
pub(crate) fn draw(rng: &mut SplitMix64, first: u64, last: u64) -> u64 {
    first + rng.below((last - first).saturating_add(1))
}

/// A form as browsers send it (application/x-www-form-urlencoded).
pub(crate) fn encode_form<'a>(fields: impl Iterator<Item = (&'a str, String)>) -> Vec<u8> {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(name: &str) -> Option<Slot> {
        match name {
            "item" => Some(Slot::Drawn(5, 7)),
            "me" => Some(Slot::Held(0)),
            _ => None,
        }
    }

    #[test]
    fn placeholders_are_drawn_from_their_range() {
        let template = Template::path("/item?id={item}&x={item}", slots).expect("it is valid");
        let mut rng = SplitMix64::new(1, 1, 1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            seen.insert(template.fill(&mut rng, &[]));
        }
        assert_eq!(seen.len(), 9);
        assert!(seen.contains("/item?id=5&x=7"), "{seen:?}");
    }

    #[test]
    fn a_held_value_is_the_same_wherever_it_is_used() {
        let template = Template::text("{me}: password{me}", slots).expect("it is valid");
        assert_eq!(
            template.fill(&mut SplitMix64::new(1, 1, 1), &["17".into()]),
            "17: password17"
        );
    }

    #[test]
    fn a_wrong_template_is_refused_with_the_reason() {
        for (text, part) in [
            ("item", "begin with /"),
            ("/a b", "spaces"),
            ("/{item", "has no }"),
            ("/{user}", "[ranges] has no user"),
        ] {
            let error = Template::path(text, slots).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn forms_are_encoded() {
        let fields = [("a b", "1&2=3".to_owned()), ("c", "é".to_owned())];
        assert_eq!(encode_form(fields.into_iter()), b"a+b=1%262%3D3&c=%C3%A9");
    }
}
