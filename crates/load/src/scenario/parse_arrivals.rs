//! The `[arrivals]` of a scenario: who comes, how evenly, and how that changes over the run.

use super::place::Place;
use super::{Arrivals, Process, wrong_users};
use crate::Error;
use loadline_arrivals::{Phase, Schedule};
use serde::Deserialize;
use std::time::Duration;
use toml::Spanned;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawArrivals {
    users: Option<Spanned<i64>>,
    rate: Option<Spanned<f64>>,
    requests: Option<Spanned<f64>>,
    process: Option<Spanned<String>>,
    #[serde(default)]
    phase: Vec<Spanned<RawPhase>>,
    repeat: Option<bool>,
    pub(super) replay: Option<Spanned<String>>,
    pub(super) speed: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPhase {
    #[serde(rename = "for")]
    length: Spanned<String>,
    level: Option<f64>,
    from: Option<f64>,
    to: Option<f64>,
}

pub(super) fn parse(
    place: &Place<'_>,
    raw: &RawArrivals,
) -> Result<(Arrivals, Process, Schedule), Error> {
    let process = place.one_of(
        "arrivals.process",
        raw.process.clone(),
        &[("poisson", Process::Poisson), ("uniform", Process::Uniform)],
        Process::Poisson,
    )?;
    Ok((arrivals(place, raw)?, process, schedule(place, raw)?))
}

fn arrivals(place: &Place<'_>, raw: &RawArrivals) -> Result<Arrivals, Error> {
    let check = |arrivals: Arrivals, at| arrivals.check().map_err(|what| place.error(at, what));
    match (&raw.users, &raw.rate, &raw.requests) {
        (Some(_), Some(rate), _) => Err(place.error(
            rate.span(),
            "arrivals has users and rate; give users for a closed system, or rate for a partly-open one",
        )),
        (Some(_), _, Some(requests)) | (_, Some(_), Some(requests)) => Err(place.error(
            requests.span(),
            "arrivals has requests beside users or rate; give requests alone for an open system",
        )),
        (_, Some(rate), _) => check(
            Arrivals::PartlyOpen {
                rate: *rate.get_ref(),
            },
            rate.span(),
        ),
        (_, _, Some(rate)) => check(
            Arrivals::Open {
                rate: *rate.get_ref(),
            },
            rate.span(),
        ),
        (Some(users), None, None) => {
            let n = *users.get_ref();
            u32::try_from(n)
                .map_err(|_| wrong_users(n))
                .and_then(|users| Arrivals::Closed { users }.check())
                .map_err(|what| place.error(users.span(), what))
        }
        (None, None, None) => Ok(Arrivals::Closed { users: 20 }),
    }
}

fn schedule(place: &Place<'_>, raw: &RawArrivals) -> Result<Schedule, Error> {
    let mut phases = Vec::new();
    for spanned in &raw.phase {
        let one = spanned.get_ref();
        let length = place.duration(
            "arrivals.phase.for",
            Some(one.length.clone()),
            Duration::ZERO,
        )?;
        let (from, to) = match (one.level, one.from, one.to) {
            (Some(level), None, None) => (level, level),
            (None, Some(from), Some(to)) => (from, to),
            _ => {
                return Err(place.error(
                    spanned.span(),
                    "a phase has level, or from and to: it stays where it is or goes from one to the other",
                ));
            }
        };
        phases.push(Phase {
            seconds: length.as_secs_f64(),
            from,
            to,
        });
    }
    let at = raw.phase.first().map_or(0..0, Spanned::span);
    Schedule::new(phases, raw.repeat.unwrap_or(false))
        .map_err(|what| place.error(at, format!("arrivals.{what}")))
}
