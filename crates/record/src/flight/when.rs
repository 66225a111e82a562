//! Triggers: when a recording is dumped by itself.
//!
//! ```text
//! TRIGGER = MEASURE ">" VALUE [ "for" TIME ]
//! MEASURE = p50 | p90 | p95 | p99      response time of the requests that ended in a second; VALUE is a time
//!         | gc                         one pause of the collector; VALUE is a time
//!         | cpu                        of the CPUs that the process may use; VALUE is a share: 90%
//! ```
//!
//! What always holds: a trigger that has come true does so again only after it was not true in between.

use std::fmt;
use std::time::Duration;

use loadline_units::duration;

/// What is looked at, each second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// A percentile of response times.
    Percentile(u8),
    /// The longest pause of the collector.
    Gc,
    /// CPU time, as part of what the process may use.
    Cpu,
}

/// When to dump.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    /// What is looked at.
    pub measure: Measure,
    /// Seconds, or a part of 1.
    pub above: f64,
    /// For how long without a break; zero: once is enough.
    pub lasts: Duration,
    text: String,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What was measured in the last second; `None` where there was nothing to measure.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Second {
    /// Percentiles 50, 90, 95, 99 of response times, seconds.
    pub percentiles: Option<[f64; 4]>,
    /// The longest pause, seconds.
    pub pause: Option<f64>,
    /// Part of the CPUs.
    pub cpu: Option<f64>,
}

const PERCENTILES: [u8; 4] = [50, 90, 95, 99];

impl Second {
    fn of(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Percentile(p) => {
                let at = PERCENTILES.iter().position(|q| *q == p)?;
                self.percentiles.map(|values| values[at])
            }
            Measure::Gc => self.pause,
            Measure::Cpu => self.cpu,
        }
    }
}

impl Trigger {
    /// Reads one; the error names the place.
    pub fn parse(text: &str) -> Result<Trigger, String> {
        let at = |part: &str, what: String| {
            let column = part.as_ptr() as usize - text.as_ptr() as usize;
            Err(format!(
                "{what}\n  {text}\n  {:column$}^ write it like p95>250ms for 5s, gc>200ms, cpu>90% for 10s",
                ""
            ))
        };
        let Some((measure, rest)) = text.split_once('>') else {
            return at(&text[text.len()..], "there is no > in it".into());
        };
        let name = measure.trim();
        let measure = match name {
            "gc" => Measure::Gc,
            "cpu" => Measure::Cpu,
            _ => match PERCENTILES.iter().find(|p| name == format!("p{p}")) {
                Some(p) => Measure::Percentile(*p),
                None => {
                    return at(
                        measure,
                        format!("{name:?} is nothing to look at: p50, p90, p95, p99, gc or cpu"),
                    );
                }
            },
        };
        let (value, lasts) = match rest.split_once(" for ") {
            Some((value, lasts)) => (value, Some(lasts)),
            None => (rest, None),
        };
        let above = match (measure, value.trim()) {
            (Measure::Cpu, v) => match v.strip_suffix('%').and_then(|v| v.trim().parse().ok()) {
                Some(percent) if (0.0..100.0).contains(&percent) => percent / 100.0,
                _ => return at(value, format!("{v:?} is not a share from 0% to below 100%")),
            },
            (_, v) => match duration(v) {
                Some(t) => t.as_secs_f64(),
                None => return at(value, format!("{v:?} is not a time: write 250ms or 2s")),
            },
        };
        let lasts = match lasts.map(|l| (l, duration(l))) {
            None => Duration::ZERO,
            Some((_, Some(t))) if measure != Measure::Gc => t,
            Some((l, Some(_))) => {
                return at(l, "a pause is one event: gc takes no `for`".into());
            }
            Some((l, None)) => return at(l, format!("{:?} is not a time: write 5s", l.trim())),
        };
        Ok(Trigger {
            measure,
            above,
            lasts,
            text: text.trim().to_owned(),
        })
    }
}

/// A trigger, and for how long it has been true.
#[derive(Debug)]
pub struct Watched {
    trigger: Trigger,
    seconds: u32,
    told: bool,
}

impl Watched {
    /// Not true yet.
    pub fn new(trigger: Trigger) -> Watched {
        Watched {
            trigger,
            seconds: 0,
            told: false,
        }
    }

    /// Takes what the last second was like; says what came true, with the value.
    pub fn take(&mut self, second: &Second) -> Option<String> {
        let value = second
            .of(self.trigger.measure)
            .filter(|v| *v > self.trigger.above);
        let Some(value) = value else {
            (self.seconds, self.told) = (0, false);
            return None;
        };
        self.seconds += 1;
        if self.told || f64::from(self.seconds) < self.trigger.lasts.as_secs_f64() {
            return None;
        }
        self.told = true;
        let value = match self.trigger.measure {
            Measure::Cpu => format!("{:.0}%", value * 100.0),
            _ => format!("{:.0} ms", value * 1000.0),
        };
        Some(format!("{}: {value}", self.trigger))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(share: f64) -> Second {
        Second {
            cpu: Some(share),
            ..Second::default()
        }
    }

    #[test]
    fn triggers_are_read_as_people_write_them() {
        let t = Trigger::parse("p95>250ms for 5s").expect("fine");
        assert_eq!(
            (t.measure, t.above, t.lasts),
            (Measure::Percentile(95), 0.25, Duration::from_secs(5))
        );
        let t = Trigger::parse(" gc > 0.2s ").expect("fine");
        assert_eq!(
            (t.measure, t.above, t.lasts),
            (Measure::Gc, 0.2, Duration::ZERO)
        );
        let t = Trigger::parse("cpu>90% for 1m").expect("fine");
        assert_eq!((t.measure, t.above), (Measure::Cpu, 0.9));
    }

    #[test]
    fn an_error_points_at_what_is_wrong() {
        for (text, wrong) in [
            ("p95 250ms", ""),
            ("p42>1s", "p42"),
            ("cpu>90", "90"),
            ("cpu>100%", "100%"),
            ("p95>250", "250"),
            ("p95>250ms for ever", "ever"),
            ("gc>1s for 5s", "5s"),
        ] {
            let error = Trigger::parse(text).expect_err(text);
            let caret = error
                .lines()
                .last()
                .expect("lines")
                .find('^')
                .expect("a caret")
                - 2;
            assert!(text[caret..].trim_start().starts_with(wrong), "{error}");
        }
    }

    #[test]
    fn it_comes_true_once_it_has_lasted_and_again_after_a_break() {
        let mut w = Watched::new(Trigger::parse("cpu>90% for 3s").expect("fine"));
        let mut said = |shares: &[f64]| -> Vec<bool> {
            shares.iter().map(|s| w.take(&cpu(*s)).is_some()).collect()
        };
        assert_eq!(said(&[0.95, 0.95, 0.5, 0.95, 0.95]), [false; 5]);
        assert_eq!(said(&[0.95, 0.95, 0.95]), [true, false, false]);
        assert_eq!(said(&[0.1, 0.95, 0.95, 0.95]), [false, false, false, true]);
    }

    #[test]
    fn a_second_without_requests_is_not_slow() {
        let mut w = Watched::new(Trigger::parse("p95>1ms").expect("fine"));
        assert_eq!(w.take(&Second::default()), None);
        let slow = Second {
            percentiles: Some([0.1, 0.2, 0.3, 0.4]),
            ..Second::default()
        };
        assert_eq!(w.take(&slow).as_deref(), Some("p95>1ms: 300 ms"));
    }
}
