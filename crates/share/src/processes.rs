//! What /proc says about processes and their threads.

use std::collections::HashMap;
use std::fs;

/// The threads of a process; none if it has gone.
pub(crate) fn threads(pid: i32) -> Vec<i32> {
    let Ok(dir) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    dir.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

/// Whether a process exists and is not only waiting to be reaped.
pub(crate) fn lives(pid: i32) -> bool {
    matches!(stat(pid), Some((state, _)) if state != 'Z' && state != 'X')
}

/// When a process began, in clock ticks since boot: with its pid, which process it is.
pub(crate) fn start_ticks(pid: i32) -> Option<u64> {
    stat(pid).map(|(_, start)| start)
}

fn stat(pid: i32) -> Option<(char, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, can have anything in it.
    let mut fields = text[text.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

/// Whose a process is.
pub(crate) fn owner(pid: i32) -> Option<(u32, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |key: &str| -> Option<u32> {
        let line = text.lines().find_map(|l| l.strip_prefix(key))?;
        line.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    Some((field("Uid:")?, field("Gid:")?))
}

/// Run-queue delay of a set of threads, from sample to sample.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    by_thread: HashMap<i32, u64>,
}

impl Waits {
    /// Nanoseconds that the threads of these processes have waited for a CPU since the last sample; None where the kernel
    /// does not say. A thread that is new counts from its start, what one that has gone waited last is lost.
    pub(crate) fn sample(&mut self, pids: &[i32]) -> Option<u64> {
        let mut now = HashMap::with_capacity(self.by_thread.len());
        for &pid in pids {
            for tid in threads(pid) {
                let Ok(text) = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat"))
                else {
                    continue;
                };
                let waited = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
                now.insert(tid, waited);
            }
        }
        if now.is_empty() {
            return None;
        }
        let first = self.by_thread.is_empty();
        let since = |(tid, waited): (&i32, &u64)| {
            waited.saturating_sub(self.by_thread.get(tid).copied().unwrap_or(if first {
                *waited
            } else {
                0
            }))
        };
        let total = now.iter().map(since).sum();
        self.by_thread = now;
        Some(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_the_first_sample_counts_from_now() {
        let me = std::process::id() as i32;
        assert!(lives(me) && start_ticks(me).is_some() && threads(me).contains(&me));
        assert_eq!(owner(me).map(|o| o.0), Some(crate::sys::uid()));
        assert!(!lives(i32::MAX));
        let mut waits = Waits::default();
        if let Some(first) = waits.sample(&[me]) {
            assert_eq!(first, 0);
        }
    }
}
