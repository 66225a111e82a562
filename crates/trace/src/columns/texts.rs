//! Texts of a column, each once: a value is its place among them.

use std::collections::HashMap;

/// Texts that were there last are looked for by where they lie in memory first.
const NEAR: usize = 256;

/// The dictionary of a row group, while it grows.
#[derive(Debug)]
pub struct Texts {
    /// By text. Texts come from outside: the hash must not be one that somebody can make collide.
    places: HashMap<Box<str>, u32>,
    /// Where each lies in `page`.
    list: Vec<(usize, usize)>,
    page: Vec<u8>,
    near: Vec<Near>,
}

/// A text that was there: where it lay, and its place.
#[derive(Debug, Clone, Copy)]
struct Near {
    at: usize,
    len: usize,
    place: u32,
}

impl Near {
    const NOTHING: Near = Near {
        at: 0,
        len: usize::MAX,
        place: 0,
    };
}

/// The dictionary of a row group that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dictionary {
    /// Texts in it.
    pub texts: usize,
    /// As its page holds them: each behind its length.
    pub page: Vec<u8>,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts {
            places: HashMap::new(),
            list: Vec::new(),
            page: Vec::new(),
            near: vec![Near::NOTHING; NEAR],
        }
    }
}

impl Texts {
    /// The place of a text; see [`super::Buffer::texts`].
    #[inline]
    pub fn place(&mut self, text: &str, lasting: bool) -> u32 {
        let (at, len) = (text.as_ptr() as usize, text.len());
        let slot = ((at >> 3) ^ (at >> 11)) % NEAR;
        let near = self.near[slot];
        if near.at == at && near.len == len && (lasting || self.reads(near.place, text)) {
            return near.place;
        }
        let place = self.find(text);
        self.near[slot] = Near { at, len, place };
        place
    }

    /// Whether the text of a place is this one.
    fn reads(&self, place: u32, text: &str) -> bool {
        let (from, to) = self.list[place as usize];
        &self.page[from..to] == text.as_bytes()
    }

    fn find(&mut self, text: &str) -> u32 {
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = self.list.len() as u32;
        self.page.extend((text.len() as u32).to_le_bytes());
        let from = self.page.len();
        self.page.extend(text.as_bytes());
        self.list.push((from, self.page.len()));
        self.places.insert(text.into(), place);
        place
    }

    /// All of them; it is empty then.
    pub fn take(&mut self) -> Dictionary {
        self.near.fill(Near::NOTHING);
        self.places.clear();
        let texts = std::mem::take(&mut self.list).len();
        let page = std::mem::take(&mut self.page);
        Dictionary { texts, page }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_place_wherever_it_lies() {
        let mut texts = Texts::default();
        let (a, again) = (String::from("a"), String::from("a"));
        let places = [
            texts.place(&a, false),
            texts.place("b", true),
            texts.place(&again, false),
            texts.place("", true),
        ];
        assert_eq!(places, [0, 1, 0, 2]);
        let Dictionary { texts: n, page } = texts.take();
        assert_eq!((n, page), (3, b"\x01\0\0\0a\x01\0\0\0b\0\0\0\0".to_vec()));
        assert_eq!(texts.place("b", true), 0, "the next row group begins anew");
    }

    #[test]
    fn another_text_in_the_same_place_of_memory_is_another() {
        let mut texts = Texts::default();
        let mut text = String::from("one");
        let one = texts.place(&text, false);
        text.replace_range(.., "two"); // as an allocation that was given back and taken again
        assert_ne!(texts.place(&text, false), one);
        assert_eq!(texts.place("one", false), one);
    }
}
