//! The target's open descriptors, from the kernel level's list or `/proc/PID/fd`, with the addresses of its sockets.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::time::{Duration, Instant};

use loadline_trace::spool::procfs::{FdSeen, Line};

use super::links::{self, Links};
use super::parse::{self, Socket};
use crate::sys::{now_ns, thread_cpu_ns, thread_cpu_since};
use crate::{closed, opened};

/// Files that list the sockets of a network namespace: those first that a JVM's are in, unless it prefers IPv4. To read one
/// takes the kernel a walk through its whole table of connections, milliseconds on a large machine.
const TABLES: [&str; 4] = ["tcp6", "tcp", "udp6", "udp"];
/// Of the time of a CPU, one part in so many may go into reading them.
const TABLES_SHARE: u32 = 500;

/// The most that a thread which closes a connection may need from one to the other, unless it has to wait for a CPU.
const IN_BETWEEN: Duration = Duration::from_millis(2);

/// Reads descriptors, and tells what changed.
pub struct Fds {
    pid: i32,
    links: Links,
    open: HashMap<i32, FdSeen>,
    /// The next changes are all that is open.
    all: bool,
    /// Sockets of which an address, or a peer, may still be learnt: inodes, with their descriptors.
    wanted: HashMap<u64, i32>,
    /// Those of them that were wanted before the last look, which did not find them.
    missed: HashSet<u64>,
    /// When tables may be read again.
    next: Instant,
    /// The next look reads them for each that is wanted.
    hurries: bool,
    /// Who knows of connections that have been closed; `None` without the kernel level.
    closed: Option<closed::Asked>,
    /// When the last look was.
    looked: i64,
}

impl Fds {
    /// Descriptors of `pid`; the first call of [`Fds::changes`] tells all.
    pub fn new(pid: i32, opened: Option<opened::Listed>, closed: Option<closed::Asked>) -> Fds {
        Fds {
            pid,
            links: Links::new(pid, opened),
            open: HashMap::new(),
            all: true,
            wanted: HashMap::new(),
            missed: HashSet::new(),
            next: Instant::now(),
            hurries: false,
            closed,
            looked: 0,
        }
    }

    /// Has the next changes be all that is open, with what is known of it.
    pub fn begin_anew(&mut self) {
        self.all = true;
    }

    /// Has the next look read the tables, whatever that costs.
    pub fn hurry(&mut self) {
        self.next = Instant::now();
        self.hurries = true;
    }

    /// What changed since the last call, in the order of time. The addresses of a new socket may be told later than it.
    pub fn changes(&mut self) -> Vec<Line> {
        let ts = now_ns();
        let links = self.links.read();
        let mut lines = self.closings(&links);
        let is_new = |fd: &i32, link: &String| self.open.get(fd).is_none_or(|f| f.link != *link);
        let socket = |(fd, link): &(i32, String)| Some((parse::socket_inode(link)?, *fd));
        let still: HashSet<u64> = links.iter().filter_map(socket).map(|(i, _)| i).collect();
        let news = links.iter().filter(|(fd, link)| is_new(fd, link));
        self.wanted.retain(|inode, _| still.contains(inode));
        self.wanted.extend(news.filter_map(socket));
        let found = self.look();
        let (mut opened, mut closed, open, unsettled) = compare(&self.open, links, &found);
        self.open = open;
        self.wanted.extend(unsettled);
        if std::mem::take(&mut self.all) {
            lines.clear();
            opened = self.open.values().cloned().collect();
            closed.clear();
        }
        if !opened.is_empty() || !closed.is_empty() {
            lines.push(Line::Fds { ts, opened, closed });
        }
        self.looked = ts;
        lines
    }

    /// Connections that are open no more, of which the kernel knows the end: with whom they were, if that was not known, and
    /// when each ended. Those that ended so count no longer as open.
    fn closings(&mut self, links: &[(i32, String)]) -> Vec<Line> {
        let Some(asked) = &self.closed else {
            return Vec::new();
        };
        let still: HashMap<i32, &str> = links.iter().map(|(fd, l)| (*fd, l.as_str())).collect();
        let mut gone: Vec<(i32, u64)> = self
            .open
            .values()
            .filter(|f| still.get(&f.fd) != Some(&f.link.as_str()))
            .filter_map(|f| Some((f.fd, parse::socket_inode(&f.link)?)))
            .collect();
        let mut known = HashMap::new();
        let mut ask = |gone: &mut Vec<(i32, u64)>| {
            gone.retain(|(fd, inode)| match asked(*inode) {
                Some(end) => {
                    known.insert(*fd, end);
                    false
                }
                None => true,
            });
        };
        ask(&mut gone);
        if !gone.is_empty() {
            // Its descriptor goes first, then the connection.
            std::thread::sleep(IN_BETWEEN);
            ask(&mut gone);
        }
        let looked = self.looked;
        let mut with_whom = Vec::new();
        let mut ends = Vec::new();
        self.open.retain(|fd, seen| {
            let Some(end) = known.get(fd) else {
                return true;
            };
            if seen.remote.is_none() {
                let (local, remote) = (end.local.to_string(), end.remote.to_string());
                with_whom.push(FdSeen {
                    local: Some(local),
                    remote: Some(remote),
                    ..seen.clone()
                });
            }
            // One that was open at the last look has been shut down before that: when it was closed is not known.
            let is_known = end.ts >= looked;
            if is_known {
                ends.push((end.ts, *fd));
            }
            !is_known
        });
        ends.sort_unstable();
        let told = (!with_whom.is_empty()).then_some(Line::Fds {
            ts: looked,
            opened: with_whom,
            closed: Vec::new(),
        });
        let ends = ends.into_iter().map(|(ts, fd)| Line::Fds {
            ts,
            opened: Vec::new(),
            closed: vec![fd],
        });
        told.into_iter().chain(ends).collect()
    }

    /// What is wanted, as far as tables may be read now and have it.
    fn look(&mut self) -> HashMap<u64, Socket> {
        let begin = Instant::now();
        if begin < self.next {
            return HashMap::new();
        }
        // Under load most that are wanted have just been closed, or are about to be. Only for one that stays, and for what
        // was open from the first, all tables are read; and none for others where the kernel tells of them when they are closed.
        let everywhere =
            self.open.is_empty() || self.wanted.keys().any(|i| self.missed.contains(i));
        let hurries = std::mem::take(&mut self.hurries);
        if self.closed.is_some() && !everywhere && !hurries {
            self.missed = self.wanted.keys().copied().collect();
            return HashMap::new();
        }
        let spent = thread_cpu_ns();
        let found = sockets(self.pid, &mut self.wanted, everywhere);
        if everywhere {
            self.wanted.clear(); // sockets that have no address
        }
        self.missed = self.wanted.keys().copied().collect();
        self.next = begin + thread_cpu_since(spent) * TABLES_SHARE;
        found
    }

    /// Connections that nobody has accepted yet, in the fullest queue of those that it listens with.
    pub fn accept_queue(&self) -> u32 {
        let all = self.open.values();
        let sockets_of = all.filter_map(|f| Some((parse::socket_inode(&f.link)?, f.fd)));
        sockets(self.pid, &mut sockets_of.collect(), true)
            .values()
            .filter(|s| s.listens)
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

/// What is new or other than before, what is gone, what is open now, and which sockets among it may yet be connected. Those
/// seen before that are not among `sockets` keep their addresses.
fn compare(
    before: &Open,
    links: Vec<(i32, String)>,
    sockets: &HashMap<u64, Socket>,
) -> (Vec<FdSeen>, Vec<i32>, Open, HashMap<u64, i32>) {
    let mut opened = Vec::new();
    let mut open = Open::with_capacity(links.len());
    let mut unsettled = HashMap::new();
    for (fd, link) in links {
        let old = before.get(&fd).filter(|f| f.link == link);
        let inode = parse::socket_inode(&link);
        let socket = inode.and_then(|i| sockets.get(&i));
        let (local, remote) = match (socket, old) {
            (Some(s), _) => (Some(s.local.to_string()), s.remote.map(|r| r.to_string())),
            (None, Some(old)) => (old.local.clone(), old.remote.clone()),
            (None, None) => (None, None),
        };
        // One that is bound but neither listens nor is connected may be about to connect.
        unsettled.extend(
            socket
                .filter(|s| !s.listens && s.remote.is_none())
                .map(|s| (s.inode, fd)),
        );
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

fn inode_behind(pid: i32, fd: i32) -> Option<u64> {
    parse::socket_inode(&links::of(pid, fd)?)
}

/// Those of these inodes, behind these descriptors, that are sockets with addresses, and are then no longer wanted; from all
/// tables if `everywhere`, else from the first that has any: a JVM's sockets are of one family.
fn sockets(pid: i32, wanted: &mut HashMap<u64, i32>, everywhere: bool) -> HashMap<u64, Socket> {
    let mut found = HashMap::new();
    for table in TABLES {
        if wanted.is_empty() || (!everywhere && !found.is_empty()) {
            break;
        }
        // Absent without IPv6, or when the process has just gone.
        let Ok(file) = File::open(format!("/proc/{pid}/net/{table}")) else {
            continue;
        };
        // Not to its end where nothing more is wanted: the kernel walks through the table again to tell that it is over.
        for line in BufReader::new(file).lines().map_while(io::Result::ok) {
            let Some(socket) = parse::socket(&line) else {
                continue;
            };
            if wanted.remove(&socket.inode).is_some() {
                found.insert(socket.inode, socket);
                if wanted.is_empty() {
                    break;
                }
            }
        }
        // Those that have been closed meanwhile are in no table, and not worth reading the others.
        wanted.retain(|inode, fd| inode_behind(pid, *fd) == Some(*inode));
    }
    found
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

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
        let (opened, closed, open, unsettled) = compare(&Open::new(), first.clone(), &sockets);
        assert_eq!((opened.len(), closed.len()), (2, 0));
        assert_eq!(unsettled, HashMap::from([(9, 5)]));

        let connected = HashMap::from([socket(9, Some("127.0.0.1:99"))]);
        let (opened, _, open, unsettled) = compare(&open, first.clone(), &connected);
        assert_eq!(opened.len(), 1, "it was connected");
        assert_eq!(opened[0].remote.as_deref(), Some("127.0.0.1:99"));
        assert!(unsettled.is_empty());
        let none = HashMap::new();

        let (opened, closed, open, _) = compare(&open, first, &none);
        assert!(opened.is_empty() && closed.is_empty(), "nothing changed");

        let (opened, closed, _, _) = compare(&open, links(&[(5, "socket:[10]")]), &none);
        assert_eq!(opened[0].link, "socket:[10]", "the number was used again");
        assert_eq!(
            opened[0].local, None,
            "and the old addresses are not its own"
        );
        assert_eq!(closed, [0]);
    }

    #[test]
    fn what_begins_anew_has_all_that_is_open_with_addresses_that_are_known() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut fds = Fds::new(std::process::id() as i32, None, None);
        fds.changes();
        fds.begin_anew();
        let [Line::Fds { opened, closed, .. }] = &fds.changes()[..] else {
            panic!("nothing is open")
        };
        let own = opened.iter().find(|f| f.fd == listener.as_raw_fd());
        let address = listener.local_addr().expect("an address").to_string();
        assert_eq!(own.and_then(|f| f.local.clone()), Some(address));
        assert!(closed.is_empty());
    }

    #[test]
    fn connections_that_nobody_has_accepted_are_counted() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut fds = Fds::new(std::process::id() as i32, None, None);
        fds.changes();
        let before = fds.accept_queue();
        let clients: Vec<_> = (0..40)
            .map(|_| std::net::TcpStream::connect(address).expect("connected"))
            .collect();
        assert!(before < 40 && fds.accept_queue() >= clients.len() as u32);
    }

    #[test]
    fn sockets_of_both_families_get_their_addresses_in_the_end() {
        let mut fds = Fds::new(std::process::id() as i32, None, None);
        fds.changes();
        let listen = |on: &str| std::net::TcpListener::bind(on).expect("a port");
        // Without IPv6, two of one family: then nothing is missed.
        let has_ipv6 = std::net::TcpListener::bind("[::1]:0").is_ok();
        let six = listen(if has_ipv6 { "[::1]:0" } else { "127.0.0.2:0" });
        let four = listen("127.0.0.1:0");
        let mut told = HashMap::new();
        for _ in 0..2 {
            fds.hurry();
            for line in fds.changes() {
                let Line::Fds { opened, .. } = line else {
                    panic!("of descriptors only")
                };
                told.extend(opened.into_iter().map(|f| (f.fd, f.local)));
            }
        }
        for listener in [six, four] {
            let own = listener.local_addr().expect("an address").to_string();
            assert_eq!(told[&listener.as_raw_fd()], Some(own));
        }
    }

    #[test]
    fn a_connection_that_is_closed_between_two_looks_has_its_peer_and_its_end() {
        let soon = now_ns() + 1_000_000_000_000;
        assert_eq!(told_of_one(soon), [Some(soon)]);
        // It was shut down before the first of them, and closed who knows when.
        assert_eq!(told_of_one(5), [None]);
    }

    /// Of a connection of which the kernel says that it ended then: with whom it was, and at which of these times it ended.
    fn told_of_one(ended: i64) -> Vec<Option<i64>> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let told = closed::Closed {
            ts: ended,
            local: "127.0.0.1:80".parse().expect("an address"),
            remote: "127.0.0.1:99".parse().expect("an address"),
        };
        let mut fds = Fds::new(
            std::process::id() as i32,
            None,
            Some(Box::new(move |_| Some(told))),
        );
        fds.changes();
        let client = std::net::TcpStream::connect(address).expect("connected");
        let fd = client.as_raw_fd();
        let inode = inode_behind(std::process::id() as i32, fd).expect("a socket");
        let link = format!("socket:[{inode}]"); // another test may get the descriptor
        fds.next = Instant::now() + Duration::from_secs(60); // tables are too dear
        fds.changes();
        drop(client);
        let (mut has_peer, mut ends) = (false, Vec::new());
        for line in fds.changes() {
            let Line::Fds { ts, opened, closed } = line else {
                panic!("of descriptors only")
            };
            has_peer |= opened
                .iter()
                .any(|f| f.link == link && f.remote.as_deref() == Some("127.0.0.1:99"));
            if closed.contains(&fd) || opened.iter().any(|f| f.fd == fd && f.link != link) {
                assert!(has_peer, "it is told before the end");
                ends.push((ts == ended).then_some(ts));
            }
        }
        ends.truncate(1); // the descriptor may have been another test's since
        ends
    }

    #[test]
    fn our_own_connection_is_found_with_both_addresses() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = std::net::TcpStream::connect(address).expect("connected");
        let mut fds = Fds::new(std::process::id() as i32, None, None);
        let [Line::Fds { opened, .. }] = &fds.changes()[..] else {
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
