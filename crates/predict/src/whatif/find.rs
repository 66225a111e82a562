//! Searches: the smallest, or the largest, value of a parameter with which a load holds.

use std::str::FromStr;

use anyhow::{Result, bail};
use serde::Serialize;

use super::Question;

/// `smallest pool=1..50 at 300`.
#[derive(Debug, Clone, PartialEq)]
pub struct Find {
    /// Whether the smallest is wanted.
    pub smallest: bool,
    /// The parameter.
    pub name: String,
    /// Whole numbers from the first to the last.
    pub range: (u64, u64),
    /// The load that must hold.
    pub load: f64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The parameter.
    pub parameter: String,
    /// Its value; `None` if the load holds with none of them.
    pub value: Option<u64>,
    /// The load.
    pub load: f64,
    /// 95th percentile with that value, in seconds.
    pub p95: Option<f64>,
    /// The values that were tried, with their 95th percentile and whether the load holds.
    pub tried: Vec<(u64, f64, bool)>,
}

impl FromStr for Find {
    type Err = String;

    fn from_str(text: &str) -> Result<Find, String> {
        let usage = || format!("`{text}`: it must be such as `smallest pool=1..50 at 300`");
        let words: Vec<&str> = text.split_whitespace().collect();
        let [which, what, "at", load] = words[..] else {
            return Err(usage());
        };
        let smallest = match which {
            "smallest" => true,
            "largest" => false,
            _ => return Err(usage()),
        };
        let (name, range) = what.split_once('=').ok_or_else(usage)?;
        let (first, last) = range.split_once("..").ok_or_else(usage)?;
        let number = |s: &str| s.parse::<u64>().map_err(|_| usage());
        let range = (number(first)?, number(last)?);
        let load: f64 = load.parse().map_err(|_| usage())?;
        if range.0 > range.1 || load.is_nan() || load <= 0.0 {
            return Err(usage());
        }
        Ok(Find {
            smallest,
            name: name.into(),
            range,
            load,
        })
    }
}

impl Find {
    /// Halves the range: what holds with one value is taken to hold with all on the generous side of it.
    pub(super) fn search(&self, q: &Question, progress: &mut dyn FnMut(&str)) -> Result<Found> {
        let Some(p95) = q.p95 else {
            bail!("--find needs an objective: give --p95 200ms");
        };
        let mut tried = Vec::new();
        let mut at = |value: u64| -> Result<bool> {
            progress(&format!("{} {value}", self.name));
            let values = vec![(self.name.clone(), value.to_string())];
            let (point, _) = q.point(&values, self.load, p95)?;
            tried.push((value, point.p95, point.holds));
            Ok(point.holds)
        };
        let value = boundary(self.range, self.smallest, &mut at)?;
        let p95 = value
            .and_then(|v| tried.iter().find(|t| t.0 == v))
            .map(|t| t.1);
        Ok(Found {
            parameter: self.name.clone(),
            value,
            load: self.load,
            p95,
            tried,
        })
    }
}

/// The smallest (largest) value of the range for which `holds`, if it holds for the generous end at all.
fn boundary(
    range: (u64, u64),
    smallest: bool,
    holds: &mut impl FnMut(u64) -> Result<bool>,
) -> Result<Option<u64>> {
    let (mut generous, mut strict) = if smallest { (range.1, range.0) } else { range };
    if !holds(generous)? {
        return Ok(None);
    }
    if generous == strict || holds(strict)? {
        return Ok(Some(strict));
    }
    while generous.abs_diff(strict) > 1 {
        let middle = generous.min(strict) + generous.abs_diff(strict) / 2;
        if holds(middle)? {
            generous = middle;
        } else {
            strict = middle;
        }
    }
    Ok(Some(generous))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_a_sentence() {
        let find: Find = "smallest pool=1..50 at 300".parse().expect("valid");
        assert!(
            find.smallest && find.name == "pool" && find.range == (1, 50) && find.load == 300.0
        );
        for wrong in [
            "pool=1..50 at 300",
            "smallest pool at 300",
            "smallest pool=9..1 at 3",
            "largest p=1..2 at x",
            "smallest p=1..2",
        ] {
            let e = wrong.parse::<Find>().expect_err("refused");
            assert!(e.contains("smallest pool=1..50 at 300"), "{e}");
        }
    }

    #[test]
    fn the_boundary_is_found_in_few_steps_from_either_side() {
        for edge in 1..=50u64 {
            let mut asked = 0;
            let found = boundary((1, 50), true, &mut |v| {
                asked += 1;
                Ok(v >= edge)
            });
            assert_eq!(found.expect("no error"), Some(edge));
            assert!(asked <= 8, "{asked}");
            let found = boundary((1, 50), false, &mut |v| Ok(v <= edge));
            assert_eq!(found.expect("no error"), Some(edge));
        }
        assert_eq!(
            boundary((1, 9), true, &mut |_| Ok(false)).expect("no error"),
            None
        );
    }
}
