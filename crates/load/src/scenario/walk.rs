//! The Markov chain: one visitor's walk through a scenario, without I/O.

use super::{Next, Scenario, path};
use crate::rng::Rng;

/// How many pages a visitor can go back.
const MAX_HISTORY: usize = 50;

/// One click: which interaction, and its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) interaction: usize,
    pub(crate) path: String,
}

/// Where a visitor is and has been.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    scenario: &'a Scenario,
    rng: Rng,
    /// The page being looked at is the last.
    history: Vec<Step>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(scenario: &'a Scenario, rng: Rng) -> Walk<'a> {
        Walk {
            scenario,
            rng,
            history: Vec::new(),
        }
    }

    /// The next click, given the page just seen; none when the session ends.
    pub(crate) fn step(&mut self, page: &[u8]) -> Option<Step> {
        let next = match self.history.last() {
            None => Next::Interaction(self.scenario.start),
            Some(step) => self.choose(step.interaction),
        };
        match next {
            Next::End => None,
            Next::Interaction(interaction) => Some(self.go(interaction, page)),
            Next::Back => {
                self.history.pop();
                // Nothing to go back to: whoever leaves the first page by "back" leaves the site.
                self.history.last().cloned()
            }
        }
    }

    fn choose(&mut self, from: usize) -> Next {
        let at = self.rng.unit();
        let edges = &self.scenario.interactions[from].next;
        edges
            .iter()
            .find(|(up_to, _)| at < *up_to)
            .map_or(Next::End, |(_, next)| *next)
    }

    fn go(&mut self, interaction: usize, page: &[u8]) -> Step {
        let kind = &self.scenario.interactions[interaction];
        let link = kind
            .follow
            .as_deref()
            .and_then(|prefix| path::pick_link(page, prefix, &mut self.rng));
        let path = link.unwrap_or_else(|| kind.path.fill(&mut self.rng));
        let step = Step { interaction, path };
        if self.history.len() == MAX_HISTORY {
            self.history.remove(0);
        }
        self.history.push(step.clone());
        step
    }

    /// Whether the page is what was asked for.
    pub(crate) fn is_right(&self, interaction: usize, page: &[u8]) -> bool {
        let marker = &self.scenario.interactions[interaction].marker;
        marker.is_empty() || path::find(page, marker).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: &str = r#"
        name = "t"
        start = "a"
        [[interaction]]
        name = "a"
        path = "/a"
        marker = "A"
        next = { b = 3.0, end = 1.0 }
        [[interaction]]
        name = "b"
        path = "/b?{id}"
        marker = "B"
        follow = "/b?x"
        next = { back = 1.0 }
        [ranges]
        id = [1, 1000]
    "#;

    fn walk(scenario: &Scenario, session: u64) -> Vec<Step> {
        let mut walk = Walk::new(scenario, Rng::new(1, session, 0));
        std::iter::from_fn(|| walk.step(b"")).collect()
    }

    #[test]
    fn edges_are_taken_as_often_as_their_weight_says() {
        let scenario = Scenario::from_toml(CHAIN, "t").expect("valid");
        let (mut to_b, mut from_a) = (0.0, 0.0);
        for session in 0..5000 {
            let steps = walk(&scenario, session);
            to_b += steps.iter().filter(|s| s.interaction == 1).count() as f64;
            from_a += steps.iter().filter(|s| s.interaction == 0).count() as f64;
        }
        // 3/4 of the visits of a go on to b; 20,000 visits have a standard error of 0.003.
        assert!((to_b / from_a - 0.75).abs() < 0.012, "{}", to_b / from_a);
    }

    #[test]
    fn back_returns_to_the_same_page() {
        let scenario = Scenario::from_toml(CHAIN, "t").expect("valid");
        for steps in (0..100).map(|s| walk(&scenario, s)) {
            for (i, step) in steps.iter().enumerate() {
                // a, b, a, b, ...: b always goes back.
                assert_eq!(step.interaction, i % 2);
            }
        }
    }

    #[test]
    fn one_seed_walks_one_way() {
        let scenario = Scenario::from_toml(CHAIN, "t").expect("valid");
        assert_eq!(walk(&scenario, 3), walk(&scenario, 3));
        let all: std::collections::HashSet<_> = (0..50)
            .map(|s| format!("{:?}", walk(&scenario, s)))
            .collect();
        assert!(all.len() > 20, "{}", all.len());
    }

    #[test]
    fn a_link_of_the_page_is_followed_if_there_is_one() {
        let scenario = Scenario::from_toml(CHAIN, "t").expect("valid");
        let mut followed = 0;
        for session in 0..20 {
            let mut walk = Walk::new(&scenario, Rng::new(1, session, 0));
            walk.step(b"");
            if let Some(step) = walk.step(b"<a href=\"/b?x77\">") {
                assert_eq!(step.path, "/b?x77");
                followed += 1;
            }
        }
        assert!(followed > 5);
    }

    #[test]
    fn a_page_without_its_marker_is_wrong() {
        let scenario = Scenario::from_toml(CHAIN, "t").expect("valid");
        let walk = Walk::new(&scenario, Rng::new(1, 1, 1));
        assert!(walk.is_right(0, b"xxAxx"));
        assert!(!walk.is_right(1, b"xxAxx"));
    }
}
