//! A set of CPUs, as the kernel writes it: `0-3,7`.

use std::fmt;

/// CPU numbers below [`CpuSet::LIMIT`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuSet {
    /// Bit n of word n/64; no zero word at the end.
    words: Vec<u64>,
}

impl CpuSet {
    /// One more than the largest CPU number: what a page has bits for.
    pub const LIMIT: u32 = 1024;

    /// From a list of numbers and ranges; empty text is the empty set.
    pub fn parse(text: &str) -> Result<CpuSet, String> {
        let mut set = CpuSet::default();
        let wrong = |part: &str| format!("{part:?} is no list of CPUs: write 0-3,7");
        for part in text
            .trim()
            .split(',')
            .map(str::trim)
            .filter(|p| !p.is_empty())
        {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().map_err(|_| wrong(part))?;
            let last: u32 = last.trim().parse().map_err(|_| wrong(part))?;
            if first > last {
                return Err(wrong(part));
            }
            if last >= CpuSet::LIMIT {
                return Err(format!("CPU {last} is beyond {}", CpuSet::LIMIT - 1));
            }
            (first..=last).for_each(|cpu| set.insert(cpu));
        }
        Ok(set)
    }

    /// With one more; what is beyond the limit is left out.
    pub fn insert(&mut self, cpu: u32) {
        if cpu >= CpuSet::LIMIT {
            return;
        }
        let word = cpu as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (cpu % 64);
    }

    /// Whether a CPU is in it.
    pub fn contains(&self, cpu: u32) -> bool {
        self.words
            .get(cpu as usize / 64)
            .is_some_and(|w| w >> (cpu % 64) & 1 == 1)
    }

    /// How many.
    pub fn len(&self) -> u32 {
        self.words.iter().map(|w| w.count_ones()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Them all, rising.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let of = |(i, &word): (usize, &u64)| {
            let base = i as u32 * 64;
            (0..64)
                .filter(move |b| word >> b & 1 == 1)
                .map(move |b| base + b)
        };
        self.words.iter().enumerate().flat_map(of)
    }

    fn combined(&self, other: &CpuSet, f: impl Fn(u64, u64) -> u64) -> CpuSet {
        let n = self.words.len().max(other.words.len());
        let at = |words: &[u64], i: usize| words.get(i).copied().unwrap_or(0);
        let mut words: Vec<u64> = (0..n)
            .map(|i| f(at(&self.words, i), at(&other.words, i)))
            .collect();
        while words.last() == Some(&0) {
            words.pop();
        }
        CpuSet { words }
    }

    /// In either.
    pub fn union(&self, other: &CpuSet) -> CpuSet {
        self.combined(other, |a, b| a | b)
    }

    /// In both.
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        self.combined(other, |a, b| a & b)
    }

    /// In this one only.
    pub fn difference(&self, other: &CpuSet) -> CpuSet {
        self.combined(other, |a, b| a & !b)
    }

    /// Whether the other has all of them.
    pub fn is_subset(&self, other: &CpuSet) -> bool {
        self.difference(other).is_empty()
    }

    /// As 64-bit words, bit n of word n/64.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> CpuSet {
        let mut set = CpuSet::default();
        cpus.into_iter().for_each(|cpu| set.insert(cpu));
        set
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let mut cpus = self.iter().peekable();
        while let Some(first) = cpus.next() {
            let mut last = first;
            while cpus.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            parts.push(if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            });
        }
        f.pad(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        for (text, written) in [
            ("0-1\n", "0-1"),
            ("3,1,2", "1-3"),
            ("", ""),
            ("0,2,63-65", "0,2,63-65"),
        ] {
            assert_eq!(CpuSet::parse(text).expect(text).to_string(), written);
        }
        for wrong in ["a", "3-1", "1-", "-1", "1024", "0-99999999999"] {
            assert!(CpuSet::parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(cpus in prop::collection::btree_set(0u32..1024, 0..40)) {
            let set: CpuSet = cpus.iter().copied().collect();
            prop_assert_eq!(CpuSet::parse(&set.to_string()), Ok(set.clone()));
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), cpus.into_iter().collect::<Vec<_>>());
        }
    }
}
