//! A stream that is read or written a byte at a time: a system call for each byte.
//!
//! Evidence: thousands of reads of one byte on files, and the CPU time that they take in the kernel: of the requests' time
//! that of the calls, or on full CPUs, where what others wait for is in nobody's calls, their part of the CPU time. Without
//! system calls recorded only the kernel's part of the CPU time is known: where that is small there is
//! nothing of the kind; where it is large, somebody has to look.

use super::cpu::waiting;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

/// Reads of one byte per second below which nobody cares: pipes and eventfds do some.
const PER_SECOND: f64 = 1000.0;
/// The kernel's part of the target's CPU time that calls for an explanation. Sound sites are at 0.15 to 0.35.
const IN_KERNEL: f64 = 0.45;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "slow-static",
    claim: "something is read a byte at a time",
    limit: "cpu",
    queries: &["tiny_reads", "counters", "cpu", "time"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    let kernel = f.cpu.kernel_share.map(|k| {
        format!(
            "the target spent {} of its CPU time in the kernel",
            percent(k)
        )
    });
    let Some(t) = &f.tiny_reads else {
        return match (f.cpu.kernel_share, kernel) {
            (Some(k), Some(fact)) if k < IN_KERNEL => Judgement::refuted(fact),
            (_, Some(fact)) => Judgement::lacking("system calls: --syscalls").fact(fact),
            _ => Judgement::lacking("system calls: --syscalls"),
        };
    };
    let per_s = t.count as f64 / f.seconds.max(1e-9);
    let of_time = t.total_ms * 1e6 / f.time.total().max(1.0);
    let of_cpu = t.total_ms / 1e3 / f.cpu.seconds().max(1e-9);
    let share = of_time.max(of_cpu.min(1.0) * (f.time.cause("running") + waiting(f)));
    let fact = format!(
        "{} reads of a single byte ({per_s:.0} a second), most of {}; {} of the requests' time is in these calls, {} of the target's CPU time",
        t.count,
        t.file,
        percent(of_time),
        percent(of_cpu.min(1.0))
    );
    let j = if per_s < PER_SECOND || share < NOTABLE / 2.0 {
        Judgement::refuted(fact)
    } else {
        Judgement::confirmed(
            share,
            format!("a stream is read a byte at a time: {fact}; a buffer would do away with them"),
        )
        .fact(fact)
    };
    match kernel {
        Some(k) => j.fact(k),
        None => j,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::figures::TinyReads;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn on_full_cpus_they_count_by_the_cpu_time_that_they_take() {
        let mut f = sound();
        add(&mut f, "service", "runnable", 20_000);
        f.tiny_reads = Some(TinyReads {
            count: 400_000,
            total_ms: 700.0,
            file: "/x.png".into(),
        });
        let found = (HYPOTHESIS.judge)(&f);
        assert_eq!(found.outcome, Outcome::Confirmed);
        assert!(found.share > 0.2, "{found:?}");
        f.tiny_reads.as_mut().expect("they are there").total_ms = 100.0;
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
    }

    #[test]
    fn many_reads_of_a_byte_are_a_missing_buffer() {
        let mut f = sound();
        f.tiny_reads = Some(TinyReads {
            count: 200_000,
            total_ms: 400.0,
            file: "/x.png".into(),
        });
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.tiny_reads = Some(TinyReads {
            count: 40,
            ..TinyReads::default()
        });
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
        f.tiny_reads = None;
        f.cpu.kernel_share = Some(0.7);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::NotEnoughData);
    }
}
