//! Who is who: one list of threads out of four sources that each know a part.
//!
//! The kernel knows lives and ids in the recorder's pid namespace; `/proc` knows names of 15
//! characters and both ids; the thread dump and the agent know Java names, Java ids and ids in
//! the target's namespace. Kernel ids are used again, so an id means a thread only together with a
//! time. Virtual threads have a Java id and nothing else.

pub mod kind;

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::spool::procfs::Line;
use loadline_trace::spool::session::Session;
use loadline_trace::spool::threaddump;
use loadline_trace::tables;
use rustc_hash::FxHashMap;

use crate::model::NONE;
use crate::states::Life;

/// Events that say something of threads. Of all others the first of each thread does: that it is there.
pub const KINDS: [u32; 5] = [
    ev::THREAD,
    ev::THREAD_END,
    ev::SWITCH_TO,
    ev::MOUNT,
    ev::MONITOR_ENTER,
];

/// A thread as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// In the recorder's pid namespace.
    pub tid: Option<u32>,
    /// In the target's.
    pub nstid: Option<u32>,
    /// `Thread.threadId()`.
    pub java_id: Option<u64>,
    /// Java's name of it.
    pub name: Option<String>,
    /// The kernel's.
    pub comm: Option<String>,
    /// Whether it is a virtual thread.
    pub is_virtual: bool,
    /// Whether it carries virtual threads.
    pub is_carrier: bool,
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// Kernel id of the thread that started it.
    pub parent: Option<u32>,
}

impl Info {
    fn new(tid: Option<u32>, nstid: Option<u32>, begin: i64, end: i64) -> Info {
        Info {
            tid,
            nstid,
            java_id: None,
            name: None,
            comm: None,
            is_virtual: false,
            is_carrier: false,
            begin,
            end,
            parent: None,
        }
    }

    /// One of the kinds of `threads.kind`.
    pub fn kind(&self) -> &'static str {
        let name = self.name.as_deref().or(self.comm.as_deref()).unwrap_or("");
        kind::of(
            name,
            self.java_id.is_some(),
            self.is_virtual,
            self.is_carrier,
        )
    }
}

/// All threads; a thread's index is its id in the trace.
#[derive(Debug, Default)]
pub struct Threads {
    /// The threads.
    pub list: Vec<Info>,
    by_tid: FxHashMap<u32, Vec<u32>>,
    by_nstid: FxHashMap<u32, Vec<u32>>,
    by_java: FxHashMap<u64, u32>,
    /// Whether the agent told of mounts: there are virtual threads, and a JDK that says where they are.
    pub tells_mounts: bool,
}

/// The recording's limits, and whether the target's thread ids are the recorder's.
#[derive(Debug, Clone, Copy)]
pub struct Scope {
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// Both have the same pid namespace.
    pub same_ids: bool,
}

impl Scope {
    /// Of a session that ended at `end`.
    pub fn of(session: &Session, end: i64) -> Scope {
        let same_ids = session.target_nspid == 0 || session.target_nspid == session.target.pid;
        Scope {
            begin: session.begin_ns,
            end,
            same_ids,
        }
    }
}

impl Threads {
    /// Puts the sources together; `events` are the agent's, by time: those of [`KINDS`], and each thread's first.
    pub fn new(
        scope: Scope,
        lives: &[Life],
        proc: &[Line],
        events: impl Iterator<Item = Event>,
        text: &dyn Fn(u32) -> Option<String>,
    ) -> Threads {
        let mut threads = Threads::default();
        let namespace = namespaces(proc);
        for life in lives {
            let nstid = life
                .nstid
                .or_else(|| namespace.get(&life.tid).copied())
                .or(scope.same_ids.then_some(life.tid));
            let mut info = Info::new(Some(life.tid), nstid, life.begin, life.end);
            info.parent = life.parent;
            threads.add(info);
        }
        if lives.is_empty() {
            threads.add_from_proc(scope, proc);
        }
        threads.name_from_proc(proc);
        threads.learn_from_agent(scope, lives.len(), events, text);
        for line in proc {
            if let Line::JavaThreads { ts, dump } = line {
                threads.learn_from_dump(*ts, dump);
            }
        }
        threads
    }

    fn add(&mut self, info: Info) -> u32 {
        let id = self.list.len() as u32;
        if let Some(tid) = info.tid {
            self.by_tid.entry(tid).or_default().push(id);
        }
        if let Some(nstid) = info.nstid {
            self.by_nstid.entry(nstid).or_default().push(id);
        }
        self.list.push(info);
        id
    }

    fn at(&self, of: Option<&Vec<u32>>, ts: i64) -> Option<u32> {
        let of = of?;
        let begun = of
            .iter()
            .rev()
            .find(|&&id| self.list[id as usize].begin <= ts);
        begun.or(of.first()).copied()
    }

    /// The thread that had this id of the recorder's namespace at that time.
    pub fn by_tid(&self, tid: u32, ts: i64) -> Option<u32> {
        self.at(self.by_tid.get(&tid), ts)
    }

    /// The thread that had this id of the target's namespace at that time.
    pub fn by_nstid(&self, nstid: u32, ts: i64) -> Option<u32> {
        self.at(self.by_nstid.get(&nstid), ts)
    }

    /// The thread with this Java id.
    pub fn by_java(&self, java_id: u64) -> Option<u32> {
        self.by_java.get(&java_id).copied()
    }

    /// The thread that an event of the agent speaks of.
    pub fn actor(&self, e: &Event) -> u32 {
        let spoken_of = match e.kind {
            ev::MONITOR_ENTER if e.b != 0 => e.b,
            _ => e.virtual_id,
        };
        let of_java = if spoken_of == 0 {
            None
        } else {
            self.by_java(spoken_of)
        };
        of_java
            .or_else(|| self.by_nstid(e.tid, e.ts))
            .unwrap_or(NONE)
    }

    /// Without the kernel level: who was in `/proc`, from the look that showed it first (those of
    /// the first look: from the begin). That it ended, only the agent tells.
    fn add_from_proc(&mut self, scope: Scope, proc: &[Line]) {
        let mut begin = scope.begin;
        for line in proc {
            let Line::Threads { ts, threads } = line else {
                continue;
            };
            for t in threads {
                if !self.by_tid.contains_key(&(t.tid as u32)) {
                    let ids = (Some(t.tid as u32), Some(t.nstid as u32));
                    self.add(Info::new(ids.0, ids.1, begin, scope.end));
                }
            }
            begin = (*ts).clamp(scope.begin, scope.end);
        }
    }

    fn name_from_proc(&mut self, proc: &[Line]) {
        for line in proc {
            let Line::Threads { threads, .. } = line else {
                continue;
            };
            for t in threads {
                if let Some(id) = self.by_tid(t.tid as u32, t.ts) {
                    self.list[id as usize].comm = Some(t.comm.clone());
                }
            }
        }
    }

    /// The kernel knows best when its threads end: the first `lives` of the list.
    fn learn_from_agent(
        &mut self,
        scope: Scope,
        lives: usize,
        events: impl Iterator<Item = Event>,
        text: &dyn Fn(u32) -> Option<String>,
    ) {
        for e in events {
            self.tells_mounts |= e.kind == ev::MOUNT;
            let ts = e.ts.clamp(scope.begin, scope.end);
            match e.kind {
                ev::THREAD if e.virtual_id == 0 => {
                    let nstid = if e.b != 0 { e.b as u32 } else { e.tid };
                    if nstid == 0 {
                        continue; // the agent did not know yet; the thread dump may
                    }
                    let id = self.platform(scope, nstid, ts);
                    self.by_java.insert(e.a, id);
                    let (info, name) = (&mut self.list[id as usize], text(e.c));
                    // Where main ended its kernel thread waits for the others under this name.
                    if name.as_deref() != Some("DestroyJavaVM") || info.name.is_none() {
                        info.java_id = Some(e.a);
                        info.name = name.or(info.name.take());
                    }
                }
                ev::THREAD_END => {
                    if let Some(id) = self.by_java(e.a)
                        && id as usize >= lives
                    {
                        let t = &mut self.list[id as usize];
                        t.end = ts.max(t.begin);
                    }
                }
                ev::SWITCH_TO if e.a != 0 && e.tid != 0 => {
                    let carrier = self.platform(scope, e.tid, ts);
                    self.list[carrier as usize].is_carrier = true;
                    let name = text(e.c).map(|name| match e.b {
                        0 => name,
                        n => format!("{name}{}", n - 1),
                    });
                    self.virtual_thread(scope, e.a, name, ts);
                }
                ev::MONITOR_ENTER if e.b != 0 => {
                    self.virtual_thread(scope, e.b, None, ts);
                }
                _ if e.tid != 0 => {
                    self.platform(scope, e.tid, ts);
                }
                _ => {}
            }
        }
    }

    /// The platform thread with this id; made up if neither kernel nor `/proc` knew it.
    fn platform(&mut self, scope: Scope, nstid: u32, ts: i64) -> u32 {
        self.by_nstid(nstid, ts).unwrap_or_else(|| {
            self.add(Info::new(
                scope.same_ids.then_some(nstid),
                Some(nstid),
                ts,
                scope.end,
            ))
        })
    }

    fn virtual_thread(&mut self, scope: Scope, java_id: u64, name: Option<String>, ts: i64) {
        let id = self.by_java(java_id).unwrap_or_else(|| {
            let mut info = Info::new(None, None, ts, scope.end);
            info.java_id = Some(java_id);
            info.is_virtual = true;
            let id = self.add(info);
            self.by_java.insert(java_id, id);
            id
        });
        if name.is_some() {
            self.list[id as usize].name = name;
        }
    }

    fn learn_from_dump(&mut self, ts: i64, text: &str) {
        for t in threaddump::threads(text) {
            let Some(id) = self.by_nstid(t.nid, ts) else {
                continue;
            };
            let info = &mut self.list[id as usize];
            if info.java_id.is_none()
                && let Some(java_id) = t.java_id
            {
                info.java_id = Some(java_id);
                self.by_java.entry(java_id).or_insert(id);
            }
            info.name.get_or_insert(t.name);
        }
    }

    /// Rows of the table.
    pub fn rows(&self, pid: i32) -> impl Iterator<Item = tables::Thread> + '_ {
        self.list
            .iter()
            .enumerate()
            .map(move |(id, t)| tables::Thread {
                id: id as i64,
                tid: t.tid.map(|tid| tid as i32),
                pid,
                java_id: t.java_id.map(|id| id as i64),
                name: t
                    .name
                    .clone()
                    .or_else(|| t.comm.clone())
                    .unwrap_or_else(|| match (t.is_virtual, t.tid) {
                        (true, _) => format!("virtual {}", t.java_id.unwrap_or(0)),
                        (false, Some(tid)) => format!("thread {tid}"),
                        (false, None) => format!("thread {} of the target", t.nstid.unwrap_or(0)),
                    }),
                kind: t.kind(),
                begin_ns: t.begin,
                end_ns: t.end.max(t.begin),
                parent: t
                    .parent
                    .and_then(|tid| self.by_tid(tid, t.begin))
                    .map(i64::from),
            })
    }
}

/// Recorder's id to target's id, as `/proc` said.
fn namespaces(proc: &[Line]) -> FxHashMap<u32, u32> {
    let mut map = FxHashMap::default();
    for line in proc {
        if let Line::Threads { threads, .. } = line {
            map.extend(threads.iter().map(|t| (t.tid as u32, t.nstid as u32)));
        }
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_trace::spool::procfs::ThreadSeen;

    const SCOPE: Scope = Scope {
        begin: 0,
        end: 100,
        same_ids: false,
    };

    fn seen(tid: i32, nstid: i32, comm: &str) -> ThreadSeen {
        ThreadSeen {
            tid,
            nstid,
            comm: comm.into(),
            state: 'S',
            ts: 1,
            syscall: None,
            fd: None,
        }
    }

    fn event(ts: i64, kind: u32, a: u64, b: u64, tid: u32, virtual_id: u64) -> Event {
        Event {
            ts,
            kind,
            a,
            b,
            c: 1,
            tid,
            virtual_id,
        }
    }

    fn named(_: u32) -> Option<String> {
        Some("http-8443-exec-1".into())
    }

    #[test]
    fn ids_of_a_container_are_translated() {
        let proc = [Line::Threads {
            ts: 1,
            threads: vec![seen(7001, 12, "java")],
        }];
        let life = Life {
            tid: 7001,
            nstid: None,
            parent: None,
            begin: 0,
            end: 100,
        };
        let events = [event(5, ev::THREAD, 33, 0, 12, 0)];
        let t = Threads::new(SCOPE, &[life], &proc, events.into_iter(), &named);
        let rows: Vec<_> = t.rows(9).collect();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].tid, rows[0].java_id), (Some(7001), Some(33)));
        assert_eq!(rows[0].name, "http-8443-exec-1");
        assert_eq!(t.actor(&event(6, ev::REQUEST, 0, 0, 12, 0)), 0);
    }

    #[test]
    fn an_id_that_is_used_again_means_the_thread_of_its_time() {
        let life = |begin, end| Life {
            tid: 5,
            nstid: Some(5),
            parent: None,
            begin,
            end,
        };
        let t = Threads::new(
            SCOPE,
            &[life(0, 20), life(40, 100)],
            &[],
            std::iter::empty(),
            &named,
        );
        assert_eq!(t.by_tid(5, 10), Some(0));
        assert_eq!(t.by_tid(5, 30), Some(0));
        assert_eq!(t.by_tid(5, 60), Some(1));
    }

    #[test]
    fn a_virtual_thread_is_a_thread_of_its_own_and_makes_its_writer_a_carrier() {
        let life = Life {
            tid: 5,
            nstid: Some(5),
            parent: None,
            begin: 0,
            end: 100,
        };
        let events = [
            event(10, ev::SWITCH_TO, 77, 0, 5, 77),
            event(11, ev::PARK, 0, 0, 5, 77),
        ];
        let t = Threads::new(SCOPE, &[life], &[], events.into_iter(), &|_| None);
        assert_eq!(t.actor(&events[1]), 1);
        let rows: Vec<_> = t.rows(9).collect();
        assert_eq!((rows[0].kind, rows[1].kind), ("carrier", "virtual"));
        assert_eq!((rows[1].tid, rows[1].name.as_str()), (None, "virtual 77"));
    }

    #[test]
    fn without_the_kernel_a_thread_lives_from_the_look_before_it_was_seen_to_its_end() {
        let proc = [
            Line::Threads {
                ts: 5,
                threads: vec![seen(1, 1, "a"), seen(2, 2, "b")],
            },
            Line::Threads {
                ts: 50,
                threads: vec![seen(3, 3, "c")],
            },
        ];
        let events = [
            event(20, ev::THREAD, 33, 0, 2, 0),
            event(60, ev::THREAD_END, 33, 0, 2, 0),
        ];
        let t = Threads::new(SCOPE, &[], &proc, events.into_iter(), &|_| None);
        let lives: Vec<_> = t.rows(9).map(|r| (r.name, r.begin_ns, r.end_ns)).collect();
        let want = [("a", 0, 100), ("b", 0, 60), ("c", 5, 100)];
        assert_eq!(lives, want.map(|(n, b, e)| (n.to_string(), b, e)));
    }
}
