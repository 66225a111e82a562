//! What the target's descriptors lead to: a path, `socket:[INODE]` or `anon_inode:[KIND]`, as `/proc/PID/fd` has it.

use std::collections::HashMap;

use crate::opened::{Listed, Opened};

/// Reads them, again and again.
pub struct Links {
    pid: i32,
    /// Who tells faster than `/proc`; `None` where nobody does.
    listed: Option<Listed>,
    /// What was read of files that are no sockets. One that is renamed later keeps the name that it was opened by, and is
    /// not taken for another.
    files: HashMap<i32, (Opened, String)>,
}

impl Links {
    /// Of `pid`.
    pub fn new(pid: i32, listed: Option<Listed>) -> Links {
        Links {
            pid,
            listed,
            files: HashMap::new(),
        }
    }

    /// All that are open now, with what they lead to.
    pub fn read(&mut self) -> Vec<(i32, String)> {
        let Some(opened) = self.listed.as_ref().and_then(|list| list()) else {
            return of_proc(self.pid);
        };
        let mut before = std::mem::take(&mut self.files);
        let mut links = Vec::with_capacity(opened.len());
        for one in opened {
            if one.is_socket {
                links.push((one.fd, format!("socket:[{}]", one.inode)));
                continue;
            }
            let known = before.remove(&one.fd).filter(|(file, _)| *file == one);
            // One that is closed while this reads is not open.
            let Some(link) = known.map(|(_, l)| l).or_else(|| of(self.pid, one.fd)) else {
                continue;
            };
            self.files.insert(one.fd, (one, link.clone()));
            links.push((one.fd, link));
        }
        links
    }
}

fn of_proc(pid: i32) -> Vec<(i32, String)> {
    std::fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| {
            let fd = e.file_name().to_str()?.parse().ok()?;
            Some((fd, of(pid, fd)?))
        })
        .collect()
}

/// What one leads to; `None` if it is not open.
pub fn of(pid: i32, fd: i32) -> Option<String> {
    let link = std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok()?;
    Some(link.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::kernel::{Kernel, Wanted};
    use crate::procfs::counters::Counters;
    use crate::ring::page_size;

    #[test]
    fn the_kernels_list_is_what_proc_has_also_when_a_number_is_used_again() {
        let mut storage = std::mem::MaybeUninit::uninit();
        let wanted = Wanted {
            scheduler: true,
            syscalls: false,
        };
        let kernel = match Kernel::load(&mut storage, wanted, page_size()) {
            Ok(kernel) => kernel,
            Err(why) => return skipped(&why),
        };
        let (mut ours, theirs) = UnixStream::pair().expect("sockets");
        // The second may well get the first one's inode.
        let script = "exec 7>a; echo; read x; exec 7>&-; rm a; exec 7>b; echo; read x";
        let dir = tempfile::tempdir().expect("a directory");
        let mut child = Command::new("sh")
            .args(["-c", script])
            .current_dir(dir.path())
            .stdout(OwnedFd::from(theirs.try_clone().expect("another")))
            .stdin(OwnedFd::from(theirs))
            .stderr(Stdio::piped())
            .spawn()
            .expect("sh");
        let pid = child.id() as i32;
        let known = kernel.known(pid).expect("asked");
        let (Some(listed), Some(threads)) = (known.opened, known.threads) else {
            drop(ours);
            child.wait().expect("it ends");
            return skipped("the kernel cannot go by one process (before Linux 6.1)");
        };
        let mut links = Links::new(pid, Some(listed));
        let mut seen = Vec::new();
        for _ in 0..2 {
            ours.read_exact(&mut [0]).expect("it is ready");
            let sorted = |mut links: Vec<(i32, String)>| {
                links.sort();
                links
            };
            let listed = sorted(links.read());
            assert_eq!(listed, sorted(of_proc(pid)));
            seen.extend(listed.into_iter().filter(|l| l.0 == 7).map(|l| l.1));
            if seen.len() < 2 {
                ours.write_all(b"\n").expect("it reads");
            }
        }
        let path = |name| dir.path().join(name).display().to_string();
        assert_eq!(seen, [path("a"), path("b")]);
        // Once it waits for us they no longer change.
        let (told, read) = (Counters::new(pid, Some(threads)), Counters::new(pid, None));
        let waits = || {
            std::thread::sleep(std::time::Duration::from_millis(1));
            told.switches().0 > 0 && told.switches() == read.switches()
        };
        assert!((0..10_000).any(|_| waits()), "{:?}", told.switches());
        drop(ours);
        child.wait().expect("it ends");
    }

    /// Past the test runner's capture, where skipped tests are counted.
    fn skipped(why: &str) {
        let _ = writeln!(std::io::stderr(), "SKIP the_kernels_list: {why}");
    }
}
