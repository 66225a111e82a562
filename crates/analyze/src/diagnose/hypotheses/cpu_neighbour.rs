//! Neighbours take the CPU: other processes on the same CPUs, or other virtual machines on the same host.
//!
//! Evidence: the CPUs on which the target runs are full, others use a good part of them, requests wait for
//! one, and they do so while a CPU runs none of the target's threads. Work of low priority that takes what is
//! left over uses a CPU as well, and is in nobody's way: it is told by the last. What others use is what the CPUs
//! were busy less what the target's threads ran on them; what other virtual machines use is the steal time, in which
//! a thread of the target seems to run.

use super::cpu::waiting;
use crate::diagnose::finding::{Hypothesis, Judgement, REQUESTS_TIME};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

/// Share of the target's CPUs, used by others, that can hurt. Below it are the recorder and the kernel's own
/// threads (2 to 6% here); at double a neighbour that doubles the 95th percentile is missed.
const OTHERS: f64 = 0.15;
/// Share of the CPUs, while threads of the target waited, that ran none of them. Wake-ups under way, and a generator that
/// used a tenth of a CPU, made 0.13 to 0.26, with work of low priority beside them 0.31 to 0.36; compilers of other users
/// with equal rights 0.42 to 0.59, planted neighbours 0.53. At half, whatever fills idle CPUs is named.
const STARVED: f64 = 0.45;
/// Use of a CPU by all above which those who want it wait.
const FULL: f64 = 0.85;
/// Share of all CPU time given to other virtual machines that can hurt.
const STEAL: f64 = 0.1;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "cpu-neighbour",
    claim: "neighbours take its CPUs",
    limit: "cpu",
    queries: &["cpu", "counters", "time", "starved"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    let (Some(used), Some(others)) = (f.cpu.utilization, f.cpu.others) else {
        return Judgement::lacking("the kernel level: on which CPUs the target ran is not known");
    };
    let starved = f.cpu.starved.unwrap_or(0.0);
    let steal = f.cpu.steal.unwrap_or(0.0);
    let waiting = waiting(f);
    let facts = [
        format!(
            "others used {} of the CPUs on which it ran, it {}",
            percent(others),
            percent(used)
        ),
        format!(
            "while its threads waited for a CPU, {} of the CPUs ran none of them; the hypervisor gave {} of the CPU time to other machines",
            percent(starved),
            percent(steal)
        ),
        format!(
            "requests and handshakes spent {} of their time waiting for a CPU",
            percent(waiting)
        ),
    ];
    // Who is throttled stands still on an idle CPU.
    let quota = f.cpu.throttled_share.unwrap_or(0.0) > 0.05;
    let crowded = others > OTHERS && used + others > FULL && starved > STARVED && !quota;
    let stolen = steal > STEAL;
    let [by_others, by_host, waits] = facts;
    if !stolen && (waiting < NOTABLE || !crowded) {
        return Judgement::refuted(by_others).fact(by_host).fact(waits);
    }
    let (share, of, verdict) = if crowded {
        (
            waiting * starved,
            REQUESTS_TIME,
            format!(
                "neighbours take the CPUs: other processes used {} of them and the target {}; {waits}",
                percent(others),
                percent(used)
            ),
        )
    } else {
        (
            steal,
            "the CPUs' time",
            format!(
                "the host takes the CPUs: {} of their time went to other virtual machines",
                percent(steal)
            ),
        )
    };
    Judgement::confirmed(share, verdict)
        .of(of)
        .fact(by_others)
        .fact(by_host)
        .fact(waits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn a_neighbour_counts_if_requests_wait() {
        let mut f = sound();
        f.cpu.others = Some(0.68);
        f.cpu.starved = Some(0.8);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "nobody waits");
        add(&mut f, "service", "runnable", 1500);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.cpu.starved = Some(0.1);
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "they take what is left over"
        );
        f.cpu.starved = Some(0.8);
        f.cpu.others = Some(0.05);
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "nobody else is there"
        );
    }

    #[test]
    fn steal_is_a_neighbour_of_the_machine() {
        let mut f = sound();
        f.cpu.steal = Some(0.2);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        assert_eq!(judge(&f).share_of, "the CPUs' time");
    }
}
