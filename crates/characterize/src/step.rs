//! What comes next for one CPU count: a function of what is done.

use crate::curve::{curve, judge_all};
use crate::measured::{Point, Probe};
use crate::objective::Objective;
use crate::plan::{Parameters, factor, round};
use crate::search;

/// Share of the load line at which the trace below it is recorded.
const BELOW: f64 = 0.7;
/// Multiple of the load line, or of the saturation if that is more, of the trace above it.
const ABOVE: f64 = 2.0;
/// Goodput from this share of the largest is the peak; noise makes it wander on the plateau.
const PEAK: f64 = 0.97;
/// A heaviest load of this share of what was wanted is heavy enough.
const ENOUGH: f64 = 0.7;
/// Points beyond those asked for, at most.
const MORE: u32 = 8;
/// Repetitions of all points together, as a multiple of those of one.
const MOST_REPETITIONS: u32 = 3;
/// Loads closer than this are the same point.
const SAME: f64 = 0.003;

/// Which side of the load line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Below it.
    Below,
    /// Above it.
    Above,
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Find out where to look.
    Probe,
    /// Measure a point of the sweep: its number, from 1.
    Sweep(u32, f64),
    /// Measure a point in search of the load line: its number, from 1.
    Search(u32, f64),
    /// Measure an end of the bracket again, because its judgement is in doubt: which repetition of all, from 1.
    Repeat(u32, f64),
    /// Record.
    Trace(Which, f64),
}

/// What is done of one CPU count.
#[derive(Debug, Default)]
pub struct Done {
    /// The probe.
    pub probe: Option<Probe>,
    /// Points in any order.
    pub points: Vec<Point>,
    /// The trace below is there, or cannot be had.
    pub below: bool,
    /// The trace above is there, or cannot be had.
    pub above: bool,
}

/// The next step; none if all is done.
pub fn next(p: &Parameters, objective: Option<Objective>, done: &Done) -> Option<Step> {
    let Some(probe) = &done.probe else {
        return Some(Step::Probe);
    };
    let measured = |rate: f64| {
        done.points
            .iter()
            .any(|p| (p.rate / rate - 1.0).abs() < SAME)
    };
    let sweep = p.sweep(probe.sessions_per_s);
    if let Some((i, rate)) = (1..).zip(&sweep).find(|(_, rate)| !measured(**rate)) {
        return Some(Step::Sweep(i, *rate));
    }
    if !probe.closed
        && let Some(rate) = further(p, &done.points)
    {
        let n = done.points.iter().filter(|p| !p.search).count() as u32;
        return Some(Step::Sweep(n + 1, rate));
    }
    let judged = judge_all(&done.points, objective, probe.clicks);
    let b = search::bracket(judged.iter().copied());
    let repeated = (done.points.len() - judged.len().min(done.points.len())) as u32;
    // Repetitions are kept as searched points.
    let searched =
        (done.points.iter().filter(|p| p.search).count() as u32).saturating_sub(repeated);
    // A repetition may turn a judgement, and move the bracket: then a point more is worth its time.
    if searched < p.search + repeated
        && let Some(rate) = between(&b, probe.closed).filter(|r| !measured(*r))
    {
        return Some(Step::Search(searched + 1, rate));
    }
    if repeated < MOST_REPETITIONS * p.repeat
        && let Some(rate) = search::again(&b, &judged, p.repeat)
    {
        return Some(Step::Repeat(repeated + 1, rate));
    }
    if p.trace_s <= 0.0 {
        return None;
    }
    let line = curve(&done.points, objective, probe)
        .load_line
        .map_or(probe.sessions_per_s, |l| l.sessions_per_s);
    if !done.below {
        let below = match probe.closed {
            true => (BELOW * line).floor().max(1.0),
            false => round(BELOW * line),
        };
        return Some(Step::Trace(Which::Below, below));
    }
    let above = ABOVE * line.max(probe.sessions_per_s);
    let above = match p.heaviest() {
        Some(heaviest) => above.ceil().min(heaviest),
        None => round(above),
    };
    (!done.above).then_some(Step::Trace(Which::Above, above))
}

/// The next load in search of the load line. Those of a closed program are whole numbers, and none is offered beyond
/// those that were asked for.
fn between(b: &search::Bracket, closed: bool) -> Option<f64> {
    let next = search::next(b)?;
    if !closed {
        return Some(round(next));
    }
    let (low, high) = (b.holds?, b.fails?.0);
    Some(next.round()).filter(|n| low < *n && *n < high)
}

/// The next heavier load, if the probe took the server for weaker than it is: the heaviest load is to be
/// `to` times the one that brought the peak. None where the generator was the limit.
fn further(p: &Parameters, points: &[Point]) -> Option<f64> {
    let swept = || points.iter().filter(|p| !p.search);
    let heaviest = swept().max_by(|a, b| a.rate.total_cmp(&b.rate))?;
    let most = points
        .iter()
        .map(|p| p.load.replies_per_s)
        .fold(0.0, f64::max);
    let carried = points
        .iter()
        .filter(|p| p.load.replies_per_s >= PEAK * most)
        .map(|p| p.rate)
        .fold(f64::INFINITY, f64::min);
    let wanted = p.to * carried;
    let made = swept().count() as u32;
    let may = made < p.points + MORE && heaviest.load.generator_limit().is_none();
    (may && heaviest.rate < ENOUGH * wanted)
        .then(|| round((heaviest.rate * factor(p.points, p.to)).min(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::tests::{point, probe};
    use crate::plan::tests::parameters;

    /// Does everything for a server of a known capacity and tells what was done.
    fn all(p: &Parameters) -> (Vec<Step>, Done) {
        let (mut steps, mut done) = (Vec::new(), Done::default());
        while let Some(step) = next(p, None, &done) {
            steps.push(step);
            assert!(steps.len() < 100, "it goes on for ever: {steps:?}");
            match step {
                Step::Probe => done.probe = Some(probe(40.0)),
                Step::Sweep(_, rate) => done.points.push(point(rate, 40.0)),
                Step::Search(_, rate) | Step::Repeat(_, rate) => done.points.push(Point {
                    search: true,
                    ..point(rate, 40.0)
                }),
                Step::Trace(Which::Below, _) => done.below = true,
                Step::Trace(Which::Above, _) => done.above = true,
            }
        }
        (steps, done)
    }

    #[test]
    fn a_characterization_probes_sweeps_searches_and_records() {
        let p = Parameters {
            trace_s: 10.0,
            ..parameters()
        };
        let (steps, done) = all(&p);
        assert_eq!(steps[0], Step::Probe);
        assert_eq!(steps[1], Step::Sweep(1, 4.0));
        assert!(matches!(steps[12], Step::Search(1, _)), "{steps:?}");
        let found = curve(&done.points, None, &probe(40.0))
            .load_line
            .expect("found");
        assert!(
            (found.sessions_per_s / 31.0 - 1.0).abs() < 0.05,
            "{found:?}"
        );
        let n = steps.len();
        let Step::Trace(Which::Below, low) = steps[n - 2] else {
            panic!("{steps:?}")
        };
        assert!((low / (0.7 * found.sessions_per_s) - 1.0).abs() < 0.01);
        assert_eq!(steps[n - 1], Step::Trace(Which::Above, 80.0));
        assert!(n <= 1 + 11 + 4 + 2);
    }

    #[test]
    fn a_closed_program_is_measured_at_the_loads_asked_for_and_whole_numbers_between() {
        let loads = [1u32, 4, 16, 64];
        let p = Parameters {
            units: Some(crate::plan::Units {
                command: "drive {load}".into(),
                loads: loads.to_vec(),
                names: Vec::new(),
            }),
            points: 4,
            trace_s: 1.0,
            ..parameters()
        };
        let mut done = Done {
            probe: Some(Probe::closed(&loads)),
            ..Done::default()
        };
        let (mut offered, mut recorded) = (Vec::new(), Vec::new());
        while let Some(step) = next(&p, None, &done) {
            match step {
                Step::Probe => panic!("there is nothing to probe"),
                Step::Sweep(_, load) | Step::Search(_, load) | Step::Repeat(_, load) => {
                    offered.push(load);
                    // Four times as slow from 21 on.
                    let p95 = if load > 20.0 { 50.0 } else { 10.0 };
                    let mut made = crate::level::tests::run(load, p95, 1.0, 0);
                    made.search = !matches!(step, Step::Sweep(..));
                    done.points.push(made);
                }
                Step::Trace(Which::Below, load) => {
                    recorded.push(load);
                    done.below = true;
                }
                Step::Trace(Which::Above, load) => {
                    recorded.push(load);
                    done.above = true;
                }
            }
            assert!(offered.len() < 30, "{offered:?}");
        }
        assert_eq!(offered[..4], [1.0, 4.0, 16.0, 64.0]);
        assert!(
            offered.iter().all(|n| n.fract() == 0.0 && *n <= 64.0),
            "{offered:?}"
        );
        assert!(
            offered.contains(&20.0) || offered.contains(&21.0),
            "{offered:?}"
        );
        assert_eq!(recorded.len(), 2);
        assert!(
            recorded[0] <= 14.0 && recorded[1] > 20.0 && recorded[1] <= 64.0,
            "{recorded:?}"
        );
    }

    #[test]
    fn a_sweep_goes_on_until_it_is_far_beyond_the_peak() {
        let p = parameters();
        let mut done = Done {
            probe: Some(probe(8.0)), // of a server that carries forty
            ..Done::default()
        };
        while let Some(Step::Sweep(_, rate)) = next(&p, None, &done) {
            done.points.push(point(rate, 40.0));
            assert!(done.points.len() <= 30, "{:?}", done.points.len());
        }
        let heaviest = done.points.iter().map(|p| p.rate).fold(0.0, f64::max);
        assert!(heaviest >= 0.7 * p.to * 31.0, "{heaviest}");
        assert!(heaviest <= 1.1 * p.to * 45.0, "{heaviest}");
    }

    /// A server whose load line is 30 sessions/s, with a p95 of 50 ms at half of it and 100 ms there; every run of `noisy`
    /// comes out 60% slower the first time.
    fn noisy(rate: f64, first: bool) -> Point {
        let p95 = 100.0 * (rate / 30.0).powi(3).max(0.1);
        let slow = if first && (20.0..30.0).contains(&rate) {
            1.6
        } else {
            1.0
        };
        Point {
            search: true,
            ..crate::level::tests::run(rate, p95 * slow, 0.8 * p95, 0)
        }
    }

    #[test]
    fn a_noisy_failure_is_measured_again_and_does_not_bound_the_search() {
        let p = Parameters {
            repeat: 2,
            ..parameters()
        };
        let objective = Objective::parse("p95=100ms").expect("valid");
        let mut done = Done {
            probe: Some(probe(40.0)),
            ..Done::default()
        };
        let (mut repeats, mut steps) = (0, 0);
        while let Some(step) = next(&p, Some(objective), &done) {
            steps += 1;
            assert!(steps < 60, "it goes on for ever: {step:?}");
            let (rate, search) = match step {
                Step::Sweep(_, rate) => (rate, false),
                Step::Search(_, rate) => (rate, true),
                Step::Repeat(_, rate) => {
                    repeats += 1;
                    (rate, true)
                }
                other => panic!("{other:?}"),
            };
            let first = !done.points.iter().any(|d| d.rate == rate);
            done.points.push(Point {
                search,
                ..noisy(rate, first)
            });
        }
        let line = curve(&done.points, Some(objective), &probe(40.0))
            .load_line
            .expect("found");
        assert!(repeats > 0 && repeats <= 6, "{repeats}");
        assert!((25.0..=30.5).contains(&line.sessions_per_s), "{line:?}");
        let (low, high) = (line.low.expect("low"), line.high.expect("high"));
        assert!(low <= 30.0 && 30.0 <= high, "{line:?}");
    }

    #[test]
    fn what_is_done_is_not_done_again() {
        let p = parameters();
        let (_, mut done) = all(&p);
        assert_eq!(next(&p, None, &done), None);
        let lost = done.points.remove(5);
        assert_eq!(next(&p, None, &done), Some(Step::Sweep(6, lost.rate)));
    }
}
