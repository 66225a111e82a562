//! How long a walk over routes is until it ends.

use std::collections::BTreeMap;

use super::END;

/// Of a route, how often each followed.
type Next = BTreeMap<String, BTreeMap<String, f64>>;

/// Steps after which a walk is given up: what is left of it then weighs nothing.
const MOST_STEPS: usize = 1_000_000;
/// Walks that have not ended, of one, that are given up.
const LEAST: f64 = 1e-9;

/// Routes that a walk visits on average, if from each a way leads to an end.
pub(super) fn length(start: &BTreeMap<String, f64>, next: &Next) -> f64 {
    let place: BTreeMap<&str, usize> = next.keys().map(String::as_str).zip(0..).collect();
    let steps: Vec<Vec<(usize, f64)>> = next
        .values()
        .map(|row| {
            let sum: f64 = row.values().sum();
            row.iter()
                .filter_map(|(to, n)| Some((*place.get(to.as_str())?, n / sum)))
                .collect()
        })
        .collect();
    let begins: f64 = start.values().sum();
    let mut at = vec![0.0; steps.len()];
    for (route, n) in start {
        if let Some(&i) = place.get(route.as_str()) {
            at[i] += n / begins;
        }
    }
    let mut length = 0.0;
    for _ in 0..MOST_STEPS {
        let there: f64 = at.iter().sum();
        if there < LEAST {
            break;
        }
        length += there;
        let mut then = vec![0.0; at.len()];
        for (from, share) in at.iter().enumerate() {
            for &(to, p) in &steps[from] {
                then[to] += share * p;
            }
        }
        at = then;
    }
    length.max(1.0)
}

/// Weighs ends so that over all routes there are `odds` of them per step that goes on; between routes they stand as they were seen.
pub(super) fn end_as_often_as(next: &mut Next, odds: f64) {
    let all: f64 = next.values().flat_map(BTreeMap::values).sum();
    let ends: f64 = next.values().filter_map(|row| row.get(END)).sum();
    let oftener = odds * (all - ends) / ends;
    if oftener.is_finite() && oftener > 0.0 {
        for row in next.values_mut() {
            if let Some(n) = row.get_mut(END) {
                *n *= oftener;
            }
        }
    }
}

/// Gives an end to routes from which none was seen to lead to one: there walks end as often as anywhere.
pub(super) fn give_ends(next: &mut Next) {
    let all = |next: &Next, end: bool| -> f64 {
        let of = next.values().flatten().filter(|(to, _)| !end || *to == END);
        of.map(|(_, n)| n).sum()
    };
    let ends = all(next, true) / all(next, false);
    loop {
        let lead: Vec<String> = leading_to_end(next);
        let Some(row) = next.iter_mut().find(|(route, _)| !lead.contains(route)) else {
            return;
        };
        let seen: f64 = row.1.values().sum();
        // Of n that go on, n · p / (1 - p) end.
        let more = if seen > 0.0 {
            seen * ends / (1.0 - ends).max(LEAST)
        } else {
            1.0
        };
        row.1.insert(END.to_owned(), more);
    }
}

/// Routes from which a way leads to an end.
fn leading_to_end(next: &Next) -> Vec<String> {
    let mut lead: Vec<String> = Vec::new();
    loop {
        let leads = |(route, row): &(&String, &BTreeMap<String, f64>)| {
            !lead.contains(route) && row.keys().any(|to| to == END || lead.contains(to))
        };
        let more: Vec<String> = next
            .iter()
            .filter(leads)
            .map(|(route, _)| route.clone())
            .collect();
        if more.is_empty() {
            return lead;
        }
        lead.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(rows: &[(&str, &[(&str, f64)])]) -> Next {
        let row = |of: &[(&str, f64)]| of.iter().map(|(to, n)| ((*to).to_owned(), *n)).collect();
        rows.iter()
            .map(|(route, of)| ((*route).to_owned(), row(of)))
            .collect()
    }

    fn from(route: &str) -> BTreeMap<String, f64> {
        [(route.to_owned(), 3.0)].into()
    }

    #[test]
    fn a_walk_that_goes_on_with_p_visits_one_in_one_less_p() {
        let next = chain(&[("a", &[("b", 1.0)]), ("b", &[("b", 9.0), (END, 1.0)])]);
        assert!((length(&from("a"), &next) - 11.0).abs() < 1e-6);
    }

    #[test]
    fn where_no_end_was_seen_walks_end_as_often_as_elsewhere() {
        // Of 20 steps 4 ended; from c, of which the recording saw nothing more, each does.
        let mut next = chain(&[
            ("a", &[("a", 8.0), (END, 4.0)]),
            ("b", &[("b", 8.0)]),
            ("c", &[]),
        ]);
        give_ends(&mut next);
        assert!((length(&from("b"), &next) - 5.0).abs() < 1e-6);
        assert_eq!(length(&from("c"), &next), 1.0);
        assert!((length(&from("a"), &next) - 3.0).abs() < 1e-6);
    }
}
