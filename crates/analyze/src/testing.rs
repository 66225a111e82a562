//! Spools made by hand, for tests here and in the crates that read traces.
//!
//! Not part of any command. A test writes what the kernel and the agent would have written, and
//! [`crate::build`] makes a trace of it.

use std::collections::HashMap;
use std::path::Path;

use loadline_trace::Trace;
use loadline_trace::meta::{Level, Meta};
use loadline_trace::spool::agent::{self, CHUNK, CHUNK_MAGIC, EVENT};
use loadline_trace::spool::frames::{self, Frame, KERNEL, NATIVE};
use loadline_trace::spool::session::Session;
use loadline_trace::spool::{RawDir, kernel, procfs};

/// The trace of spools that were kept as a fixture: copied into `dir`, an empty directory, and built there.
///
/// # Panics
///
/// If they cannot be read or make no trace.
pub fn built(fixture: &Path, dir: &Path) -> Trace {
    copied(fixture, dir);
    crate::build(dir, false, &mut |_, _| {}).expect("tables");
    Trace::open(dir).expect("it opens")
}

/// Spools as they lie in `fixture`, in `dir`.
///
/// # Panics
///
/// If they cannot be read, or there are some.
pub fn copied(fixture: &Path, dir: &Path) {
    let raw = dir.join("raw");
    std::fs::create_dir(&raw).expect("an empty directory");
    for file in std::fs::read_dir(fixture).expect("the fixture") {
        let file = file.expect("an entry");
        std::fs::copy(file.path(), raw.join(file.file_name())).expect("copied");
    }
}

/// Tables of the spools in `dir`, made with lists of at most `most` bytes in memory.
///
/// # Errors
///
/// As [`build`](crate::build).
pub fn build_within(most: usize, dir: &Path) -> anyhow::Result<Meta> {
    crate::build::build_within(most, dir, false, &mut |_, _| {})
}

/// The bytes of one CPU's kernel spool.
#[derive(Debug, Clone, Default)]
pub struct KernelSpool(
    /// The bytes so far.
    pub Vec<u8>,
);

impl KernelSpool {
    #[allow(clippy::too_many_arguments)]
    fn record(
        &mut self,
        ts: i64,
        kind: u8,
        flags: u8,
        cpu: u16,
        tid: u32,
        a: u32,
        b: u32,
        c: u64,
    ) -> &mut Self {
        self.0.extend((kernel::HEAD as u32).to_le_bytes());
        self.0.extend([0; 4]);
        self.0.extend(ts.to_le_bytes());
        self.0.extend([kind, flags]);
        self.0.extend(cpu.to_le_bytes());
        self.0.extend(tid.to_le_bytes());
        self.0.extend(a.to_le_bytes());
        self.0.extend(b.to_le_bytes());
        self.0.extend(c.to_le_bytes());
        self
    }

    /// `prev` leaves `cpu` in the state `left` and `next` arrives; tids below 1000 are the target's.
    pub fn switch(&mut self, ts: i64, cpu: u16, prev: u32, left: u8, next: u32) -> &mut Self {
        self.switch_in(ts, cpu, prev, left, next, None, None)
    }

    /// As [`KernelSpool::switch`], with the system call and the descriptor that it blocks in.
    #[allow(clippy::too_many_arguments)]
    pub fn switch_in(
        &mut self,
        ts: i64,
        cpu: u16,
        prev: u32,
        left: u8,
        next: u32,
        syscall: Option<u32>,
        fd: Option<i32>,
    ) -> &mut Self {
        let traced = |tid: u32, bit: u8| if tid != 0 && tid < 1000 { bit } else { 0 };
        let flags = left | traced(prev, kernel::PREV_TRACED) | traced(next, kernel::NEXT_TRACED);
        self.record(
            ts,
            kernel::SWITCH,
            flags,
            cpu,
            prev,
            next,
            syscall.map_or(0, |n| n + 1),
            u64::from(fd.unwrap_or(-1) as u32),
        )
    }

    /// The last switch tells the CPU time of who left, ns.
    pub fn with_cpu_time(&mut self, ns: i64) -> &mut Self {
        let at = self.0.len() - kernel::HEAD;
        self.0[at + 9] |= kernel::CPU_TIME_TOLD;
        let told = (ns / kernel::CPU_TIME_NS) as u32;
        self.0[at + 28..].copy_from_slice(&told.to_le_bytes());
        self
    }

    /// `waker` is about to wake `tid`.
    pub fn waking(&mut self, ts: i64, tid: u32, waker: u32) -> &mut Self {
        self.record(ts, kernel::WAKING, kernel::BY_THREAD, 0, tid, waker, 0, 0)
    }

    /// An interrupt is about to wake `tid`, while `interrupted` was on the CPU.
    pub fn waking_by_interrupt(&mut self, ts: i64, tid: u32, interrupted: u32) -> &mut Self {
        self.record(
            ts,
            kernel::WAKING,
            kernel::BY_INTERRUPT,
            0,
            tid,
            interrupted,
            0,
            0,
        )
    }

    /// `tid` is in a run queue.
    pub fn wakeup(&mut self, ts: i64, tid: u32) -> &mut Self {
        self.record(ts, kernel::WAKEUP, 0, 0, tid, 0, 0, 0)
    }

    /// `parent` made `tid`.
    pub fn new_thread(&mut self, ts: i64, tid: u32, parent: u32) -> &mut Self {
        self.record(ts, kernel::NEW, 0, 0, tid, tid, parent, 0)
    }

    /// `tid` dies.
    pub fn exit(&mut self, ts: i64, tid: u32) -> &mut Self {
        self.record(ts, kernel::EXIT, 0, 0, tid, 0, 0, 0)
    }

    /// A system call of `tid`.
    #[allow(clippy::too_many_arguments)]
    pub fn syscall(
        &mut self,
        begin: i64,
        end: i64,
        tid: u32,
        number: u32,
        fd: u32,
        size: u64,
        result: i64,
    ) -> &mut Self {
        self.0.extend((kernel::SYSCALL_SIZE as u32).to_le_bytes());
        self.0.extend([0; 4]);
        self.0.extend(end.to_le_bytes());
        self.0.extend([kernel::SYSCALL, 0, 0, 0]);
        for v in [tid, number, fd] {
            self.0.extend(v.to_le_bytes());
        }
        self.0.extend(0u64.to_le_bytes());
        self.0.extend(begin.to_le_bytes());
        self.0.extend(size.to_le_bytes());
        self.0.extend(result.to_le_bytes());
        self
    }
}

/// An agent's spool, one writer per tid.
#[derive(Debug, Clone, Default)]
pub struct AgentSpool {
    /// (tid, ts, type, a, b, c), in the order of writing.
    pub events: Vec<(u32, i64, u32, u64, u64, u32)>,
    /// The agent had probes in place: it was there at start.
    pub has_probes: bool,
    frames: Vec<Frame>,
    strings: Vec<String>,
    ids: HashMap<String, u32>,
}

impl AgentSpool {
    /// Id of a string; the empty text is 0.
    pub fn text(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        self.strings.push(text.into());
        let id = self.strings.len() as u32;
        self.ids.insert(text.into(), id);
        id
    }

    /// An event of the thread `tid`.
    pub fn event(&mut self, tid: u32, ts: i64, kind: u32, a: u64, b: u64, text: &str) -> &mut Self {
        let c = self.text(text);
        self.events.push((tid, ts, kind, a, b, c));
        self
    }

    /// A stack, the outermost frame first, as (method, line); what the end of a wait that was in it says in `b`. `libc.so.6!write`
    /// is a function of a library, `kernel!system call` the kernel's.
    pub fn stack(&mut self, methods: &[(&str, i32)]) -> u64 {
        let mut parent = 0;
        for (method, line) in methods {
            let id = self.frames.len() as u32 + 1;
            let (kind, file, name) = match method.split_once('!') {
                None => (0, "Shop.java", *method),
                Some(("kernel", call)) => (KERNEL, "", call),
                Some((library, function)) => (NATIVE, library, function),
            };
            let (name, file) = (self.text(name), self.text(file));
            self.frames.push(Frame {
                id,
                parent,
                name,
                file,
                line: *line,
                kind,
            });
            parent = id;
        }
        u64::from(parent) << 32
    }

    /// The spool's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = agent::new_header(1 << 30, &agent::Asked::default());
        out[agent::at::STATE..][..4].copy_from_slice(&agent::state::STOPPED.to_le_bytes());
        let by = if self.has_probes { "probes" } else { "hooks" };
        let info = format!(
            r#"{{"jvm":"Test VM 25","java":25,"server":"Apache Tomcat/11.0.9","name":"shop","server_by":"{by}"}}"#
        );
        out[agent::at::INFO..][..info.len()].copy_from_slice(info.as_bytes());
        let mut tids: Vec<u32> = self.events.iter().map(|e| e.0).collect();
        tids.sort_unstable();
        tids.dedup();
        for tid in tids {
            let mine: Vec<_> = self.events.iter().filter(|e| e.0 == tid).collect();
            for part in mine.chunks(CHUNK / EVENT - 1) {
                let mut chunk = chunk_head(agent::chunk_kind::EVENTS, tid);
                for (_, ts, kind, a, b, c) in part {
                    chunk.extend(ts.to_le_bytes());
                    chunk.extend(kind.to_le_bytes());
                    chunk.extend(c.to_le_bytes());
                    chunk.extend(a.to_le_bytes());
                    chunk.extend(b.to_le_bytes());
                }
                chunk.resize(CHUNK, 0);
                out.extend(chunk);
            }
        }
        let mut chunk = chunk_head(agent::chunk_kind::FRAMES, 0);
        chunk.extend(self.frames.iter().flat_map(frames::bytes));
        chunk.resize(CHUNK, 0);
        out.extend(chunk);
        let mut chunk = chunk_head(agent::chunk_kind::STRINGS, 0);
        for (i, text) in self.strings.iter().enumerate() {
            chunk.extend((i as u32 + 1).to_le_bytes());
            chunk.extend((text.len() as u32).to_le_bytes());
            chunk.extend(text.as_bytes());
            chunk.resize(chunk.len().next_multiple_of(8), 0);
        }
        chunk.resize(CHUNK, 0);
        out.extend(chunk);
        let next = out.len() as u64;
        out[agent::at::NEXT..][..8].copy_from_slice(&next.to_le_bytes());
        out
    }
}

fn chunk_head(kind: u32, tid: u32) -> Vec<u8> {
    let mut chunk = CHUNK_MAGIC.to_le_bytes().to_vec();
    chunk.extend(kind.to_le_bytes());
    chunk.extend(tid.to_le_bytes());
    chunk.resize(EVENT, 0);
    chunk
}

/// A whole recording.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// Kernel spools, one per CPU.
    pub kernel: Vec<KernelSpool>,
    /// The agent's.
    pub agent: AgentSpool,
    /// Lines of `proc.jsonl`.
    pub proc: Vec<procfs::Line>,
    /// `session.json`; see [`Recording::new`].
    pub session: Session,
}

/// What a query says of a trace, as text; nothing for null.
pub fn answer(trace: &Trace, sql: &str) -> Vec<Vec<String>> {
    let found = crate::query::run(trace, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let row = |r: Vec<Option<String>>| r.into_iter().map(Option::unwrap_or_default).collect();
    found.rows.into_iter().map(row).collect()
}

impl Recording {
    /// The trace that is made of it, and the directory that it goes with.
    pub fn traced(&self) -> (tempfile::TempDir, Trace) {
        let dir = tempfile::tempdir().expect("a directory");
        self.write(dir.path()).expect("spools");
        crate::build(dir.path(), false, &mut |_, _| {}).expect("a trace");
        let trace = Trace::open(dir.path()).expect("it opens");
        (dir, trace)
    }

    /// A recording of all levels from `begin` to `end`.
    pub fn new(begin: i64, end: i64) -> Recording {
        let on = Level {
            recorded: true,
            why: String::new(),
        };
        let levels = ["kernel", "jvm", "server", "app"].map(|l| (l.to_string(), on.clone()));
        let mut session = Session {
            writer: "loadline test".into(),
            begin_ns: begin,
            end_ns: end,
            ended: "stopped".into(),
            levels: levels.into(),
            ..Session::default()
        };
        session.target.pid = 4000;
        session.target_nspid = 4000;
        session.target.name = "shop".into();
        session.machine.cpus = 2;
        session.machine.target_cpus = 2;
        Recording {
            session,
            ..Recording::default()
        }
    }

    /// Says that these threads existed at `ts` in this state.
    pub fn threads(&mut self, ts: i64, threads: &[(i32, &str, char)]) -> &mut Self {
        let threads = threads
            .iter()
            .map(|&(tid, comm, state)| procfs::ThreadSeen {
                tid,
                nstid: tid,
                comm: comm.into(),
                state,
                ts,
                syscall: None,
                fd: None,
            })
            .collect();
        self.proc.push(procfs::Line::Threads { ts, threads });
        self
    }

    /// Writes it as raw spools below `dir`.
    pub fn write(&self, dir: &Path) -> std::io::Result<()> {
        let raw = RawDir::of(dir);
        std::fs::create_dir_all(raw.path())?;
        for (cpu, spool) in self.kernel.iter().enumerate() {
            std::fs::write(raw.kernel(cpu), &spool.0)?;
        }
        std::fs::write(raw.agent(), self.agent.bytes())?;
        self.write_small(&raw)
    }

    /// Writes only what is small: `proc.jsonl` and `session.json`.
    pub fn write_small(&self, raw: &RawDir) -> std::io::Result<()> {
        let mut lines = String::new();
        for line in &self.proc {
            lines += &serde_json::to_string(line).map_err(std::io::Error::other)?;
            lines.push('\n');
        }
        std::fs::write(raw.procfs(), lines)?;
        let session = serde_json::to_string(&self.session).map_err(std::io::Error::other)?;
        std::fs::write(raw.session(), session)
    }
}
