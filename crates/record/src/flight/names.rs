//! The thread dump of a recording's begin, as long as it speaks of threads that live.

use std::collections::HashSet;

use loadline_trace::spool::threaddump;

/// Head lines of the threads that have lived ever since.
#[derive(Debug, Default)]
pub struct Names {
    ts: i64,
    /// By kernel id in the target's namespace.
    lines: Vec<(u32, String)>,
}

impl Names {
    /// From the dump of a moment.
    pub fn learn(&mut self, ts: i64, dump: &str) {
        self.ts = ts;
        self.lines = dump
            .lines()
            .filter_map(|line| {
                let thread = threaddump::threads(line).next()?;
                Some((thread.nid, line.to_owned()))
            })
            .collect();
    }

    /// Forgets threads that are not among these: another may get their ids.
    pub fn keep_only(&mut self, threads: &HashSet<u32>) {
        self.lines.retain(|(nid, _)| threads.contains(nid));
    }

    /// What is left of the dump, and when it was made.
    pub fn line(&self) -> Option<(i64, String)> {
        let lines: Vec<&str> = self.lines.iter().map(|(_, l)| l.as_str()).collect();
        (!lines.is_empty()).then(|| (self.ts, lines.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_with_its_thread() {
        let mut names = Names::default();
        names.learn(
            5,
            "\"a\" #1 prio=5 tid=0x1 nid=0x10 runnable\n  at x.Y\n\"b\" #2 prio=5 tid=0x2 nid=17 waiting\n",
        );
        names.keep_only(&HashSet::from([16, 17]));
        assert_eq!(names.line().map(|(_, l)| l.lines().count()), Some(2));
        names.keep_only(&HashSet::from([17]));
        names.keep_only(&HashSet::from([16, 17]));
        let (ts, left) = names.line().expect("one");
        assert_eq!((ts, left.starts_with("\"b\"")), (5, true));
        names.keep_only(&HashSet::new());
        assert_eq!(names.line(), None);
    }
}
