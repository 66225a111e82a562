//! A storm of full TLS handshakes: new connections cost more CPU than the requests on them.
//!
//! A full handshake takes as much CPU as several requests (five, with RSA-2048 and short pages), so clients
//! that begin a new session for each page use up the CPUs with handshakes (Guitart 2005, 4.3.1).
//!
//! Evidence: the part of the target's CPU time that full handshakes ran, and the part of the requests'
//! time that they are. A busy door alone is no reason: it counts if handshakes take most of the work.

use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

/// Part of the target's CPU time, in full handshakes, above which they and not the requests set the load. Sound
/// sites with short sessions reach 0.25.
const OF_CPU: f64 = 0.4;
/// Part of the handshakes that must be full.
const FULL: f64 = 0.5;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "handshake-storm",
    claim: "full TLS handshakes take the CPU",
    limit: "cpu",
    queries: &["doors", "time", "cpu"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.kernel || !f.levels.server {
        return Judgement::lacking("the kernel and the server level");
    }
    let d = &f.doors;
    let ended = d.full + d.resumed;
    if ended + d.unknown == 0 {
        return Judgement::refuted("no handshake ended in the recording");
    }
    // Where an engine does not say which were full ones, all may be.
    let says = d.unknown <= ended;
    let may_be = |p: &str| p == "tls_full" || !says && p == "tls_unknown";
    let of_cpu = f.time.sum(|p, c| may_be(p) && c == "running") / 1e9 / f.cpu.seconds().max(1e-9);
    let of_time = f.time.share(|p, _| may_be(p));
    let full = d.full as f64 / ended.max(1) as f64;
    let kinds = match says {
        true => format!(
            "{:.0} full handshakes/s, {} of all",
            d.full as f64 / f.seconds,
            percent(full)
        ),
        false => format!(
            "{:.0} handshakes/s, full or resumed",
            (d.unknown + d.full) as f64 / f.seconds
        ),
    };
    let rate = format!("{kinds}; {:.0} requests/s", f.requests.per_s);
    let cost = format!(
        "they took {} of the target's CPU time and {} of the time of requests and handshakes",
        percent(of_cpu),
        percent(of_time)
    );
    if of_cpu < OF_CPU || says && full < FULL || of_time < NOTABLE {
        return Judgement::refuted(rate).fact(cost);
    }
    if !says {
        let engines = "which handshakes are full ones: OpenSSL's engines do not say it, the JDK's own (JSSE) do";
        return Judgement::lacking(engines).fact(rate).fact(cost);
    }
    Judgement::confirmed(
        of_time,
        format!("a storm of full TLS handshakes: {rate}; {cost}"),
    )
    .fact(rate)
    .fact(cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn handshakes_that_take_most_of_the_cpu_are_a_storm() {
        let mut f = sound();
        f.doors.full = 800;
        add(&mut f, "tls_full", "running", 2400);
        f.cpu.by_kind.insert("platform".into(), 4.5);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.doors.resumed = 4000;
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "most are resumed"
        );
        // Of OpenSSL's engines it is not known.
        let mut f = sound();
        (f.doors.full, f.doors.resumed, f.doors.unknown) = (0, 0, 800);
        add(&mut f, "tls_unknown", "running", 2400);
        f.cpu.by_kind.insert("platform".into(), 4.5);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::NotEnoughData);
        f.cpu.by_kind.insert("platform".into(), 45.0);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "they are cheap");
    }
}
