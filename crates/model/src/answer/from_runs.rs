//! From what runs recorded to an answer.

use super::stations::stations;
use super::{Answer, ClassAnswer, Named, PhaseAnswer, ResponseTime, RunAnswer};
use crate::engine::{Engine, Meters, Segment};
use crate::model::Model;
use crate::run::{Options, Outcome, Problem};
use loadline_stats::{Estimate, Histogram, by_batches, by_replications};

/// The sum of one meter over that of another, or over time.
pub fn ratio(segments: &[Segment], above: usize, below: Option<usize>) -> Estimate {
    by_batches(segments, |part| quotient(part, &[above], below))
}

/// Whether the mean response time and throughput of every class are known so well by independent runs.
pub fn precise_over_runs(model: &Model, outcomes: &[Outcome], precision: f64) -> bool {
    let layout = Engine::new(model, 0, 1);
    let meters = layout.meters();
    (0..model.classes.len()).all(|class| {
        let m = meters.class(class);
        let over = |above: usize, below: Option<usize>| {
            let each = |o: &Outcome| quotient(&o.segments, &[above], below);
            by_replications(&outcomes.iter().map(each).collect::<Vec<_>>()).relative() <= precision
        };
        let seen = outcomes
            .iter()
            .any(|o| o.segments.iter().any(|s| s.meters[m + 1] > 0.0));
        !seen || (over(m + 2, Some(m + 1)) && over(m + 1, None))
    })
}

pub(super) fn quotient(part: &[Segment], above: &[usize], below: Option<usize>) -> f64 {
    let sum: f64 = part
        .iter()
        .map(|s| above.iter().map(|&m| s.meters[m]).sum::<f64>())
        .sum();
    sum / part
        .iter()
        .map(|s| below.map_or(s.seconds, |m| s.meters[m]))
        .sum::<f64>()
}

/// All runs' segments, with one way of estimating from them.
pub(super) struct Evidence {
    runs: Vec<Vec<Segment>>,
}

impl Evidence {
    pub(super) fn estimate(&self, each: impl Fn(&[Segment]) -> f64) -> Estimate {
        match self.runs.as_slice() {
            [one] => by_batches(one, each),
            several => by_replications(&several.iter().map(|run| each(run)).collect::<Vec<_>>()),
        }
    }

    pub(super) fn ratio(&self, above: usize, below: Option<usize>) -> Estimate {
        self.estimate(|part| quotient(part, &[above], below))
    }

    /// As [`Evidence::ratio`]; `None` if the denominator never counts anything.
    pub(super) fn seen(&self, above: usize, below: usize) -> Option<Estimate> {
        (self.total(below) > 0.0).then(|| self.ratio(above, Some(below)))
    }

    pub(super) fn total(&self, meter: usize) -> f64 {
        self.runs.iter().flatten().map(|s| s.meters[meter]).sum()
    }

    pub(super) fn rate(&self, meter: usize) -> f64 {
        self.total(meter) / self.runs.iter().flatten().map(|s| s.seconds).sum::<f64>()
    }

    pub(super) fn histogram(part: &[Segment], classes: &[usize]) -> Histogram {
        let mut all = Histogram::default();
        for s in part {
            classes.iter().for_each(|&c| all.add(&s.responses[c]));
        }
        all
    }

    fn quantile(&self, classes: &[usize], p: f64) -> Estimate {
        // Percentiles of short batches are biased: ten long ones instead of thirty short ones.
        let of = |part: &[Segment]| Evidence::histogram(part, classes).quantile(p);
        match self.runs.as_slice() {
            [one] => {
                let whole = of(one);
                let values: Vec<f64> = one
                    .chunks(one.len().div_ceil(15).max(1))
                    .map(of)
                    .filter(|x| x.is_finite())
                    .collect();
                Estimate {
                    value: whole,
                    ..by_replications(&values)
                }
            }
            several => by_replications(&several.iter().map(|run| of(run)).collect::<Vec<_>>()),
        }
    }
}

/// The answer of one or several runs of `model`.
pub fn from_runs(model: &Model, options: &Options, outcomes: Vec<Outcome>) -> Answer {
    let layout = Engine::new(model, 0, 1);
    let meters = layout.meters();
    let level = |l: usize| layout.record().meter_of(l);
    let run = RunAnswer {
        seed: options.seed,
        replications: outcomes.len() as u32,
        requests: outcomes.iter().map(|o| o.requests).sum(),
        simulated_seconds: outcomes.iter().map(|o| o.seconds).sum(),
        warm_up_seconds: outcomes
            .iter()
            .map(|o| o.warm_up)
            .try_fold(0.0f64, |a, w| w.map(|w| a.max(w))),
        events: outcomes.iter().map(|o| o.events).sum(),
        precise: outcomes.iter().all(|o| o.precise),
        curve: outcomes
            .first()
            .map(|o| thin(&o.curve, 200))
            .unwrap_or_default(),
    };
    let problem = outcomes.iter().find_map(|o| o.problem.clone());
    let over_time = super::over_time::of(model, meters, &level, &outcomes);
    let evidence = Evidence {
        runs: outcomes.into_iter().map(|o| o.segments).collect(),
    };
    let mut answer = Answer {
        title: model.title.clone(),
        solver: "simulation".into(),
        parameters: Named(
            model
                .parameters
                .iter()
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect(),
        ),
        classes: Named(
            (0..model.classes.len())
                .map(|c| {
                    let answer = together(meters, &evidence, &level, &[c]);
                    (model.classes[c].name.clone(), answer)
                })
                .collect(),
        ),
        all: {
            let asked: Vec<usize> = (0..model.classes.len())
                .filter(|&c| !model.classes[c].background)
                .collect();
            Some(together(meters, &evidence, &level, &asked))
        },
        stations: Named(stations(model, meters, &evidence, &level)),
        phases: Named(
            (0..model.phases.len())
                .map(|p| {
                    let m = meters.phase(p);
                    let time = evidence.seen(m + 1, m).unwrap_or(Estimate::exact(f64::NAN));
                    (
                        model.phases[p].clone(),
                        PhaseAnswer {
                            throughput: evidence.ratio(m, None),
                            time,
                        },
                    )
                })
                .collect(),
        ),
        over_time,
        warnings: model.warnings.clone(),
        problem: problem.map(|p| match p {
            Problem::Deadlock(d) => d.to_string(),
            Problem::Unstable(parts) if parts.is_empty() => {
                "unstable: requests come faster than they can be served".into()
            }
            Problem::Unstable(parts) => format!(
                "unstable: requests come faster than they can be served; at its limit: {}",
                parts.join(", ")
            ),
            Problem::Timeless => {
                "no time passes: some program neither uses CPU nor waits, and is executed over and over; \
                 give its client a think time, or its steps a duration"
                    .into()
            }
            Problem::Stopped => {
                "nothing happens any more: no client ever makes another request".into()
            }
        }),
        run: None,
    };
    if run.warm_up_seconds.is_none() && answer.problem.is_none() {
        answer.warnings.push(
            "the run was too short to find the end of its warm-up; its second half was used".into(),
        );
    }
    if run.events >= options.most_events {
        answer.warnings.push(format!(
            "stopped after {} events: what a request takes is very long beside the turns that threads take",
            run.events
        ));
    }
    if !run.precise && options.requests.is_none() && answer.problem.is_none() {
        answer.warnings.push(format!(
            "the precision of {}% was not reached",
            options.precision_of(model) * 100.0
        ));
    }
    answer.run = Some(run);
    answer
}

fn thin(curve: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let step = curve.len().div_ceil(most).max(1);
    curve
        .chunks(step)
        .filter_map(|c| {
            Some((
                c.last()?.0,
                c.iter().map(|x| x.1).sum::<f64>() / c.len() as f64,
            ))
        })
        .collect()
}

pub(super) type Level<'a> = &'a dyn Fn(usize) -> usize;

/// What some classes come to together.
fn together(meters: &Meters, e: &Evidence, level: Level<'_>, classes: &[usize]) -> ClassAnswer {
    let of = |offset: usize| -> Vec<usize> {
        classes.iter().map(|&c| meters.class(c) + offset).collect()
    };
    let sum = |above: Vec<usize>| e.estimate(|part| quotient(part, &above, None));
    let mut failures = Vec::new();
    for (name, offset) in [
        ("failed_attempts", 3),
        ("timed_out", 4),
        ("refused", 5),
        ("lost", 6),
        ("retried", 7),
    ] {
        if of(offset).iter().any(|&m| e.total(m) > 0.0) {
            let rate = of(offset).iter().map(|&m| e.rate(m)).sum();
            failures.push((name.to_string(), rate));
        }
    }
    let mut all = Histogram::default();
    for run in &e.runs {
        all.add(&Evidence::histogram(run, classes));
    }
    let (p95, p99) = (e.quantile(classes, 0.95), e.quantile(classes, 0.99));
    let (completed, times) = (of(1), of(2));
    let mean = completed.iter().any(|&m| e.total(m) > 0.0).then(|| {
        e.estimate(|part| quotient(part, &times, None) / quotient(part, &completed, None))
    });
    let present = classes.iter().map(|&c| level(meters.in_system[c]));
    ClassAnswer {
        throughput: sum(completed),
        response_time: ResponseTime {
            mean: mean.unwrap_or(Estimate::exact(f64::NAN)),
            p50: all.quantile(0.5),
            p95: p95.value,
            p99: p99.value,
            p95_ci95: p95.ci95,
            p99_ci95: p99.ci95,
            histogram: all.coarse(40),
        },
        in_system: sum(present.collect()),
        offered: of(0).iter().map(|&m| e.rate(m)).sum(),
        failures: Named(failures),
    }
}
