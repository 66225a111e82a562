//! Raw spools of a busy server, as large as asked for: what `bench/table-build` builds tables of.
//!
//! `spools DIR EVENTS [WORKERS]`. Forty workers (or as many as said, a multiple of four) on four CPUs serve requests with two statements and, in every
//! fourth, a contended monitor; a third of the events come from the kernel. They are written as they
//! are made, so that the size is bounded by the disk alone. The same arguments give the same bytes.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use loadline_analyze::testing::{KernelSpool, Recording};
use loadline_trace::spool::agent::{self, CHUNK, EVENT, kind as ev};
use loadline_trace::spool::kernel::{LEFT_BLOCKED, LEFT_RUNNABLE};
use loadline_trace::spool::{RawDir, procfs};

const CPUS: usize = 4;
const WORKERS: usize = 40;
const FIRST_WORKER: u32 = 100;
/// The spools' writer takes kernel ids below 1000 for the target's.
const MOST_WORKERS: usize = 800;
const POLLER: u32 = 90;
const REQUESTS_PER_CONNECTION: u64 = 50;
/// Texts, by id from 1 on.
const TEXTS: [&str; 9] = [
    "127.0.0.1",
    "GET /item/1",
    "GET /search",
    "GET /bid",
    "dispatcher",
    "SELECT id, name FROM item WHERE category = ?",
    "UPDATE item SET bids = bids + ? WHERE id = ?",
    "pool",
    "shop.Cache",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(dir), Some(events)) = (args.next(), args.next()) else {
        return Err("usage: spools DIR EVENTS [WORKERS]".into());
    };
    let workers = args.next().map_or(Ok(WORKERS), |n| n.parse())?;
    if workers == 0 || workers % CPUS != 0 || workers > MOST_WORKERS {
        return Err(format!(
            "{workers} workers: it must be a multiple of {CPUS} up to {MOST_WORKERS}"
        )
        .into());
    }
    let mut site = Site::new(dir.as_ref(), workers)?;
    let wanted: u64 = events.parse()?;
    while site.events < wanted {
        site.request()?;
    }
    println!("{}", site.finish(dir.as_ref())?);
    Ok(())
}

/// One CPU: its spool, and how far its time has come.
struct Cpu {
    spool: KernelSpool,
    file: BufWriter<File>,
    now: i64,
}

/// One worker: the chunk that it writes, and the connection that it serves.
struct Worker {
    chunk: Vec<u8>,
    connection: u64,
}

struct Site {
    cpus: Vec<Cpu>,
    workers: Vec<Worker>,
    agent: BufWriter<File>,
    agent_bytes: u64,
    requests: u64,
    events: u64,
}

impl Site {
    fn new(dir: &Path, workers: usize) -> std::io::Result<Site> {
        let raw = RawDir::of(dir);
        std::fs::create_dir_all(raw.path())?;
        let cpu = |n| {
            Ok(Cpu {
                spool: KernelSpool::default(),
                file: BufWriter::with_capacity(1 << 20, File::create(raw.kernel(n))?),
                now: 1_000_000,
            })
        };
        let mut agent = BufWriter::with_capacity(1 << 20, File::create(raw.agent())?);
        agent.write_all(&agent::new_header(1 << 40, &agent::Asked::default()))?;
        let worker = |_| Worker {
            chunk: Vec::new(),
            connection: 0,
        };
        Ok(Site {
            cpus: (0..CPUS).map(cpu).collect::<std::io::Result<_>>()?,
            workers: (0..workers).map(worker).collect(),
            agent,
            agent_bytes: CHUNK as u64,
            requests: 0,
            events: 0,
        })
    }

    /// An event of a worker; `c` is an id of [`TEXTS`].
    fn event(&mut self, w: usize, kind: u32, a: u64, b: u64, c: u32) -> std::io::Result<()> {
        let cpu = &mut self.cpus[w % CPUS];
        cpu.now += 400;
        self.events += 1;
        let chunk = &mut self.workers[w].chunk;
        if chunk.is_empty() {
            chunk.extend(agent::CHUNK_MAGIC.to_le_bytes());
            chunk.extend(1u32.to_le_bytes());
            chunk.extend((FIRST_WORKER + w as u32).to_le_bytes());
            chunk.resize(EVENT, 0);
        }
        chunk.extend(cpu.now.to_le_bytes());
        chunk.extend(kind.to_le_bytes());
        chunk.extend(c.to_le_bytes());
        chunk.extend(a.to_le_bytes());
        chunk.extend(b.to_le_bytes());
        if chunk.len() == CHUNK {
            self.agent.write_all(chunk)?;
            self.agent_bytes += CHUNK as u64;
            chunk.clear();
        }
        Ok(())
    }

    /// The worker blocks in a call, is woken by somebody, and comes back.
    fn block(&mut self, w: usize, call: i64, fd: Option<i32>, ns: i64, waker: Option<u32>) {
        let tid = FIRST_WORKER + w as u32;
        let cpu = &mut self.cpus[w % CPUS];
        let at = cpu.now;
        let n = (w % CPUS) as u16;
        let k = &mut cpu.spool;
        k.switch_in(at + 300, n, tid, LEFT_BLOCKED, 0, Some(call as u32), fd);
        match waker {
            Some(waker) => k.waking(at + ns, tid, waker),
            None => k.waking_by_interrupt(at + ns, tid, 0),
        };
        k.wakeup(at + ns + 200, tid);
        k.switch(at + ns + 2_000, n, 0, LEFT_RUNNABLE, tid);
        cpu.now = at + ns + 2_500;
        self.events += 4;
    }

    /// One request of the worker whose CPU is furthest behind, of its workers the next.
    fn request(&mut self) -> std::io::Result<()> {
        let c = (0..CPUS).min_by_key(|&c| self.cpus[c].now).unwrap_or(0);
        let turn = (self.requests / CPUS as u64) as usize % (self.workers.len() / CPUS);
        let w = c + CPUS * turn;
        let r = self.requests;
        self.requests += 1;
        if r % REQUESTS_PER_CONNECTION < CPUS as u64 || self.workers[w].connection == 0 {
            let old = std::mem::replace(&mut self.workers[w].connection, 1_000 + r);
            if old != 0 {
                self.event(w, ev::CONN_CLOSE, old, 0, 0)?;
            }
            self.event(w, ev::CONN_OPEN, 1_000 + r, 40_000 + r % 20_000, 1)?;
        }
        let key = self.workers[w].connection;
        self.block(w, libc::SYS_futex, None, 30_000, Some(POLLER));
        self.event(w, ev::VISIT_BEGIN, key, 0, 0)?;
        self.event(w, ev::REQUEST_PARSE, 0, 0, 0)?;
        self.event(w, ev::REQUEST, 0, 0, 2 + (r % 3) as u32)?;
        self.event(w, ev::SERVICE_BEGIN, 0, 0, 5)?;
        self.event(w, ev::POOL_WAIT_BEGIN, 0, 0, 8)?;
        self.event(w, ev::POOL_WAIT_END, 7_000 + w as u64, 0, 0)?;
        for text in [6, 7] {
            self.event(w, ev::SQL_BEGIN, 0, 0, text)?;
            self.block(w, libc::SYS_recvfrom, Some(60), 90_000, None);
            self.event(w, ev::SQL_END, 0, 0, 0)?;
        }
        if r.is_multiple_of(4) {
            self.event(w, ev::MONITOR_ENTER, 4_711, 0, 9)?;
            let owner = FIRST_WORKER + ((w + CPUS) % self.workers.len()) as u32;
            self.block(w, libc::SYS_futex, None, 50_000, Some(owner));
            self.event(w, ev::MONITOR_ENTERED, 4_711, 0, 9)?;
        }
        self.event(w, ev::POOL_RELEASE, 7_000 + w as u64, 0, 0)?;
        self.event(w, ev::SERVICE_END, 0, 0, 0)?;
        self.event(w, ev::STATUS, 0, 200, 0)?;
        self.event(w, ev::REQUEST_END, 0, 0, 0)?;
        self.event(w, ev::VISIT_END, key, 0, 0)?;
        let cpu = &mut self.cpus[c];
        if cpu.spool.0.len() > 1 << 20 {
            cpu.file.write_all(&cpu.spool.0)?;
            cpu.spool.0.clear();
        }
        Ok(())
    }

    /// Writes what is left; what was made, as JSON.
    fn finish(mut self, dir: &Path) -> Result<serde_json::Value, Box<dyn Error>> {
        let raw = RawDir::of(dir);
        let workers = self.workers.len() as i32;
        for mut worker in std::mem::take(&mut self.workers) {
            worker.chunk.resize(CHUNK, 0);
            self.agent.write_all(&worker.chunk)?;
            self.agent_bytes += CHUNK as u64;
        }
        let mut strings = agent::CHUNK_MAGIC.to_le_bytes().to_vec();
        strings.extend(2u32.to_le_bytes());
        strings.resize(EVENT, 0);
        for (i, text) in TEXTS.iter().enumerate() {
            strings.extend((i as u32 + 1).to_le_bytes());
            strings.extend((text.len() as u32).to_le_bytes());
            strings.extend(text.as_bytes());
            strings.resize(strings.len().next_multiple_of(8), 0);
        }
        strings.resize(CHUNK, 0);
        self.agent.write_all(&strings)?;
        self.agent_bytes += CHUNK as u64;
        let mut agent = self.agent.into_inner()?;
        agent.seek(SeekFrom::Start(agent::at::NEXT as u64))?;
        agent.write_all(&self.agent_bytes.to_le_bytes())?;
        agent.seek(SeekFrom::Start(agent::at::STATE as u64))?;
        agent.write_all(&agent::state::STOPPED.to_le_bytes())?;
        let mut end = 0;
        let mut bytes = self.agent_bytes;
        for mut cpu in self.cpus {
            cpu.file.write_all(&cpu.spool.0)?;
            bytes += cpu.file.into_inner()?.metadata()?.len();
            end = end.max(cpu.now);
        }
        let mut recording = Recording::new(0, end + 1_000_000);
        recording.session.machine.cpus = CPUS as u32;
        recording.session.machine.target_cpus = CPUS as u32;
        let names: Vec<(i32, String, char)> = (0..workers)
            .map(|w| (FIRST_WORKER as i32 + w, format!("exec-{w}"), 'S'))
            .chain([(POLLER as i32, "poller".into(), 'S')])
            .collect();
        let threads: Vec<_> = names.iter().map(|t| (t.0, t.1.as_str(), t.2)).collect();
        recording.threads(500_000, &threads);
        recording.proc.push(procfs::Line::Fds {
            ts: 500_000,
            opened: vec![procfs::FdSeen {
                fd: 60,
                link: "socket:[60]".into(),
                local: Some("127.0.0.1:50000".into()),
                remote: Some("127.0.0.1:5432".into()),
            }],
            closed: vec![],
        });
        recording.write_small(&raw)?;
        let (events, requests) = (self.events, self.requests);
        Ok(serde_json::json!({"events": events, "requests": requests, "bytes": bytes}))
    }
}
