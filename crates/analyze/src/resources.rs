//! What file descriptors were, from looks at `/proc/PID/fd`.

use loadline_trace::spool::procfs::{FdSeen, Line};
use loadline_trace::tables::Resource;
use rustc_hash::FxHashMap;

/// All resources, and which one a descriptor was at a time.
#[derive(Debug, Default)]
pub struct Resources {
    /// Rows of the table; a resource's index is its id.
    pub list: Vec<Resource>,
    by_fd: FxHashMap<i32, Vec<u32>>,
}

impl Resources {
    /// Follows the looks from first to last. A resource begins where it was first seen (those of
    /// the first look: with the recording) and ends where it was first seen gone or changed. A
    /// socket whose addresses are told later had them from the first.
    pub fn new(proc: &[Line], begin: i64, end: i64) -> Resources {
        let mut all = Resources::default();
        let mut open: FxHashMap<i32, u32> = FxHashMap::default();
        let mut first = true;
        for line in proc {
            let Line::Fds { ts, opened, closed } = line else {
                continue;
            };
            let ts = (*ts).clamp(begin, end);
            let from = if first { begin } else { ts };
            first = false;
            for fd in closed {
                if let Some(id) = open.remove(fd) {
                    all.list[id as usize].end_ns = ts;
                }
            }
            for seen in opened {
                let now = row(all.list.len() as u32, seen, from, end);
                if let Some(before) = open.get(&seen.fd).map(|id| &mut all.list[*id as usize]) {
                    if now.inode.is_some() && (before.kind, before.inode) == (now.kind, now.inode) {
                        (before.name, before.local, before.remote) =
                            (now.name, now.local, now.remote);
                        continue;
                    }
                    before.end_ns = ts;
                }
                let id = now.id as u32;
                all.list.push(now);
                all.by_fd.entry(seen.fd).or_default().push(id);
                open.insert(seen.fd, id);
            }
        }
        all
    }

    /// What `fd` was at `ts`.
    pub fn at(&self, fd: i32, ts: i64) -> Option<&Resource> {
        let of = self.by_fd.get(&fd)?; // in the order of time
        let begun = of.partition_point(|&id| self.list[id as usize].begin_ns <= ts);
        let id = of[..begun].last()?;
        let resource = &self.list[*id as usize];
        (ts < resource.end_ns).then_some(resource)
    }
}

fn row(id: u32, seen: &FdSeen, begin: i64, end: i64) -> Resource {
    let (kind, inode) = classify(&seen.link);
    let name = match (&seen.local, &seen.remote) {
        (Some(local), Some(remote)) => format!("{local} -> {remote}"),
        (Some(local), None) => local.clone(),
        _ => seen.link.clone(),
    };
    Resource {
        id: i64::from(id),
        fd: seen.fd,
        kind,
        name,
        local: seen.local.clone(),
        remote: seen.remote.clone(),
        inode,
        begin_ns: begin,
        end_ns: end,
    }
}

fn classify(link: &str) -> (&'static str, Option<i64>) {
    let inode = |prefix: &str| {
        link.strip_prefix(prefix)
            .and_then(|r| r.strip_suffix(']'))
            .and_then(|n| n.parse().ok())
    };
    if link.starts_with("socket:[") {
        ("socket", inode("socket:["))
    } else if link.starts_with("pipe:[") {
        ("pipe", inode("pipe:["))
    } else if link.starts_with("anon_inode:[eventpoll]") {
        ("epoll", None)
    } else if link.starts_with("anon_inode:[eventfd") {
        ("eventfd", None)
    } else if link.starts_with('/') {
        ("file", None)
    } else {
        ("other", None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fd(fd: i32, link: &str) -> FdSeen {
        FdSeen {
            fd,
            link: link.into(),
            local: None,
            remote: None,
        }
    }

    #[test]
    fn a_descriptor_means_what_it_was_at_the_time() {
        let proc = [
            Line::Fds {
                ts: 5,
                opened: vec![fd(3, "/tmp/x"), fd(4, "socket:[99]")],
                closed: vec![],
            },
            Line::Fds {
                ts: 50,
                opened: vec![fd(3, "anon_inode:[eventpoll]")],
                closed: vec![4],
            },
        ];
        let r = Resources::new(&proc, 0, 100);
        let kind = |fd, ts| r.at(fd, ts).map(|r| r.kind);
        assert_eq!(kind(3, 2), Some("file"));
        assert_eq!(kind(3, 60), Some("epoll"));
        assert_eq!(kind(4, 20), Some("socket"));
        assert_eq!(kind(4, 60), None);
        assert_eq!(r.list[1].inode, Some(99));
    }

    #[test]
    fn addresses_that_are_told_late_are_those_from_the_first() {
        let look = |ts, link: &str, remote: Option<&str>| {
            let mut seen = fd(7, link);
            seen.local = remote.map(|_| "127.0.0.1:8443".into());
            seen.remote = remote.map(str::to_owned);
            Line::Fds {
                ts,
                opened: vec![seen],
                closed: vec![],
            }
        };
        let proc = [
            look(5, "socket:[1]", None),
            look(50, "socket:[1]", Some("127.0.0.1:5000")),
            look(70, "socket:[2]", Some("127.0.0.1:5001")),
        ];
        let r = Resources::new(&proc, 0, 100);
        let remote = |ts| r.at(7, ts).and_then(|r| r.remote.as_deref());
        assert_eq!(remote(10), Some("127.0.0.1:5000"));
        assert_eq!(remote(60), Some("127.0.0.1:5000"));
        assert_eq!(remote(80), Some("127.0.0.1:5001"), "another socket");
        assert_eq!(r.list.len(), 2);
    }

    #[test]
    fn a_connected_socket_is_named_by_both_its_ends() {
        let mut s = fd(7, "socket:[1]");
        s.local = Some("127.0.0.1:8443".into());
        s.remote = Some("127.0.0.1:5000".into());
        let r = Resources::new(
            &[Line::Fds {
                ts: 1,
                opened: vec![s],
                closed: vec![],
            }],
            0,
            9,
        );
        assert_eq!(r.list[0].name, "127.0.0.1:8443 -> 127.0.0.1:5000");
    }
}
