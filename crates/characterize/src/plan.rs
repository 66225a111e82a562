//! Which points are measured, and how long all of it takes.

use serde::{Deserialize, Serialize};

use crate::words::{about, seconds};

/// The lightest load, as a multiple of the saturation.
pub const LIGHTEST: f64 = 0.1;

/// What the user asked for, as far as it decides which figures come out. A folder that was made
/// with other parameters is not continued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The command that starts the server, or its URL; of a closed program without a server of its own, the driver.
    pub server: String,
    /// A closed program that its own driver loads, in place of visitors.
    #[serde(default)]
    pub units: Option<Units>,
    /// CPU counts; empty: as it is.
    pub cpus: Vec<u32>,
    /// Name or file of the scenario.
    pub scenario: String,
    /// Text of the scenario's file.
    pub scenario_text: Option<String>,
    /// Points of the sweep, per CPU count.
    pub points: u32,
    /// Points in search of the load line, per CPU count.
    pub search: u32,
    /// Repetitions of each of the two points around the load line, while they are in doubt.
    pub repeat: u32,
    /// The heaviest load, as a multiple of the saturation.
    pub to: f64,
    /// Length of a point.
    pub duration_s: f64,
    /// Time before each point, in which nothing counts.
    pub warmup_s: f64,
    /// The objective as given.
    pub objective: Option<String>,
    /// Client timeout as given.
    pub timeout_s: Option<f64>,
    /// Mean think time as given.
    pub think_s: Option<f64>,
    /// Seed of the visitors.
    pub seed: u64,
    /// Length of each recording; 0 records nothing.
    pub trace_s: f64,
}

/// A closed program: a driver is run with each load, and what the program does meanwhile is counted by its spans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// The driver's command: `{load}` in it is the load, `{port}` the port on which the started server listens.
    pub command: String,
    /// Loads of the sweep: connections, rooms, warehouses; ascending.
    pub loads: Vec<u32>,
    /// Names of the spans that are units of work; empty: requests, else the most frequent span.
    pub names: Vec<String>,
}

impl Units {
    /// What a driver's command must have.
    pub const LOAD: &str = "{load}";
    /// What it may have.
    pub const PORT: &str = "{port}";

    /// What the load is counted in: `rooms` of `--rooms {load}`, else `load`.
    pub fn load_name(&self) -> String {
        let before = self.command.split(Self::LOAD).next().unwrap_or_default();
        let option = before.trim_end_matches(['=', ' ', '\'', '"']);
        let name = option.rsplit([' ', '\'', '"']).next().unwrap_or_default();
        match name.strip_prefix('-').map(|n| n.trim_start_matches('-')) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => "load".into(),
        }
    }
}

/// Starting the server and asking until it answers, as a guess.
const START_S: f64 = 5.0;
/// Between two points: the generator's start and the settling of the server.
const BETWEEN_S: f64 = 0.7;
/// Attaching, and making tables of what was recorded.
const AROUND_A_TRACE_S: f64 = 6.0;
/// The JIT compiles again what probes have changed.
const SETTLING_S: f64 = 5.0;
/// The JIT compiles what the load needs, and the probe itself.
const PROBE_S: f64 = 4.0;

impl Parameters {
    /// What the load is counted in.
    pub fn load_unit(&self) -> String {
        self.units
            .as_ref()
            .map_or("sessions/s".into(), Units::load_name)
    }

    /// What is done, per second.
    pub fn work_unit(&self) -> &'static str {
        match self.units {
            Some(_) => "units/s",
            None => "requests/s",
        }
    }

    /// Loads of the sweep. `saturation` is the probe's, of an HTTP server.
    pub fn sweep(&self, saturation: f64) -> Vec<f64> {
        match &self.units {
            Some(units) => units.loads.iter().map(|n| f64::from(*n)).collect(),
            None => rates(saturation, self.points, self.to),
        }
    }

    /// The heaviest load of a closed program.
    pub fn heaviest(&self) -> Option<f64> {
        let last = self.units.as_ref()?.loads.last()?;
        Some(f64::from(*last))
    }

    /// How many CPU counts.
    pub fn counts(&self) -> usize {
        self.cpus.len().max(1)
    }

    /// Length of the warm-up of a fresh server, before the probe.
    pub fn first_warmup_s(&self) -> f64 {
        self.warmup_s.max(0.5 * self.duration_s)
    }

    /// Length of the probe.
    pub fn probe_s(&self) -> f64 {
        PROBE_S.min(self.duration_s.max(1.0))
    }

    /// One point with its warm-up.
    pub fn point_s(&self) -> f64 {
        self.warmup_s + self.duration_s + BETWEEN_S
    }

    /// The first part of a recording, which does not count.
    pub fn skipped_s(&self) -> f64 {
        self.trace_s.min(SETTLING_S)
    }

    /// One recording with its warm-up.
    pub fn traced_s(&self) -> f64 {
        self.warmup_s + self.skipped_s() + self.trace_s + AROUND_A_TRACE_S
    }

    /// Starting, warming up, and probing, once per CPU count.
    pub fn prelude_s(&self) -> f64 {
        START_S + self.first_warmup_s() + self.probe_s()
    }

    /// All of it, for one CPU count.
    pub fn count_s(&self) -> f64 {
        let traces = if self.trace_s > 0.0 { 2.0 } else { 0.0 };
        self.prelude_s()
            + f64::from(self.points + self.search + self.repeat) * self.point_s()
            + traces * self.traced_s()
    }

    /// `about 34 min: 2 × 11 points of 60 s after 10 s of warm-up, then 2 × 4 around the load line, …`
    pub fn announce(&self, points_done: usize) -> String {
        let n = self.counts();
        let all = n as f64 * self.count_s();
        let left = (all - points_done as f64 * self.point_s()).max(self.point_s());
        let times = |k: u32| {
            if n == 1 {
                k.to_string()
            } else {
                format!("{n} × {k}")
            }
        };
        let mut text = format!(
            "{}: {} points of {}",
            about(left),
            times(self.points),
            seconds(self.duration_s)
        );
        if self.warmup_s > 0.0 {
            text += &format!(" after {} of warm-up", seconds(self.warmup_s));
        }
        if self.search > 0 {
            text += &format!(", then {} around the load line", times(self.search));
        }
        if self.trace_s > 0.0 {
            text += &format!(", {} traces", times(2));
        }
        if points_done > 0 {
            let (s, are) = if points_done == 1 {
                ("", "is")
            } else {
                ("s", "are")
            };
            text += &format!("; {points_done} point{s} {are} done already");
        }
        text
    }
}

/// `points` offered loads from light to `to` times the saturation, each the same factor above the
/// one before. Rounded to three digits, so that a file's name tells one exactly.
pub fn rates(saturation: f64, points: u32, to: f64) -> Vec<f64> {
    let factor = factor(points, to);
    let mut out: Vec<f64> = (0..points)
        .map(|i| round(saturation * LIGHTEST * factor.powi(i as i32)))
        .collect();
    out.dedup();
    out
}

/// From one point of the sweep to the next.
pub fn factor(points: u32, to: f64) -> f64 {
    let steps = points.saturating_sub(1).max(1);
    (to / LIGHTEST).powf(1.0 / f64::from(steps))
}

/// To three significant digits, and at least the least rate that the generator takes.
pub fn round(rate: f64) -> f64 {
    const LEAST: f64 = 0.001;
    if rate.is_nan() || rate <= LEAST {
        return LEAST;
    }
    let scale = 10f64.powf(2.0 - rate.log10().floor());
    (rate * scale).round() / scale
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parameters of a small characterization.
    pub fn parameters() -> Parameters {
        Parameters {
            server: "java -jar shop.jar".into(),
            units: None,
            cpus: vec![1, 2],
            scenario: "browsing".into(),
            scenario_text: None,
            points: 11,
            search: 4,
            repeat: 0,
            to: 4.0,
            duration_s: 60.0,
            warmup_s: 10.0,
            objective: None,
            timeout_s: None,
            think_s: None,
            seed: 1,
            trace_s: 0.0,
        }
    }

    #[test]
    fn the_plan_says_how_long_it_takes_and_why() {
        assert_eq!(
            parameters().announce(0),
            "about 37 min: 2 × 11 points of 60 s after 10 s of warm-up, then 2 × 4 around the load line"
        );
        let half_done = parameters().announce(15);
        assert!(
            half_done.starts_with("about 19 min")
                && half_done.ends_with("15 points are done already"),
            "{half_done}"
        );
    }

    #[test]
    fn the_load_is_named_after_the_option_that_takes_it() {
        for (command, name) in [
            (
                "java -jar chat.jar client --port 7 --rooms {load} --users 20",
                "rooms",
            ),
            ("java -jar wholesale.jar --warehouses={load}", "warehouses"),
            ("drive '-n' {load}", "n"),
            ("drive {load}", "load"),
            ("{load}", "load"),
        ] {
            let units = Units {
                command: command.into(),
                loads: vec![1],
                names: Vec::new(),
            };
            assert_eq!(units.load_name(), name, "{command}");
        }
    }

    #[test]
    fn rates_go_from_a_tenth_of_the_saturation_to_four_times() {
        let r = rates(50.0, 11, 4.0);
        assert_eq!((r.len(), r[0], r[10]), (11, 5.0, 200.0));
    }

    proptest! {
        #[test]
        fn rates_rise_and_stay_in_their_range(saturation in 0.05f64..1e5, points in 2u32..40, to in 1.0f64..10.0) {
            let r = rates(saturation, points, to);
            prop_assert!(r.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(r[0] > 0.0 && r[r.len() - 1] <= saturation * to * 1.01);
        }

        #[test]
        fn rounding_moves_a_rate_by_half_a_percent_at_most(rate in 0.001f64..1e6) {
            prop_assert!((round(rate) / rate - 1.0).abs() <= 0.005);
        }
    }
}
