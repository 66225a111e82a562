//! TOML into a [`Scenario`]: every error names file, line, key, value and what is allowed.

use super::client::{self, RawClient, RawConnection, RawTls};
use super::parse_arrivals::{self, RawArrivals};
use super::place::Place;
use super::{Interaction, Next, Scenario, Slot, Template, Versions};
use crate::Error;
use crate::replay::Replay;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: Spanned<String>,
    start: Option<Spanned<String>>,
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
    #[serde(default)]
    session: BTreeMap<String, Spanned<(i64, i64)>>,
    #[serde(default)]
    interaction: Vec<Spanned<RawInteraction>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawThink {
    mean: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInteraction {
    name: Spanned<String>,
    path: Spanned<String>,
    #[serde(default)]
    marker: String,
    follow: Option<String>,
    #[serde(default)]
    form: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    take: BTreeMap<String, Spanned<String>>,
    next: Spanned<BTreeMap<String, Spanned<f64>>>,
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
    let replay = replay(&place, &raw)?;
    let (interactions, start) = if replay.is_some() {
        (Vec::new(), 0)
    } else {
        let interactions = interactions(&place, &raw)?;
        all_can_end(&place, &raw, &interactions)?;
        let start = start(&place, &raw)?;
        (interactions, start)
    };
    let requests = match &raw.connection.requests {
        Some(n) => place.whole("connection.requests", n, 0, i64::from(u32::MAX))?,
        None => 0,
    };
    let (arrivals, process, schedule) = parse_arrivals::parse(&place, &raw.arrivals)?;
    let mut scenario = Scenario {
        name: raw.name.get_ref().clone(),
        arrivals,
        process,
        schedule,
        replay: None,
        think_mean: place.duration("think.mean", raw.think.mean, Duration::from_secs(7))?,
        timeout,
        versions: versions(&place, raw.tls.versions.clone())?,
        resume_within: place.probability(
            "tls.resume_within",
            raw.tls.resume_within.clone(),
            1.0,
        )?,
        resume_across: place.probability(
            "tls.resume_across",
            raw.tls.resume_across.clone(),
            0.0,
        )?,
        requests_per_connection: requests,
        client: client::client(&place, raw.client, &raw.connection)?,
        tickets: client::tickets(&place, &raw.tls)?,
        http: client::http(&place, raw.connection.http)?,
        keys: client::keys(&place, raw.tls.keys)?,
        held: raw
            .session
            .into_iter()
            .map(|(name, range)| (name, whole_range(range.get_ref())))
            .collect(),
        start,
        interactions,
    };
    if let Some(replay) = replay {
        scenario.set_replay(replay);
    }
    Ok(scenario)
}

/// The log that `arrivals.replay` names, found from the scenario's folder.
fn replay(place: &Place<'_>, raw: &Raw) -> Result<Option<Replay>, Error> {
    let Some(log) = &raw.arrivals.replay else {
        return Ok(None);
    };
    if let Some(one) = raw.interaction.first() {
        return Err(place.error(
            one.span(),
            "there are arrivals.replay and an [[interaction]]; a log says itself what is asked for",
        ));
    }
    let speed = place.positive("arrivals.speed", raw.arrivals.speed.clone(), 1.0)?;
    let folder = Path::new(place.path).parent().unwrap_or(Path::new(""));
    Replay::read(&folder.join(log.get_ref()), speed)
        .map(Some)
        .map_err(|e| place.error(log.span(), format!("arrivals.replay: {e}")))
}

fn start(place: &Place<'_>, raw: &Raw) -> Result<usize, Error> {
    let Some(start) = &raw.start else {
        return Err(place.error(
            0..0,
            "missing field `start`: the first [[interaction]] of a session",
        ));
    };
    find(raw, start.get_ref()).ok_or_else(|| {
        place.error(
            start.span(),
            format!(
                "start is {:?}; no [[interaction]] has that name",
                start.get_ref()
            ),
        )
    })
}

fn whole_range(range: &(i64, i64)) -> (u64, u64) {
    (range.0 as u64, range.1 as u64)
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
    if raw.interaction.is_empty() {
        return Err(place.error(
            0..0,
            "missing field `interaction`: it needs at least one [[interaction]]",
        ));
    }
    for (name, range) in raw.ranges.iter().chain(&raw.session) {
        if raw.ranges.contains_key(name) && raw.session.contains_key(name) {
            return Err(place.error(
                range.span(),
                format!("{name} is in [ranges] and in [session]; it can be in one of them"),
            ));
        }
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
        let slot = |key: &str| slot(raw, key);
        let path = Template::path(one.path.get_ref(), slot)
            .map_err(|what| place.error(one.path.span(), format!("path of {name} {what}")))?;
        let mut form = Vec::new();
        for (field, text) in &one.form {
            let text = Template::text(text.get_ref(), slot).map_err(|what| {
                place.error(text.span(), format!("form.{field} of {name} {what}"))
            })?;
            form.push((field.clone(), text));
        }
        let mut take = Vec::new();
        for (value, text) in &one.take {
            let Some(held) = raw.session.keys().position(|k| k == value) else {
                let what = format!("take.{value} of {name}: [session] has no {value}");
                return Err(place.error(text.span(), what));
            };
            if text.get_ref().is_empty() {
                let what = format!(
                    "take.{value} of {name} is empty; it must be the text before the value"
                );
                return Err(place.error(text.span(), what));
            }
            take.push((held, text.get_ref().clone()));
        }
        all.push(Interaction {
            name: name.clone(),
            path,
            marker: one.marker.clone().into_bytes(),
            follow: one.follow.clone(),
            form,
            take,
            next: edges(place, raw, one)?,
        });
    }
    Ok(all)
}

fn slot(raw: &Raw, name: &str) -> Option<Slot> {
    if let Some(held) = raw.session.keys().position(|k| k == name) {
        return Some(Slot::Held(held));
    }
    raw.ranges.get(name).map(|range| {
        let (first, last) = whole_range(range.get_ref());
        Slot::Drawn(first, last)
    })
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
