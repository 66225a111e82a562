//! What follows an event, of several things that may, where some of it lies beyond the end of the observation.
//!
//! To count what was seen to follow favours what follows sooner. So each event is at risk until its observation ends: of those that
//! were still at risk at a time, some part met each thing then. That is the cumulative incidence of competing risks (Aalen, 1978;
//! Kalbfleisch and Prentice, 1980).

/// An event: what followed (less than `N`) and after how long, or `None` if its observation ended after that time.
pub type Followed = (f64, Option<usize>);

/// The share of events that each thing follows in the end; 0 each if nothing was seen. What was still at risk at the last thing
/// that was seen is taken to be divided as the rest is.
pub fn shares<const N: usize>(mut events: Vec<Followed>) -> [f64; N] {
    // Who is not observed any longer was at risk until then, and with it.
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.is_some().cmp(&a.1.is_some())));
    let mut incidence = [0.0; N];
    let mut left = 1.0;
    for (at, (_, what)) in events.iter().enumerate() {
        if let Some(what) = *what {
            let met = left / (events.len() - at) as f64;
            incidence[what] += met;
            left -= met;
        }
    }
    let seen: f64 = incidence.iter().sum();
    incidence.map(|share| if seen > 0.0 { share / seen } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    #[test]
    fn where_all_was_seen_they_are_the_counts() {
        let events = vec![
            (1.0, Some(0)),
            (2.0, Some(1)),
            (2.0, Some(0)),
            (9.0, Some(0)),
        ];
        let [a, b] = shares(events);
        assert!((a - 0.75).abs() < 1e-12 && (b - 0.25).abs() < 1e-12);
    }

    #[test]
    fn who_was_cut_would_have_met_what_the_others_did_later() {
        // Of four one ends at once. Of three that go on later one is cut before.
        let [ends, goes_on] = shares(vec![
            (0.0, Some(0)),
            (1.0, None),
            (2.0, Some(1)),
            (3.0, Some(1)),
        ]);
        assert!((ends - 0.25).abs() < 1e-12 && (goes_on - 0.75).abs() < 1e-12);
        assert_eq!(shares::<2>(vec![(1.0, None)]), [0.0, 0.0]);
    }

    #[test]
    fn an_end_that_comes_at_once_is_no_likelier_for_a_short_observation() {
        // A tenth ends at once; the others go on after a second or so, and each is observed for up to 1.5 s.
        let mut stream = Stream::new(7, "incidence");
        let events = (0..20_000).map(|_| {
            let (ends, until) = (stream.uniform() < 0.1, 1.5 * stream.uniform());
            let after = if ends { 0.0 } else { -stream.uniform().ln() };
            if after <= until {
                (after, Some(usize::from(!ends)))
            } else {
                (until, None)
            }
        });
        let events: Vec<Followed> = events.collect();
        let counted = |what| events.iter().filter(|e| e.1 == Some(what)).count() as f64;
        let naive = counted(0) / (counted(0) + counted(1));
        let [ends, _] = shares(events.clone());
        assert!(naive > 0.15 && ends < 0.135, "{naive} {ends}");
    }
}
