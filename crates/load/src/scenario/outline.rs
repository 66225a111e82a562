//! What a scenario's walks come to: how often each page follows each, for who models visitors and does not send requests.
//!
//! `back` leads to the page before, so that a walk is no Markov chain; the outline is the chain of first order with the
//! same visits to each page, counted over walks.

use super::{Scenario, Walk};
use loadline_stats::SplitMix64;

/// A walk that never ends would be counted for ever.
const MOST_CLICKS: usize = 100_000;

/// A kind of page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlinePage {
    /// Its interaction's name.
    pub name: String,
    /// How it is asked for.
    pub method: String,
    /// One path of it, with whatever was drawn into its placeholders.
    pub path: String,
}

/// How often each page follows each.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// The pages, in the order of the scenario.
    pub pages: Vec<OutlinePage>,
    /// The page that sessions begin with.
    pub start: usize,
    /// After each page: how often each of the others followed, and last, how often the session ended.
    pub next: Vec<Vec<u64>>,
    /// Clicks of a session, on average.
    pub clicks: f64,
}

impl Scenario {
    /// Counts `sessions` walks. `None` for a log that is replayed: it has no walk.
    pub fn outline(&self, sessions: u64, seed: u64) -> Option<Outline> {
        if self.replay.is_some() {
            return None;
        }
        let n = self.interactions.len();
        let mut pages: Vec<Option<OutlinePage>> = vec![None; n];
        let mut next = vec![vec![0; n + 1]; n];
        let mut clicks = 0u64;
        for session in 0..sessions {
            let mut walk = Walk::new(self, SplitMix64::new(seed, session, 0));
            let mut last = None;
            for _ in 0..MOST_CLICKS {
                let Some(step) = walk.step(&[]) else { break };
                let i = step.interaction;
                pages[i].get_or_insert_with(|| OutlinePage {
                    name: self.interactions[i].name.clone(),
                    method: step.request.method.to_string(),
                    path: step.request.path.clone(),
                });
                if let Some(last) = last {
                    next[last as usize][i] += 1;
                }
                last = Some(i as u32);
                clicks += 1;
            }
            if let Some(last) = last {
                next[last as usize][n] += 1;
            }
        }
        // A page that no walk came to has no path, and nothing needs one.
        let pages = pages.into_iter().enumerate().map(|(i, page)| {
            page.unwrap_or_else(|| OutlinePage {
                name: self.interactions[i].name.clone(),
                method: "GET".into(),
                path: String::new(),
            })
        });
        Some(Outline {
            pages: pages.collect(),
            start: self.start,
            next,
            clicks: clicks as f64 / sessions.max(1) as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a goes on to b in three of four cases, b always goes back to a: 4 visits of a and 3 of b each session.
    #[test]
    fn going_back_is_counted_as_the_page_that_it_leads_to() {
        let text = r#"
            name = "t"
            start = "a"
            [[interaction]]
            name = "a"
            path = "/a"
            next = { b = 3.0, end = 1.0 }
            [[interaction]]
            name = "b"
            path = "/b?{id}"
            next = { back = 1.0 }
            [ranges]
            id = [7, 7]
        "#;
        let outline = Scenario::from_toml(text, "t")
            .expect("valid")
            .outline(4000, 1)
            .expect("walks");
        assert_eq!((outline.start, outline.pages[1].path.as_str()), (0, "/b?7"));
        assert!((outline.clicks - 7.0).abs() < 0.3, "{}", outline.clicks);
        let (b, end) = (outline.next[0][1] as f64, outline.next[0][2] as f64);
        assert_eq!(end, 4000.0);
        assert!((b / end - 3.0).abs() < 0.15, "{b} of {end}");
        assert_eq!(outline.next[1], [b as u64, 0, 0]);
    }

    #[test]
    fn every_built_in_scenario_has_an_outline_whose_walks_end() {
        for name in Scenario::builtin_names() {
            let scenario = Scenario::builtin(name).expect("it is built in");
            let outline = scenario.outline(200, 1).expect("none replays a log");
            let ends: u64 = outline.next.iter().filter_map(|n| n.last()).sum();
            assert_eq!(ends, 200, "{name}");
            assert!(outline.clicks >= 1.0, "{name}");
        }
    }
}
