//! The conclusion in sentences.

use super::figures::Figures;
use super::finding::{Finding, Outcome};
use crate::report::table::percent;

/// The verdicts of what is confirmed, a sentence each, the largest share first; else what there is to say.
pub fn verdict(findings: &[Finding], f: &Figures) -> String {
    let confirmed: Vec<String> = findings
        .iter()
        .filter(|x| x.outcome == Outcome::Confirmed)
        .enumerate()
        .map(|(i, x)| sentence(&x.verdict, i > 0))
        .collect();
    if confirmed.is_empty() {
        nothing(findings, f)
    } else {
        confirmed.join(" ")
    }
}

fn nothing(findings: &[Finding], f: &Figures) -> String {
    let used = f
        .cpu
        .utilization
        .map(|u| format!("; the target used {} of its CPUs", percent(u)))
        .unwrap_or_default();
    if f.requests.count == 0 && f.time.total() == 0.0 {
        let why = if f.levels.server {
            "no request was seen"
        } else {
            "the server level was not recorded"
        };
        return format!("{why}, so nothing can be said of a limit{used}.");
    }
    if !f.levels.kernel {
        return format!(
            "nothing that the trace can show{used}; without kernel states nobody can tell running from waiting for a CPU or for I/O."
        );
    }
    let most = largest_wait(f)
        .map(|(what, share)| {
            format!(
                "; the largest wait, for {what}, takes {} of the requests' time",
                percent(share)
            )
        })
        .unwrap_or_default();
    let open = findings
        .iter()
        .filter(|x| x.outcome == Outcome::NotEnoughData)
        .count();
    let open = if open == 0 {
        String::new()
    } else {
        format!(
            "; {open} of {} hypotheses could not be decided",
            findings.len()
        )
    };
    format!("no single limit{used}{most}{open}.")
}

/// What requests and handshakes waited for most.
fn largest_wait(f: &Figures) -> Option<(String, f64)> {
    let in_sql = f.time.share(|p, c| p == "sql" && c == "socket");
    let in_calls = f.time.share(|p, c| p == "call" && c == "socket");
    [
        ("a CPU", f.time.cause("runnable")),
        ("a lock", f.time.cause("lock")),
        ("a pool", f.time.cause("pool")),
        ("the database", in_sql),
        ("another service", in_calls),
        ("a peer", f.time.cause("socket") - in_sql - in_calls),
        ("a file", f.time.cause("file")),
        ("a collection", f.time.cause("gc")),
        ("a worker", f.time.cause("queue")),
    ]
    .map(|(what, share)| (what.to_owned(), share))
    .into_iter()
    .chain(f.others.iter().map(|o| (o.what(40), o.share(f))))
    .filter(|w| w.1 > 0.0)
    .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// With its full stop; capital where it follows another.
fn sentence(text: &str, capital: bool) -> String {
    let text = text.trim_end_matches('.');
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if capital => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        _ => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnose::hypotheses::tests::{add, sound};
    use crate::diagnose::{Figures, judge};

    #[test]
    fn a_sound_site_has_no_single_limit_and_its_largest_wait_is_named() {
        let d = judge(sound(), 0);
        assert_eq!(d.confirmed, [""; 0]);
        assert!(
            d.verdict.starts_with(
                "no single limit; the target used 30% of its CPUs; the largest wait, for a CPU,"
            ),
            "{}",
            d.verdict
        );
    }

    #[test]
    fn what_no_thread_owns_is_named_where_it_is_the_largest_wait() {
        let mut f = sound();
        add(&mut f, "service", "other", 150);
        f.others = vec![crate::diagnose::figures::Other {
            kind: "park".into(),
            class: "java.util.concurrent.CompletableFuture$Signaller".into(),
            wait_ms: 150.0,
            ..Default::default()
        }];
        let d = judge(f, 0);
        assert!(
            d.verdict
                .contains("the largest wait, for a future's result,"),
            "{}",
            d.verdict
        );
    }

    #[test]
    fn a_lock_goes_before_cpus_that_few_wait_for() {
        let mut f = sound();
        f.cpu.utilization = Some(0.97);
        add(&mut f, "service", "lock", 30_000);
        add(&mut f, "service", "runnable", 5_000);
        f.locks = vec![crate::diagnose::figures::Lock {
            class: "a.Cache".into(),
            part: 1.0,
            wait_ms: 3e4,
            ..Default::default()
        }];
        let d = judge(f, 0);
        assert_eq!(d.confirmed, ["hot-lock", "cpu"]);
        assert!(
            d.verdict.starts_with("one lock is the limit: "),
            "{}",
            d.verdict
        );
        assert!(
            d.verdict.contains(". The CPUs are the limit: "),
            "{}",
            d.verdict
        );
    }

    #[test]
    fn without_evidence_nothing_is_concluded() {
        let blind = judge(
            Figures {
                seconds: 1.0,
                ..Figures::default()
            },
            0,
        );
        assert!(
            blind
                .verdict
                .starts_with("the server level was not recorded, so nothing can be said"),
            "{}",
            blind.verdict
        );
        let mut f = sound();
        f.levels.kernel = false;
        assert!(judge(f, 0).verdict.contains("without kernel states"));
    }
}
