//! Places in a scenario's text, and the values found there: every error names file, line, key and range.

use super::parse_duration;
use crate::Error;
use std::ops::Range;
use std::time::Duration;
use toml::Spanned;

/// Turns places in the text into errors.
pub(super) struct Place<'a> {
    pub(super) text: &'a str,
    pub(super) path: &'a str,
}

impl Place<'_> {
    pub(super) fn error(&self, at: Range<usize>, what: impl Into<String>) -> Error {
        let start = at.start.min(self.text.len());
        let line = self.text.as_bytes()[..start]
            .iter()
            .filter(|&&b| b == b'\n')
            .count()
            + 1;
        Error::Scenario {
            path: self.path.to_owned(),
            line,
            what: what.into(),
        }
    }

    pub(super) fn duration(
        &self,
        key: &str,
        value: Option<Spanned<String>>,
        default: Duration,
    ) -> Result<Duration, Error> {
        let Some(value) = value else {
            return Ok(default);
        };
        parse_duration(value.get_ref())
            .map_err(|what| self.error(value.span(), format!("{key} {what}")))
    }

    pub(super) fn probability(
        &self,
        key: &str,
        value: Option<Spanned<f64>>,
        default: f64,
    ) -> Result<f64, Error> {
        let Some(value) = value else {
            return Ok(default);
        };
        let p = *value.get_ref();
        if (0.0..=1.0).contains(&p) {
            Ok(p)
        } else {
            Err(self.error(
                value.span(),
                format!("{key} is {p}; it must be from 0 to 1"),
            ))
        }
    }

    pub(super) fn positive(
        &self,
        key: &str,
        value: Option<Spanned<f64>>,
        default: f64,
    ) -> Result<f64, Error> {
        match value {
            None => Ok(default),
            Some(v) if *v.get_ref() > 0.0 && v.get_ref().is_finite() => Ok(*v.get_ref()),
            Some(v) => Err(self.error(
                v.span(),
                format!("{key} is {}; it must be more than 0", v.get_ref()),
            )),
        }
    }

    /// A word out of a list.
    pub(super) fn one_of<T: Copy>(
        &self,
        key: &str,
        value: Option<Spanned<String>>,
        known: &[(&str, T)],
        default: T,
    ) -> Result<T, Error> {
        let Some(value) = value else {
            return Ok(default);
        };
        let word = value.get_ref();
        known
            .iter()
            .find(|(name, _)| name == word)
            .map(|(_, what)| *what)
            .ok_or_else(|| {
                let names: Vec<_> = known.iter().map(|(name, _)| format!("{name:?}")).collect();
                self.error(
                    value.span(),
                    format!("{key} is {word:?}; it must be {}", names.join(" or ")),
                )
            })
    }

    pub(super) fn whole(
        &self,
        key: &str,
        value: &Spanned<i64>,
        low: i64,
        high: i64,
    ) -> Result<u32, Error> {
        let n = *value.get_ref();
        if n < low || n > high {
            return Err(self.error(
                value.span(),
                format!("{key} is {n}; it must be from {low} to {high}"),
            ));
        }
        Ok(n as u32)
    }
}
