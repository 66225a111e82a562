//! Units of work: what a program was asked to do and did, whatever it is. Requests of a server that Loadline knows, and
//! the spans that the application says itself through `loadline-api`.

use anyhow::Result;
use loadline_trace::Trace;

/// Units of work that ended, as a query: what each is called (`request`, or its span's name), its begin and its end.
pub const DONE: &str = "SELECT if(kind = 'request', 'request', name) AS unit, begin_ns, end_ns FROM spans \
    WHERE kind IN ('request', 'user') AND complete";

/// What is counted as a unit of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Spans of these names.
    Names(Vec<String>),
    /// Nothing, and why.
    None(String),
}

/// The units that were `asked` for (of several names any counts), or the one that suits: requests, else the most
/// frequent span of the application.
pub fn choose(trace: &Trace, asked: &[String]) -> Result<Choice> {
    let known = crate::query::run(
        trace,
        &format!(
            "SELECT unit, count(*) AS n FROM ({DONE}) GROUP BY unit ORDER BY unit = 'request' DESC, n DESC, unit"
        ),
    )?;
    let seen = known
        .rows
        .into_iter()
        .filter_map(|row| row.into_iter().next().flatten())
        .collect::<Vec<String>>();
    Ok(among(&seen, asked))
}

fn among(seen: &[String], asked: &[String]) -> Choice {
    if let Some(name) = asked.iter().find(|name| !seen.contains(name)) {
        return Choice::None(match seen.is_empty() {
            true => {
                format!("no {name} ended meanwhile, nor anything else that could be counted")
            }
            false => format!("no {name} ended meanwhile; there were {}", seen.join(", ")),
        });
    }
    match (asked.is_empty(), seen.first()) {
        (false, _) => Choice::Names(asked.to_vec()),
        (true, Some(name)) => Choice::Names(vec![name.clone()]),
        (true, None) => Choice::None(
            "no unit of work was seen: no request of a server that Loadline knows ended, and no span of loadline-api"
                .into(),
        ),
    }
}

/// A condition on [`DONE`]'s `unit`.
pub fn is_one_of(names: &[String]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("'{}'", name.replace('\'', "''")))
        .collect();
    format!("unit IN ({})", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn what_was_asked_for_counts_if_all_of_it_was_seen() {
        let seen = names(&["request", "payment", "order"]);
        let asked = names(&["order", "payment"]);
        assert_eq!(among(&seen, &asked), Choice::Names(asked.clone()));
        let Choice::None(why) = among(&seen, &names(&["order", "refund"])) else {
            panic!("a refund was counted");
        };
        assert_eq!(
            why,
            "no refund ended meanwhile; there were request, payment, order"
        );
    }

    #[test]
    fn without_a_wish_requests_go_before_the_most_frequent_span() {
        // Ordered so by the query.
        let seen = names(&["request", "payment"]);
        assert_eq!(among(&seen, &[]), Choice::Names(names(&["request"])));
        assert!(matches!(among(&[], &[]), Choice::None(_)));
    }

    #[test]
    fn a_name_with_a_quote_stays_a_name() {
        assert_eq!(is_one_of(&names(&["o'clock"])), "unit IN ('o''clock')");
    }
}
