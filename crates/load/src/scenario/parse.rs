//! TOML into a [`Scenario`]: every error names file, line, key, value and what is allowed.

use super::{
    Arrivals, Interaction, Next, Scenario, Template, Versions, parse_duration, wrong_users,
};
use crate::Error;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: Spanned<String>,
    start: Spanned<String>,
    #[serde(default)]
    arrivals: RawArrivals,
    #[serde(default)]
    think: RawThink,
    #[serde(default)]
    client: RawClient,
    #[serde(default)]
    tls: RawTls,
    #[serde(default)]
    connection: RawConnection,
    #[serde(default)]
    ranges: BTreeMap<String, Spanned<(i64, i64)>>,
    interaction: Vec<Spanned<RawInteraction>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawArrivals {
    users: Option<Spanned<i64>>,
    rate: Option<Spanned<f64>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawThink {
    mean: Option<Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawClient {
    timeout: Option<Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawTls {
    versions: Option<Spanned<Vec<String>>>,
    resume_within: Option<Spanned<f64>>,
    resume_across: Option<Spanned<f64>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawConnection {
    requests: Option<Spanned<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInteraction {
    name: Spanned<String>,
    path: Spanned<String>,
    #[serde(default)]
    marker: String,
    follow: Option<String>,
    next: Spanned<BTreeMap<String, Spanned<f64>>>,
}

/// Turns places in the text into errors.
struct Place<'a> {
    text: &'a str,
    path: &'a str,
}

impl Place<'_> {
    fn error(&self, at: Range<usize>, what: impl Into<String>) -> Error {
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

    fn duration(
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

    fn probability(
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

    fn whole(&self, key: &str, value: &Spanned<i64>, low: i64, high: i64) -> Result<u32, Error> {
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

pub(super) fn parse(text: &str, path: &str) -> Result<Scenario, Error> {
    let place = Place { text, path };
    let raw: Raw = toml::from_str(text)
        .map_err(|e| place.error(e.span().unwrap_or(0..0), e.message().to_owned()))?;
    let timeout = place.duration(
        "client.timeout",
        raw.client.timeout.clone(),
        Duration::from_secs(10),
    )?;
    if timeout.is_zero() {
        let at = raw.client.timeout.map_or(0..0, |t| t.span());
        return Err(place.error(at, "client.timeout is 0s; it must be more than 0s"));
    }
    let interactions = interactions(&place, &raw)?;
    let start = find(&raw, raw.start.get_ref()).ok_or_else(|| {
        place.error(
            raw.start.span(),
            format!(
                "start is {:?}; no [[interaction]] has that name",
                raw.start.get_ref()
            ),
        )
    })?;
    all_can_end(&place, &raw, &interactions)?;
    let requests = match &raw.connection.requests {
        Some(n) => place.whole("connection.requests", n, 0, i64::from(u32::MAX))?,
        None => 0,
    };
    Ok(Scenario {
        name: raw.name.into_inner(),
        arrivals: arrivals(&place, &raw.arrivals)?,
        think_mean: place.duration("think.mean", raw.think.mean, Duration::from_secs(7))?,
        timeout,
        versions: versions(&place, raw.tls.versions)?,
        resume_within: place.probability("tls.resume_within", raw.tls.resume_within, 1.0)?,
        resume_across: place.probability("tls.resume_across", raw.tls.resume_across, 0.0)?,
        requests_per_connection: requests,
        start,
        interactions,
    })
}

fn arrivals(place: &Place<'_>, raw: &RawArrivals) -> Result<Arrivals, Error> {
    match (&raw.users, &raw.rate) {
        (Some(_), Some(rate)) => Err(place.error(
            rate.span(),
            "arrivals has users and rate; give users for a closed system, or rate for a partly-open one",
        )),
        (_, Some(rate)) => {
            let arrivals = Arrivals::PartlyOpen { rate: *rate.get_ref() };
            arrivals.check().map_err(|what| place.error(rate.span(), what))
        }
        (Some(users), None) => {
            let n = *users.get_ref();
            u32::try_from(n)
                .map_err(|_| wrong_users(n))
                .and_then(|users| Arrivals::Closed { users }.check())
                .map_err(|what| place.error(users.span(), what))
        }
        (None, None) => Ok(Arrivals::Closed { users: 20 }),
    }
}

fn versions(place: &Place<'_>, raw: Option<Spanned<Vec<String>>>) -> Result<Versions, Error> {
    let Some(raw) = raw else {
        return Ok(Versions::Both);
    };
    let (mut tls12, mut tls13) = (false, false);
    for version in raw.get_ref() {
        match version.as_str() {
            "1.2" => tls12 = true,
            "1.3" => tls13 = true,
            other => {
                return Err(place.error(
                    raw.span(),
                    format!("tls.versions has {other:?}; it may have \"1.2\" and \"1.3\""),
                ));
            }
        }
    }
    match (tls12, tls13) {
        (true, true) => Ok(Versions::Both),
        (true, false) => Ok(Versions::Tls12),
        (false, true) => Ok(Versions::Tls13),
        (false, false) => Err(place.error(
            raw.span(),
            "tls.versions is empty; it must have \"1.2\", \"1.3\" or both",
        )),
    }
}

fn find(raw: &Raw, name: &str) -> Option<usize> {
    raw.interaction
        .iter()
        .position(|i| i.get_ref().name.get_ref() == name)
}

fn interactions(place: &Place<'_>, raw: &Raw) -> Result<Vec<Interaction>, Error> {
    for (name, range) in &raw.ranges {
        let (first, last) = *range.get_ref();
        if first < 0 || last < first {
            let what = format!(
                "ranges.{name} is [{first}, {last}]; it must be [first, last] with 0 <= first <= last"
            );
            return Err(place.error(range.span(), what));
        }
    }
    let mut all = Vec::new();
    for (at, spanned) in raw.interaction.iter().enumerate() {
        let one = spanned.get_ref();
        let name = one.name.get_ref();
        if matches!(name.as_str(), "back" | "end" | "") || find(raw, name) != Some(at) {
            let what = format!(
                "interaction.name is {name:?}; it must be unique, not empty, and not back or end"
            );
            return Err(place.error(one.name.span(), what));
        }
        let range = |key: &str| {
            raw.ranges
                .get(key)
                .map(|r| (r.get_ref().0 as u64, r.get_ref().1 as u64))
        };
        let path = Template::parse(one.path.get_ref(), range)
            .map_err(|what| place.error(one.path.span(), format!("path of {name} {what}")))?;
        all.push(Interaction {
            name: name.clone(),
            path,
            marker: one.marker.clone().into_bytes(),
            follow: one.follow.clone(),
            next: edges(place, raw, one)?,
        });
    }
    Ok(all)
}

/// The edges with cumulative probabilities, normalised so that the last is 1.
fn edges(place: &Place<'_>, raw: &Raw, from: &RawInteraction) -> Result<Vec<(f64, Next)>, Error> {
    let name = from.name.get_ref();
    let edges = from.next.get_ref();
    let total: f64 = edges.values().map(|w| *w.get_ref()).sum();
    if edges.is_empty() {
        return Err(place.error(
            from.next.span(),
            format!("next of {name} is empty; it must lead somewhere, at least to end"),
        ));
    }
    let mut sum = 0.0;
    let mut out = Vec::new();
    for (to, weight) in edges {
        let w = *weight.get_ref();
        if !(w > 0.0 && w.is_finite() && total.is_finite()) {
            let what = format!("next.{to} of {name} is {w}; it must be more than 0");
            return Err(place.error(weight.span(), what));
        }
        let next = match to.as_str() {
            "end" => Next::End,
            "back" => Next::Back,
            _ => Next::Interaction(find(raw, to).ok_or_else(|| {
                place.error(
                    weight.span(),
                    format!("next of {name} leads to {to:?}; no [[interaction]] has that name"),
                )
            })?),
        };
        sum += w / total;
        out.push((sum, next));
    }
    if let Some(last) = out.last_mut() {
        last.0 = 1.0;
    }
    Ok(out)
}

/// A session from which `end` cannot be reached would never complete, and nobody would notice.
fn all_can_end(place: &Place<'_>, raw: &Raw, all: &[Interaction]) -> Result<(), Error> {
    // "back" ends only by leading to a page that can, which then is among the others.
    let mut can = vec![false; all.len()];
    loop {
        let mut changed = false;
        for (i, one) in all.iter().enumerate() {
            let ends = one.next.iter().any(|(_, next)| match next {
                Next::End | Next::Back => true,
                Next::Interaction(to) => can[*to],
            });
            changed |= ends && !can[i];
            can[i] |= ends;
        }
        if !changed {
            break;
        }
    }
    match can.iter().position(|&c| !c) {
        None => Ok(()),
        Some(i) => {
            let what = format!(
                "from {} no way leads to end; add end to a next",
                all[i].name
            );
            Err(place.error(raw.interaction[i].span(), what))
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
