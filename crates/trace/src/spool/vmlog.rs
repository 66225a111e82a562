//! `raw/vm.log`: what the JVM's own log says of safepoints, a line when each is over.
//!
//! ```text
//! [5512345678901ns] Safepoint "G1CollectForAllocation", Time since last: 1 ns, Reaching safepoint: 2 ns, At safepoint: 3 ns, Total: 5 ns
//! ```
//!
//! The time is of the trace's clock. Between `Reaching` and `Total`, and behind it, stands what the JVM's version tells.

/// A time in which the virtual machine had stopped all threads, or was about to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Safepoint<'a> {
    /// When it was asked for.
    pub begin: i64,
    /// When the threads went on.
    pub end: i64,
    /// What it was for: the JVM's name of the operation.
    pub operation: &'a str,
}

/// The safepoints of a log; lines that are none, or were torn, are passed over.
pub fn safepoints(log: &str) -> impl Iterator<Item = Safepoint<'_>> {
    log.lines().filter_map(safepoint)
}

fn safepoint(line: &str) -> Option<Safepoint<'_>> {
    let (time, rest) = line.strip_prefix('[')?.split_once("ns]")?;
    let end: i64 = time.trim().parse().ok()?;
    let (operation, rest) = rest
        .trim_start()
        .strip_prefix("Safepoint \"")?
        .split_once('"')?;
    let (total, _) = rest.rsplit_once("Total:")?.1.split_once(" ns")?;
    let total: i64 = total.trim().parse().ok().filter(|&ns| ns >= 0)?;
    Some(Safepoint {
        begin: end.checked_sub(total)?,
        end,
        operation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_jdk_17_and_25_is_a_safepoint_and_a_torn_one_is_none() {
        let log = "[5000ns] Safepoint \"G1CollectForAllocation\", Time since last: 100 ns, Reaching safepoint: 20 ns, At safepoint: 30 ns, Total: 50 ns\n\
                   [  9000ns] Safepoint \"ICBufferFull\", Time since last: 100 ns, Reaching safepoint: 20 ns, Cleanup: 1 ns, At safepoint: 30 ns, Leaving safepoint: 7 ns, Total: 58 ns, Threads: 0 runnable, 16 total\n\
                   [9500ns] Entering safepoint region\n\
                   [9900ns] Safepoint \"G1Coll";
        let found: Vec<_> = safepoints(log)
            .map(|s| (s.begin, s.end, s.operation))
            .collect();
        assert_eq!(
            found,
            [
                (4950, 5000, "G1CollectForAllocation"),
                (8942, 9000, "ICBufferFull")
            ]
        );
    }
}
