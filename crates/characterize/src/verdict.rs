//! What limits the server, and whether more CPUs would help, from figures alone.
//!
//! Asked in this order, and the first that its figures support is said:
//! 1. the generator, if it was the limit before the server showed any;
//! 2. what the diagnosis of the trace above the load line confirms first, if that is not the CPUs: a lock, a pool,
//!    the database, the collector, workers, files (`loadline diagnose`; nothing is judged a second time here);
//! 3. the CPUs, if the server used most of its own where it carried most;
//! 4. its CPUs, but used by others than the server (a database, the generator);
//! 5. a process that the user asked to watch, if it used up a CPU;
//! 6. the CPUs, if the diagnosis confirms them;
//! 7. nothing single.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::limit::Limit;
use crate::measured::Point;
use crate::search::Judgement;
use crate::traced::Side;
use crate::words::{cpus, figure, ms, percent};

/// Use of a CPU above which it is the limit.
const SATURATED: f64 = 0.85;
/// Use of a CPU by another process, or share of a phase, that is worth naming.
const NOTABLE: f64 = 0.05;
/// Speed-up per CPU below which another one hardly helps.
const SCALES: f64 = 1.2;

/// The conclusion for one CPU count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What limits.
    pub limit: Limit,
    /// A sentence with the figures that back it.
    pub text: String,
    /// Whether more CPUs would help; none if not known.
    pub more_cpus_help: Option<bool>,
}

/// The verdict of one CPU count: what limits, and what became of those whom a server that refuses lets in.
pub fn verdict(n: u32, points: &[Point], curve: &Curve, above: Option<&Side>) -> Verdict {
    let mut verdict = limit(n, points, curve, above);
    if let Some(held) = held(points, curve) {
        verdict.text += &held;
    }
    verdict
}

/// What a server that refuses holds beyond its load line, up to the heaviest load.
fn held(points: &[Point], curve: &Curve) -> Option<String> {
    let refusing = |p: &&Point| {
        let judged = curve.judged.iter().find(|j| j.rate == p.rate);
        judged.is_some_and(|j| j.how == Judgement::Refused)
    };
    let heaviest = points
        .iter()
        .filter(refusing)
        .max_by(|a, b| a.rate.total_cmp(&b.rate))?;
    let longest = points
        .iter()
        .filter(refusing)
        .map(|p| p.load.response.p95_ms)
        .fold(0.0, f64::max);
    let mut guards = points.iter().flat_map(|p| &p.guard);
    let who = match guards.find(|g| g.mode == "enforce") {
        Some(guard) => format!("the guard ({})", guard.objective),
        None => "the server".to_owned(),
    };
    let kept = heaviest.load.kept_share().map_or(String::new(), |share| {
        format!(" and {} of them complete", percent(share))
    });
    Some(format!(
        "; beyond it {who} refuses, {} of sessions at {}: those that are let in see a p95 of at most {}{kept}",
        heaviest.load.refused_share().map_or("-".into(), percent),
        figure(heaviest.rate),
        ms(longest)
    ))
}

fn limit(n: u32, points: &[Point], curve: &Curve, above: Option<&Side>) -> Verdict {
    let says = |limit, more_cpus_help, text: String| Verdict {
        limit,
        text,
        more_cpus_help,
    };
    let because = curve.load_line.as_ref().map(|l| l.because);
    if because == Some(Some(Judgement::Generator)) {
        let why = points
            .iter()
            .filter_map(|p| p.load.generator_limit())
            .next()
            .unwrap_or_default();
        return says(
            Limit::Generator,
            None,
            format!(
                "the load generator was the limit, not the server ({why}): give it CPUs of its own; the load line is at least what was found"
            ),
        );
    }
    // Of a closed program throughput may have levelled off long before the objective is missed.
    let levelled = curve
        .levels_off
        .zip(curve.judged.last())
        .is_some_and(|(level, last)| level.sessions_per_s < last.rate);
    if because == Some(None) && !levelled {
        return says(
            Limit::None,
            None,
            format!(
                "no limit was reached: sweep further with {}",
                if curve.levels_off.is_some() {
                    "--loads"
                } else {
                    "--to"
                }
            ),
        );
    }
    let at_peak = curve.peak.and_then(|peak| {
        let p = points.iter().find(|p| p.rate == peak.sessions_per_s)?;
        p.cpu.clone()
    });
    let of_n = f64::from(n.max(1));
    let used = at_peak
        .as_ref()
        .map(|c| {
            format!(
                " (the server used {} of {} at the peak)",
                percent(c.server / of_n),
                cpus(n)
            )
        })
        .unwrap_or_default();
    let traced = |limit: Limit, side: &Side| {
        let said = side.verdict.trim_end_matches('.');
        let more = match limit {
            Limit::Unknown => None,
            l => Some(l == Limit::Cpu),
        };
        says(limit, more, format!("above the load line, {said}{used}"))
    };
    let named = above.map(|side| (Limit::named(&side.limit), side));
    if let Some((limit, side)) = named
        && !matches!(limit, Limit::Cpu | Limit::Unknown)
    {
        return traced(limit, side);
    }
    if let Some(cpu) = &at_peak {
        let (own, all) = (cpu.server / of_n, cpu.on_its_cpus / of_n);
        if own > SATURATED {
            let waiting = waiting(above);
            let which = if n == 1 {
                "the CPU is the limit"
            } else {
                "the CPUs are the limit"
            };
            return says(
                Limit::Cpu,
                Some(true),
                format!(
                    "{which}: at the peak the server used {} of {}{}",
                    percent(own),
                    cpus(n),
                    waiting
                ),
            );
        }
        if all > SATURATED {
            let others: Vec<String> = cpu
                .watched
                .iter()
                .filter(|(_, used)| **used > NOTABLE)
                .map(|(name, used)| format!("{name} {}", percent(used / of_n)))
                .collect();
            let others = if others.is_empty() {
                "something else runs on them".to_owned()
            } else {
                format!("beside it, {}", others.join(", "))
            };
            let waiting = waiting(above);
            return says(
                Limit::SharedCpu,
                Some(true),
                format!(
                    "{}, {} busy at the peak, but only {} by the server ({others}){waiting}",
                    if n == 1 {
                        "the server's CPU is the limit".to_owned()
                    } else {
                        format!("the server's {} are the limit", cpus(n))
                    },
                    percent(all),
                    percent(own)
                ),
            );
        }
        if let Some((name, used)) = cpu.watched.iter().find(|(_, used)| **used > SATURATED) {
            return says(
                Limit::Process,
                Some(false),
                format!(
                    "{name} is the limit: it used {} CPUs at the peak, the server only {} of its {}",
                    figure(*used),
                    percent(own),
                    cpus(n)
                ),
            );
        }
    }
    match named {
        Some((limit, side)) => traced(limit, side),
        None => says(
            Limit::Unknown,
            None,
            format!("what the limit is, only a trace could tell{used}"),
        ),
    }
}

/// What the handshake phase above the load line waits for, if it does: a CPU, and a worker whose turn comes when one is
/// free.
fn waiting(above: Option<&Side>) -> String {
    let Some(side) = above else {
        return String::new();
    };
    let waits: Vec<String> = [
        ("queue", "in the queue for a worker"),
        ("runnable", "waiting for a CPU"),
    ]
    .iter()
    .filter_map(|(cause, said)| {
        let share = side.share_of_handshake(cause).filter(|s| *s > NOTABLE)?;
        Some(format!("{} {said}", percent(share)))
    })
    .collect();
    if waits.is_empty() {
        return String::new();
    }
    format!(
        "; above the load line the handshake phase is {}",
        waits.join(" and ")
    )
}

/// What the CPU counts say together: the sentence at the end of the terminal's summary.
pub fn conclusion(all: &[(u32, &Curve, &Verdict)]) -> String {
    let Some((n, _, first)) = all.first() else {
        return "nothing was measured".into();
    };
    let scaling = scaling(all);
    if all.len() == 1 {
        let more = match first.more_cpus_help {
            Some(true) => "; more CPUs would help",
            Some(false) => "; more CPUs would not help",
            None => "",
        };
        return format!("{}{more}.", first.text);
    }
    if all.iter().all(|(_, _, v)| v.limit == first.limit) && first.limit == Limit::Cpu {
        let on = if all.len() == 2 { "both" } else { "all" };
        return format!(
            "the CPU is the limit on {on}{}.",
            scaling.map(|s| format!(": {s}")).unwrap_or_default()
        );
    }
    let mut text: Vec<String> = vec![format!("on {}, {}", cpus(*n), first.text)];
    text.extend(
        all[1..]
            .iter()
            .map(|(n, _, v)| format!("on {}, {}", cpus(*n), v.text)),
    );
    text.extend(scaling);
    format!("{}.", text.join("; "))
}

/// `a second one brings 1.86 times`, from the peaks of the smallest and the largest count.
fn scaling(all: &[(u32, &Curve, &Verdict)]) -> Option<String> {
    let measured = |i: usize| {
        let (n, curve, v) = all.get(i)?;
        (v.limit != Limit::Generator).then_some((*n, curve.peak?.replies_per_s))
    };
    let (few, less) = measured(0)?;
    let (many, more) = measured(all.len().checked_sub(1)?)?;
    if many <= few || less <= 0.0 {
        return None;
    }
    let times = more / less;
    let subject = if (few, many) == (1, 2) {
        "a second one brings".to_owned()
    } else {
        format!("{} instead of {few} bring", cpus(many))
    };
    let hardly = times < 1.0 + (SCALES - 1.0) * f64::from(many - few);
    Some(format!(
        "{subject} {times:.2} times{}",
        if hardly {
            ", so more would hardly help"
        } else {
            ""
        }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::curve;
    use crate::curve::tests::{probe, sweep};
    use crate::traced::tests::side;

    fn of(points: &[Point], above: Option<&Side>) -> Verdict {
        verdict(1, points, &curve(points, None, &probe(40.0)), above)
    }

    fn with_cpu(server: f64, on_its_cpus: f64) -> Vec<Point> {
        let mut points = sweep(40.0);
        for c in points.iter_mut().filter_map(|p| p.cpu.as_mut()) {
            c.server = server;
            c.on_its_cpus = on_its_cpus;
        }
        points
    }

    #[test]
    fn a_server_that_used_its_cpu_up_was_limited_by_it() {
        let v = of(&sweep(40.0), Some(&side(6.0, "cpu")));
        assert_eq!((v.limit, v.more_cpus_help), (Limit::Cpu, Some(true)));
        let said = "the handshake phase is 50% waiting for a CPU";
        assert!(v.text.contains(said), "{}", v.text);
    }

    #[test]
    fn connections_that_wait_for_a_worker_are_told_from_those_that_wait_for_a_cpu() {
        let mut above = side(6.0, "cpu");
        above.phases[0].ms.insert("queue".into(), 188.0);
        let v = of(&sweep(40.0), Some(&above));
        let said = "the handshake phase is 94% in the queue for a worker";
        assert!(v.text.ends_with(said), "{}", v.text);
    }

    #[test]
    fn a_generator_at_its_limit_is_named_before_anything_else() {
        let mut points = sweep(40.0);
        for p in points.iter_mut().filter(|p| p.rate > 20.0) {
            p.load.generator.cpu_share = 0.97;
        }
        let v = of(&points, Some(&side(6.0, "cpu")));
        assert_eq!((v.limit, v.more_cpus_help), (Limit::Generator, None));
        assert!(v.text.contains("97% of its CPU"), "{}", v.text);
    }

    #[test]
    fn an_idle_cpu_points_to_what_the_trace_names() {
        for (name, limit) in [
            ("lock", Limit::Lock),
            ("pool", Limit::Pool),
            ("database", Limit::Database),
        ] {
            let v = of(&with_cpu(0.4, 0.4), Some(&side(0.0, name)));
            assert_eq!((v.limit, v.more_cpus_help), (limit, Some(false)));
            assert!(v.text.contains("40%"), "{}", v.text);
        }
        assert_eq!(of(&with_cpu(0.4, 0.4), None).limit, Limit::Unknown);
    }

    #[test]
    fn cpus_that_others_used_are_not_the_servers_limit() {
        let v = of(&with_cpu(0.4, 0.97), None);
        assert_eq!(v.limit, Limit::SharedCpu);
        let said =
            "the server's CPU is the limit, 97% busy at the peak, but only 40% by the server";
        assert!(v.text.starts_with(said), "{}", v.text);
    }

    #[test]
    fn a_watched_database_at_its_limit_is_named() {
        let mut points = with_cpu(0.4, 0.4);
        for c in points.iter_mut().filter_map(|p| p.cpu.as_mut()) {
            c.watched.insert("mariadbd".into(), 0.98);
        }
        let v = of(&points, None);
        assert_eq!(v.limit, Limit::Process);
        assert!(v.text.starts_with("mariadbd is the limit"), "{}", v.text);
    }

    #[test]
    fn a_server_that_refuses_is_judged_by_what_it_lets_in() {
        let mut points = sweep(40.0);
        for p in points.iter_mut() {
            let failures = std::mem::take(&mut p.load.failures_by_kind);
            p.load.failures_by_kind = [("busy".into(), failures.values().sum())].into();
            p.load.sessions.refused = p.load.sessions.broken;
            p.load.response.p95_ms = p.load.response.p95_ms.min(30.0);
            p.guard = Some(crate::guarded::Guarded {
                mode: "enforce".into(),
                objective: "p95=250ms".into(),
                ..Default::default()
            });
        }
        let c = curve(&points, None, &probe(40.0));
        let because = c.load_line.as_ref().and_then(|l| l.because);
        assert_eq!(because, Some(Judgement::Refused));
        let v = verdict(1, &points, &c, None);
        assert_eq!(v.limit, Limit::Cpu);
        let said = "; beyond it the guard (p95=250ms) refuses, 88% of sessions at 160: those that are let in see a p95 of at most 30 ms and 100% of them complete";
        assert!(v.text.ends_with(said), "{}", v.text);
        let far = c.far.and_then(|f| f.sessions()).expect("sessions");
        assert_eq!(far, "88% of sessions refused, 100% of the others completed");
    }

    #[test]
    fn what_the_trace_confirms_counts_before_the_cpus_that_it_burns() {
        // As found: 94% of the requests' time waited for one lock, on a CPU that was full.
        for (name, limit) in [("gc", Limit::Gc), ("lock", Limit::Lock)] {
            let v = of(&sweep(40.0), Some(&side(1.0, name)));
            assert_eq!((v.limit, v.more_cpus_help), (limit, Some(false)));
            assert!(v.text.starts_with("above the load line, "), "{}", v.text);
        }
    }

    #[test]
    fn a_load_that_always_held_reached_no_limit() {
        let light: Vec<Point> = sweep(40.0).into_iter().filter(|p| p.rate < 10.0).collect();
        assert_eq!(of(&light, None).limit, Limit::None);
    }

    #[test]
    fn two_counts_are_compared_by_their_peaks() {
        let (one, two) = (sweep(40.0), {
            let mut p = sweep(74.0);
            p.iter_mut()
                .filter_map(|p| p.cpu.as_mut())
                .for_each(|c| c.server *= 2.0);
            p
        });
        let (c1, c2) = (
            curve(&one, None, &probe(40.0)),
            curve(&two, None, &probe(74.0)),
        );
        let (v1, v2) = (verdict(1, &one, &c1, None), verdict(2, &two, &c2, None));
        let said = conclusion(&[(1, &c1, &v1), (2, &c2, &v2)]);
        assert_eq!(
            said,
            "the CPU is the limit on both: a second one brings 1.85 times."
        );
        assert!(conclusion(&[(1, &c1, &v1)]).ends_with("more CPUs would help."));
    }
}
