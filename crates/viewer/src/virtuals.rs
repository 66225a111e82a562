//! Virtual threads as few lanes: those of one name, but for its number, share lanes, on each of which
//! one follows another.
//!
//! What always holds: on one lane no two live at the same time; there are as many lanes as threads of a
//! name lived at once, and no more.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// A virtual thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Virtual {
    /// `threads.id`.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
}

/// A name without the number that it ends in.
pub fn group(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Lanes of virtual threads, each with its threads by begin: first those of one name, then the next.
pub fn lanes(mut threads: Vec<Virtual>) -> Vec<Vec<Virtual>> {
    #[derive(Default)]
    struct Group {
        lanes: Vec<Vec<Virtual>>,
        /// Lanes whose last thread lives, by its end.
        taken: BinaryHeap<Reverse<(i64, usize)>>,
        free: BTreeSet<usize>,
    }
    threads.sort_by_key(|t| (t.begin, t.end, t.id));
    let mut names: Vec<String> = Vec::new();
    let mut groups: HashMap<String, Group> = HashMap::new();
    for t in threads {
        let name = group(&t.name);
        if !groups.contains_key(name) {
            names.push(name.into());
        }
        let group = groups.entry(name.into()).or_default();
        while let Some(Reverse((end, lane))) = group.taken.peek().copied()
            && end <= t.begin
        {
            group.taken.pop();
            group.free.insert(lane);
        }
        let lane = group.free.pop_first().unwrap_or_else(|| {
            group.lanes.push(Vec::new());
            group.lanes.len() - 1
        });
        group.taken.push(Reverse((t.end, lane)));
        group.lanes[lane].push(t);
    }
    names
        .into_iter()
        .filter_map(|name| groups.remove(&name))
        .flat_map(|g| g.lanes)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(id: i64, name: &str, begin: i64, end: i64) -> Virtual {
        Virtual {
            id,
            name: name.into(),
            begin,
            end,
        }
    }

    #[test]
    fn handlers_share_as_many_lanes_as_lived_at_once_and_other_names_have_their_own() {
        let lanes = lanes(vec![
            thread(1, "handler-1", 0, 10),
            thread(2, "handler-2", 5, 20),
            thread(3, "handler-3", 10, 30),
            thread(4, "handler-4", 21, 25),
            thread(5, "mail-1", 0, 100),
            thread(6, "handler-6", 40, 50),
        ]);
        let ids: Vec<Vec<i64>> = lanes
            .iter()
            .map(|l| l.iter().map(|t| t.id).collect())
            .collect();
        assert_eq!(ids, [vec![1, 3, 6], vec![2, 4], vec![5]]);
    }
}
