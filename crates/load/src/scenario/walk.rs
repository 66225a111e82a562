//! The Markov chain: one visitor's walk through a scenario, without I/O.

use super::template::{draw, encode_form};
use super::{Next, Scenario, links};
use crate::html;
use loadline_stats::{Random, SplitMix64};
use std::borrow::Cow;

/// How many pages a visitor can go back.
const MAX_HISTORY: usize = 50;

/// One click: which interaction, and what is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) interaction: usize,
    pub(crate) request: Ask,
}

/// A request as far as the visitor decides it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) method: Cow<'static, str>,
    pub(crate) path: String,
    /// A form, encoded.
    pub(crate) body: Option<Vec<u8>>,
}

impl Ask {
    pub(crate) fn get(path: String) -> Ask {
        Ask {
            method: Cow::Borrowed("GET"),
            path,
            body: None,
        }
    }
}

/// Where a visitor is and has been.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    scenario: &'a Scenario,
    rng: SplitMix64,
    /// The page being looked at is the last.
    history: Vec<Step>,
    /// The session's values, in the order of `Scenario::held`.
    held: Vec<String>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(scenario: &'a Scenario, mut rng: SplitMix64) -> Walk<'a> {
        let held = scenario
            .held
            .iter()
            .map(|(_, (first, last))| draw(&mut rng, *first, *last).to_string())
            .collect();
        Walk {
            scenario,
            rng,
            history: Vec::new(),
            held,
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

    /// The page has come, after redirects from `path`: its values are taken, and going back to it
    /// later asks for the page, and does not send the form again.
    pub(crate) fn arrived(&mut self, path: &str, page: &[u8]) {
        let Some(step) = self.history.last_mut() else {
            return;
        };
        if step.request.path != path || step.request.body.is_some() {
            step.request = Ask::get(path.to_owned());
        }
        for (held, text) in &self.scenario.interactions[step.interaction].take {
            let in_path = html::values_after(path.as_bytes(), text.as_bytes());
            let value = match in_path.first() {
                Some(value) => value,
                None => {
                    let found = html::values_after(page, text.as_bytes());
                    if found.is_empty() {
                        continue;
                    }
                    found[self.rng.below(found.len() as u64) as usize]
                }
            };
            self.held[*held].clear();
            self.held[*held].push_str(value);
        }
    }

    fn choose(&mut self, from: usize) -> Next {
        let at = self.rng.uniform();
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
            .and_then(|prefix| links::pick_link(page, prefix, &mut self.rng));
        let path = link.unwrap_or_else(|| kind.path.fill(&mut self.rng, &self.held));
        let body = (!kind.form.is_empty()).then(|| {
            let (rng, held) = (&mut self.rng, &self.held);
            encode_form(
                kind.form
                    .iter()
                    .map(|(k, v)| (k.as_str(), v.fill(rng, held))),
            )
        });
        let method = if body.is_some() { "POST" } else { "GET" };
        let step = Step {
            interaction,
            request: Ask {
                method: Cow::Borrowed(method),
                path,
                body,
            },
        };
        if self.history.len() == MAX_HISTORY {
            self.history.remove(0);
        }
        self.history.push(step.clone());
        step
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
        let mut walk = Walk::new(scenario, SplitMix64::new(1, session, 0));
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
            let mut walk = Walk::new(&scenario, SplitMix64::new(1, session, 0));
            walk.step(b"");
            if let Some(step) = walk.step(b"<a href=\"/b?x77\">") {
                assert_eq!(step.request.path, "/b?x77");
                followed += 1;
            }
        }
        assert!(followed > 5);
    }

    #[test]
    fn a_page_without_its_marker_is_wrong() {
        let scenario = Scenario::from_toml(CHAIN, "t").expect("valid");
        assert!(scenario.is_right(0, b"xxAxx"));
        assert!(!scenario.is_right(1, b"xxAxx"));
    }

    const FORMS: &str = r#"
        name = "t"
        start = "item"
        [session]
        id = [3, 3]
        [[interaction]]
        name = "item"
        path = "/item?id={id}"
        take = { id = "buy?id=" }
        next = { buy = 1 }
        [[interaction]]
        name = "buy"
        path = "/buy"
        form = { item = "{id}", text = "good & cheap" }
        next = { back = 1 }
    "#;

    #[test]
    fn a_form_carries_what_the_page_said_and_going_back_does_not_send_it_again() {
        let scenario = Scenario::from_toml(FORMS, "t").expect("valid");
        let mut walk = Walk::new(&scenario, SplitMix64::new(1, 1, 0));
        let first = walk.step(b"").expect("a page");
        assert_eq!(first.request, Ask::get("/item?id=3".into()));
        walk.arrived("/item?id=3", b"<a href=/buy?id=88>");
        let form = walk.step(b"").expect("a form").request;
        assert_eq!((&*form.method, form.path.as_str()), ("POST", "/buy"));
        assert_eq!(
            form.body.as_deref(),
            Some(&b"item=88&text=good+%26+cheap"[..])
        );
        walk.arrived("/buy/done", b"");
        assert_eq!(walk.history[1].request, Ask::get("/buy/done".into()));
        assert_eq!(walk.step(b"").expect("back").request.path, "/item?id=3");
    }
}
