//! `raw/counters.jsonl`: what each thread counted between two readings, one JSON object a line. It is there only if
//! counters were asked for.
//!
//! The first line names the counters; every slice has their values in that order; the last says what a reader must know
//! of them. A recording that was cut off has no last line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a value is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Nanos,
    /// Times that something happened.
    Count,
}

/// One of the columns of a slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// In tables, JSON and CSV.
    pub name: String,
    /// For people.
    pub title: String,
    /// Of its values.
    pub unit: Unit,
}

/// What threads counted between two readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// CLOCK_MONOTONIC, nanoseconds.
    pub begin_ns: i64,
    /// Of its end.
    pub end_ns: i64,
    /// By thread id: the kernel's name and a value for each counter. Threads that counted nothing are left out.
    pub threads: BTreeMap<i32, (String, Vec<f64>)>,
    /// What the process counted beyond its living threads; 0 where the kernel does not keep it, and to be read as a sum over slices.
    pub ended: Vec<f64>,
}

/// One line: an object whose only key says what it is. (A key among others would have serde hold the values first, which
/// takes thread ids for texts.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The counters, in the order of each slice's values.
    Head {
        /// These.
        counters: Vec<Counter>,
    },
    /// A slice.
    Slice(Slice),
    /// The end.
    End {
        /// Sentences for the reader of the figures.
        notes: Vec<String>,
        /// Names of counters that never got on the processor, so that their zeros mean nothing.
        never: Vec<String>,
    },
}

/// The spool, whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counted {
    /// The counters, in the order of each slice's values; none if nothing was counted.
    pub counters: Vec<Counter>,
    /// One after another.
    pub slices: Vec<Slice>,
    /// Sentences for the reader of the figures.
    pub notes: Vec<String>,
}

impl Counted {
    /// From the spool's text; a torn last line is passed over, and so are counters that never counted.
    pub fn read(text: &str) -> Counted {
        let mut all = Counted::default();
        for line in text.lines().filter_map(|l| serde_json::from_str(l).ok()) {
            match line {
                Line::Head { counters } => all.counters = counters,
                // A slice of another width belongs to no head: nobody could say what its values are.
                Line::Slice(slice) if slice.ended.len() == all.counters.len() => {
                    all.slices.push(slice);
                }
                Line::Slice(_) => {}
                Line::End { notes, never } => {
                    all.notes = notes;
                    all.leave_out(&never);
                }
            }
        }
        all
    }

    /// Takes counters out by their names.
    pub fn leave_out(&mut self, names: &[String]) {
        let kept: Vec<bool> = self
            .counters
            .iter()
            .map(|c| !names.contains(&c.name))
            .collect();
        if kept.iter().all(|k| *k) {
            return;
        }
        let cut = |values: &mut Vec<f64>| {
            let mut at = kept.iter();
            values.retain(|_| at.next().copied().unwrap_or(true));
        };
        for slice in &mut self.slices {
            cut(&mut slice.ended);
            for (_, values) in slice.threads.values_mut() {
                cut(values);
            }
        }
        self.counters.retain(|c| !names.contains(&c.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(name: &str) -> Counter {
        Counter {
            name: name.into(),
            title: name.into(),
            unit: Unit::Count,
        }
    }

    fn spool(never: &[&str]) -> String {
        let slice = Slice {
            begin_ns: 5,
            end_ns: 9,
            threads: BTreeMap::from([(7, ("main".into(), vec![1.0, 2.0]))]),
            ended: vec![0.0, 0.5],
        };
        let lines = [
            Line::Head {
                counters: vec![counter("a"), counter("b")],
            },
            Line::Slice(slice),
            Line::End {
                notes: vec!["so".into()],
                never: never.iter().map(|n| (*n).to_owned()).collect(),
            },
        ];
        lines
            .iter()
            .map(|l| serde_json::to_string(l).expect("plain data") + "\n")
            .collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let all = Counted::read(&spool(&[]));
        assert_eq!(all.counters.len(), 2);
        assert_eq!(all.slices[0].threads[&7].1, [1.0, 2.0]);
        assert_eq!(all.notes, ["so"]);
    }

    #[test]
    fn a_counter_that_never_counted_is_no_column() {
        let all = Counted::read(&spool(&["a"]));
        assert_eq!(all.counters, [counter("b")]);
        assert_eq!(all.slices[0].threads[&7].1, [2.0]);
        assert_eq!(all.slices[0].ended, [0.5]);
    }

    #[test]
    fn a_torn_end_is_passed_over() {
        let text = spool(&[]);
        for cut in 0..text.len() {
            let all = Counted::read(&text[..cut]);
            assert!(all.slices.len() <= 1 && all.counters.len() <= 2);
        }
        assert_eq!(Counted::read(""), Counted::default());
    }
}
