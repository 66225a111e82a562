//! The target's open descriptors, from `/proc/PID/fd`, with the addresses of its sockets.

use std::collections::{HashMap, HashSet};

use loadline_trace::spool::procfs::{FdSeen, Line};

use super::parse::{self, Socket};
use crate::sys::now_ns;

/// Files that list the sockets of a network namespace.
const TABLES: [&str; 4] = ["tcp6", "tcp", "udp6", "udp"];

/// Reads descriptors, and tells what changed.
pub struct Fds {
    pid: i32,
    open: HashMap<i32, FdSeen>,
    /// Sockets that may still get an address, or a peer.
    unsettled: bool,
}

impl Fds {
    /// Descriptors of `pid`; the first call of [`Fds::changes`] tells all.
    pub fn new(pid: i32) -> Fds {
        Fds {
            pid,
            open: HashMap::new(),
            unsettled: false,
        }
    }

    /// What changed since the last call; `None` if nothing did.
    pub fn changes(&mut self) -> Option<Line> {
        let ts = now_ns();
        let links = links(self.pid);
        let news = links.iter().any(|(fd, link)| {
            link.starts_with("socket:") && self.open.get(fd).is_none_or(|f| f.link != *link)
        });
        let sockets = if news || self.unsettled {
            Some(sockets(self.pid))
        } else {
            None
        };
        let (opened, closed, open, unsettled) = compare(&self.open, links, sockets.as_ref());
        self.open = open;
        self.unsettled = unsettled;
        (!opened.is_empty() || !closed.is_empty()).then_some(Line::Fds { ts, opened, closed })
    }

    /// Connections that nobody has accepted yet, in the fullest queue of those that it listens with.
    pub fn accept_queue(&self) -> u32 {
        let inodes: HashSet<u64> = self
            .open
            .values()
            .filter_map(|f| parse::socket_inode(&f.link))
            .collect();
        sockets(self.pid)
            .values()
            .filter(|s| s.listens && inodes.contains(&s.inode))
            .map(|s| s.received)
            .max()
            .unwrap_or(0)
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }
}

type Open = HashMap<i32, FdSeen>;

/// What is new or other than before, what is gone, what is open now, and whether a socket among it
/// may yet be connected. Without `sockets` those seen before keep their addresses.
fn compare(
    before: &Open,
    links: Vec<(i32, String)>,
    sockets: Option<&HashMap<u64, Socket>>,
) -> (Vec<FdSeen>, Vec<i32>, Open, bool) {
    let mut opened = Vec::new();
    let mut open = Open::with_capacity(links.len());
    let mut unsettled = false;
    for (fd, link) in links {
        let old = before.get(&fd).filter(|f| f.link == link);
        let inode = parse::socket_inode(&link);
        let socket = inode.and_then(|i| sockets.and_then(|s| s.get(&i)));
        let (local, remote) = match (socket, old) {
            (Some(s), _) => (Some(s.local.to_string()), s.remote.map(|r| r.to_string())),
            (None, Some(old)) => (old.local.clone(), old.remote.clone()),
            (None, None) => (None, None),
        };
        // One that is bound but neither listens nor is connected may be about to connect.
        unsettled |= socket.is_some_and(|s| !s.listens && s.remote.is_none());
        let now = FdSeen {
            fd,
            link,
            local,
            remote,
        };
        if old.is_none_or(|o| o.local != now.local || o.remote != now.remote) {
            opened.push(now.clone());
        }
        open.insert(fd, now);
    }
    let mut closed: Vec<i32> = before
        .keys()
        .copied()
        .filter(|fd| !open.contains_key(fd))
        .collect();
    closed.sort_unstable();
    (opened, closed, open, unsettled)
}

fn links(pid: i32) -> Vec<(i32, String)> {
    std::fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| {
            let fd = e.file_name().to_str()?.parse().ok()?;
            let link = std::fs::read_link(e.path()).ok()?;
            Some((fd, link.to_string_lossy().into_owned()))
        })
        .collect()
}

fn sockets(pid: i32) -> HashMap<u64, Socket> {
    let mut all = HashMap::new();
    for table in TABLES {
        // Absent without IPv6, or when the process has just gone.
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        all.extend(text.lines().filter_map(parse::socket).map(|s| (s.inode, s)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(inode: u64, remote: Option<&str>) -> (u64, Socket) {
        let local = "127.0.0.1:80".parse().expect("an address");
        let remote = remote.map(|r| r.parse().expect("an address"));
        (
            inode,
            Socket {
                inode,
                local,
                remote,
                listens: false,
                received: 0,
            },
        )
    }

    #[test]
    fn only_changes_are_told() {
        let links = |l: &[(i32, &str)]| {
            l.iter()
                .map(|(f, s)| (*f, s.to_string()))
                .collect::<Vec<_>>()
        };
        let first = links(&[(0, "/dev/null"), (5, "socket:[9]")]);
        let sockets = HashMap::from([socket(9, None)]);
        let (opened, closed, open, unsettled) =
            compare(&Open::new(), first.clone(), Some(&sockets));
        assert_eq!((opened.len(), closed.len(), unsettled), (2, 0, true));

        let connected = HashMap::from([socket(9, Some("127.0.0.1:99"))]);
        let (opened, _, open, unsettled) = compare(&open, first.clone(), Some(&connected));
        assert_eq!(opened.len(), 1, "it was connected");
        assert_eq!(opened[0].remote.as_deref(), Some("127.0.0.1:99"));
        assert!(!unsettled);

        let (opened, closed, open, _) = compare(&open, first, None);
        assert!(opened.is_empty() && closed.is_empty(), "nothing changed");

        let (opened, closed, _, _) = compare(&open, links(&[(5, "socket:[10]")]), None);
        assert_eq!(opened[0].link, "socket:[10]", "the number was used again");
        assert_eq!(
            opened[0].local, None,
            "and the old addresses are not its own"
        );
        assert_eq!(closed, [0]);
    }

    #[test]
    fn connections_that_nobody_has_accepted_are_counted() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut fds = Fds::new(std::process::id() as i32);
        fds.changes();
        let before = fds.accept_queue();
        let clients: Vec<_> = (0..40)
            .map(|_| std::net::TcpStream::connect(address).expect("connected"))
            .collect();
        assert!(before < 40 && fds.accept_queue() >= clients.len() as u32);
    }

    #[test]
    fn our_own_connection_is_found_with_both_addresses() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = std::net::TcpStream::connect(address).expect("connected");
        let mut fds = Fds::new(std::process::id() as i32);
        let Some(Line::Fds { opened, .. }) = fds.changes() else {
            panic!("nothing is open")
        };
        let own = client.local_addr().expect("an address").to_string();
        let seen = opened
            .iter()
            .find(|f| f.local.as_deref() == Some(&own))
            .expect("the client's");
        assert_eq!(seen.remote, Some(address.to_string()));
        assert!(fds.len() >= 2);
    }
}
