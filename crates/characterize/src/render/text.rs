//! The summary for the terminal: a line per CPU count, and the sentence that it comes to.

use crate::curve::{Curve, LoadLine, Spot};
use crate::measured::Point;
use crate::plan::Parameters;
use crate::result::{Count, Result};
use crate::search::Judgement;
use crate::words::{cpus, figure, ms, percent};

/// Lines for people, each indented by two.
pub fn summary(result: &Result) -> String {
    let mut out = String::new();
    if result.partial {
        out += "  partial: not everything that was planned is done; the same command goes on\n";
    }
    for count in &result.counts {
        out += &line(count, &result.parameters);
        for note in &count.notes {
            out += &format!("          note: {note}\n");
        }
    }
    out += &format!("  {}\n", result.conclusion);
    out
}

fn line(count: &Count, p: &Parameters) -> String {
    let name = if count.cpus == 0 {
        "as it is".into()
    } else {
        cpus(count.cpus)
    };
    let Some(curve) = count.curve.as_ref().filter(|_| !count.points.is_empty()) else {
        return format!("  {name:6}  nothing measured yet\n");
    };
    let mut parts = vec![sparkline(&count.points), load_line(curve, p)];
    if let Some(peak) = curve.peak {
        parts.push(format!("peak {} {}", peak_figure(peak), p.work_unit()));
    }
    if let Some(level) = curve.levels_off {
        parts.push(format!(
            "levels off at {} {}",
            figure(level.sessions_per_s),
            p.load_unit()
        ));
    }
    if let Some(far) = curve.far.filter(|f| f.multiple > 1.5) {
        let sessions = far.sessions().map(|said| format!(", {said}"));
        parts.push(format!(
            "at {}x: {} of it{}{}",
            far_multiple(far.multiple),
            percent(far.of_peak),
            sessions.unwrap_or_default(),
            if far.generator {
                " (the generator's limit)"
            } else {
                ""
            }
        ));
    }
    format!("  {name:6}  {}\n", parts.join("   "))
}

/// A multiple to one digit: `4x`, `3.7x` without the x.
pub fn far_multiple(multiple: f64) -> String {
    figure((10.0 * multiple).round() / 10.0)
}

/// `352`, or `at least 352`.
pub fn peak_figure(peak: Spot) -> String {
    let at_least = if peak.at_least { "at least " } else { "" };
    format!("{at_least}{}", figure(peak.replies_per_s))
}

/// `load line 41 sessions/s (p95 88 ms)`, or what is known instead.
pub fn load_line(curve: &Curve, p: &Parameters) -> String {
    let unit = p.load_unit();
    match &curve.load_line {
        Some(l) => {
            let at_least = match l.because {
                Some(Judgement::Generator) | None => "at least ",
                _ => "",
            };
            format!(
                "load line {at_least}{} {unit}{} (p95 {})",
                figure(l.sessions_per_s),
                interval(l),
                ms(l.p95_ms)
            )
        }
        None => match curve.judged.first() {
            Some(lightest) => format!(
                "load line below {} {unit} ({})",
                figure(lightest.rate),
                lightest.how.words()
            ),
            None => "load line unknown".into(),
        },
    }
}

/// `, 38 to 44` as far as it is known.
pub fn interval(l: &LoadLine) -> String {
    match (l.low, l.high) {
        (Some(low), Some(high)) => format!(", surely {} to {}", figure(low), figure(high)),
        (Some(low), None) => format!(", surely {} or more", figure(low)),
        (None, Some(high)) => format!(", surely below {}", figure(high)),
        (None, None) => String::new(),
    }
}

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Goodput of the sweep's points as a row of bars, by offered load.
pub fn sparkline(points: &[Point]) -> String {
    let mut sweep: Vec<&Point> = points.iter().filter(|p| !p.search).collect();
    sweep.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let top = sweep
        .iter()
        .map(|p| p.load.replies_per_s)
        .fold(0.0, f64::max);
    let level = |p: &&Point| {
        let share = if top > 0.0 {
            p.load.replies_per_s / top
        } else {
            0.0
        };
        LEVELS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
    };
    sweep.iter().map(level).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::curve::curve;
    use crate::curve::tests::{point, probe, sweep};
    use crate::plan::tests::parameters;
    use crate::result::{FORMAT, Layout, Machine, conclude};
    use crate::traced::tests::side;
    use crate::verdict::verdict;

    /// A complete result of two CPU counts.
    pub fn result() -> Result {
        let count = |n: u32, capacity: f64| {
            let mut points = sweep(capacity);
            points.push(Point {
                search: true,
                ..point(0.7 * capacity, capacity)
            });
            for p in points.iter_mut() {
                p.cpus = n;
                p.cpu.iter_mut().for_each(|c| c.server *= f64::from(n));
            }
            let curve = curve(&points, None, &probe(capacity));
            let above = side(90.0, "cpu");
            Count {
                cpus: n,
                layout: Layout {
                    server: (0..n as usize).collect(),
                    generator: vec![n as usize],
                    shared: false,
                },
                probe: Some(probe(capacity)),
                verdict: Some(verdict(n, &points, &curve, Some(&above))),
                points,
                curve: Some(curve),
                below: Some(side(1.0, "none")),
                above: Some(above),
                notes: vec!["a <note> & more".into()],
            }
        };
        let counts = vec![count(1, 40.0), count(2, 74.0)];
        Result {
            format: FORMAT,
            partial: false,
            failure: None,
            parameters: parameters(),
            machine: Machine::default(),
            date: "2026-11-21 10:00 UTC".into(),
            conclusion: conclude(&counts),
            counts,
        }
    }

    #[test]
    fn the_summary_has_a_line_per_cpu_count_and_a_conclusion() {
        let text = summary(&result());
        assert!(text.contains("  1 CPU   ▁"), "{text}");
        assert!(text.contains("  2 CPUs  ▁"), "{text}");
        for part in [
            "load line 28 sessions/s (p95",
            "requests/s   at 4.4x: 55% of it, 12% of sessions",
            "a second one brings 1.8",
        ] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
        assert!(!text.contains("partial"));
    }

    #[test]
    fn a_partial_result_says_so_first() {
        let mut partial = Result {
            partial: true,
            ..result()
        };
        partial.counts[1].points.clear();
        let text = summary(&partial);
        assert!(text.trim_start().starts_with("partial"), "{text}");
        assert!(text.contains("2 CPUs  nothing measured yet"), "{text}");
    }

    #[test]
    fn a_sparkline_rises_to_the_peak_and_falls() {
        let line = sparkline(&sweep(40.0));
        assert_eq!(line.chars().count(), 11);
        let high = line.chars().position(|c| c == '█').expect("a peak");
        assert!((5..9).contains(&high), "{line}");
        assert_eq!(sparkline(&[]), "");
    }
}
