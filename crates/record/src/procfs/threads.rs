//! The target's threads, from `/proc/PID/task`.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;

use loadline_trace::spool::procfs::ThreadSeen;

use super::parse;
use crate::calls;
use crate::sys::now_ns;

/// Reads threads, and remembers which were read.
pub struct Threads {
    pid: i32,
    /// The target has ids of its own: each thread's must be looked up.
    own_ids: bool,
    known: HashSet<i32>,
}

impl Threads {
    /// Threads of `pid`; `own_ids` if it lives in another pid namespace.
    pub fn new(pid: i32, own_ids: bool) -> Threads {
        Threads {
            pid,
            own_ids,
            known: HashSet::new(),
        }
    }

    /// Threads that were not seen by the last call. Repeats until a pass finds none, because
    /// threads may begin while one reads; a process that never stops making them gets a few passes.
    pub fn new_ones(&mut self) -> Vec<ThreadSeen> {
        let mut seen = Vec::new();
        for _ in 0..10 {
            let tids = tids(self.pid);
            let fresh: Vec<i32> = tids
                .iter()
                .copied()
                .filter(|t| !self.known.contains(t))
                .collect();
            self.known = tids.into_iter().collect();
            if fresh.is_empty() {
                break;
            }
            seen.extend(fresh.into_iter().filter_map(|tid| self.look(tid)));
        }
        seen
    }

    /// All threads, known or not.
    pub fn all(&mut self) -> Vec<ThreadSeen> {
        self.known.clear();
        self.new_ones()
    }

    fn look(&self, tid: i32) -> Option<ThreadSeen> {
        let dir = format!("/proc/{}/task/{tid}", self.pid);
        let mut file = File::open(format!("{dir}/stat")).ok()?;
        // Before the letter is read: an event between the two is then applied to the letter once
        // more, which does no harm, rather than lost.
        let ts = now_ns();
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        let stat = parse::stat(&text)?;
        let call = std::fs::read_to_string(format!("{dir}/syscall")).ok();
        let call = call.as_deref().and_then(parse::syscall);
        let nstid = if self.own_ids {
            parse::nspid(&std::fs::read_to_string(format!("{dir}/status")).ok()?)?
        } else {
            tid
        };
        Some(ThreadSeen {
            tid,
            nstid,
            comm: stat.comm,
            state: stat.state,
            ts,
            syscall: call.map(|(number, _)| number),
            fd: call.and_then(|(number, arg0)| calls::descriptor(number, arg0)),
        })
    }
}

/// Kernel ids of a process's threads; none if it is gone.
pub fn tids(pid: i32) -> Vec<i32> {
    std::fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse().ok())
        .collect()
}

/// Time on CPU and in the run queue of each thread.
pub fn cpu_times(pid: i32) -> Vec<(i32, u64, u64)> {
    tids(pid)
        .into_iter()
        .filter_map(|tid| {
            let text = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
            let (on_cpu, runnable) = parse::schedstat(&text)?;
            Some((tid, on_cpu, runnable))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_new_once_and_its_sleep_is_seen() {
        let own = std::process::id() as i32;
        let mut threads = Threads::new(own, false);
        assert!(!threads.new_ones().is_empty());
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let sleeper = std::thread::Builder::new()
            .name("a sleeper".into())
            .spawn(move || wait.recv())
            .expect("a thread");
        let is_it = |t: &ThreadSeen| t.comm == "a sleeper";
        let mut found = Vec::new();
        // Other tests' threads come and go: only ours is asked for. Its name comes after its birth.
        for _ in 0..1000 {
            found = threads.all();
            if found.iter().any(|t| is_it(t) && t.state == 'S') {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let seen = found.iter().find(|t| is_it(t)).expect("the sleeper");
        assert_eq!((seen.state, seen.nstid), ('S', seen.tid));
        assert_eq!(seen.syscall, Some(libc::SYS_futex as i32));
        assert_eq!(seen.fd, None);
        assert!(
            !threads.new_ones().iter().any(|t| t.tid == seen.tid),
            "seen a second time"
        );
        assert!(cpu_times(own).iter().any(|t| t.0 == seen.tid));
        drop(go);
        sleeper
            .join()
            .expect("joined")
            .expect_err("the channel closed");
    }
}
