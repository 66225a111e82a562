//! Everything that a trace holds, as one sequence in the order of time.
//!
//! Terms: a *code* stands for a name and counts from 1 within its [`Domain`], the most frequent first; a *piece* is the
//! time in which one thread worked on a span: the whole span, or one of its `segments`.
//!
//! What always holds:
//! * at one moment, what ends comes before what begins, and of two intervals that begin or end together the outer one
//!   begins first and ends last: pieces that nest in time nest in the sequence;
//! * every begin has its end, but for states: a state ends where the next one of its thread begins, or the thread ends.

use std::collections::HashMap;

use anyhow::{Result, bail};
use loadline_trace::Trace;
use loadline_trace::duckdb::arrow::array::{Array, Float64Array, Int64Array, StringArray};
use loadline_trace::tables::{IS_CONNECTION, names};

use crate::Progress;
use crate::scratch::{Scratch, column};

/// Kernel states, in the order of their codes.
pub const STATES: [&str; 7] = [
    names::RUNNING,
    names::RUNNABLE,
    names::PREEMPTED,
    names::BLOCKED,
    names::UNINTERRUPTIBLE,
    names::UNKNOWN,
    names::CARRYING,
];
/// Kinds of spans, in the order of their codes.
pub const SPAN_KINDS: [&str; 11] = [
    "connection",
    "tls_handshake",
    "request",
    "service",
    "pool_wait",
    "pool_use",
    "sql",
    "app_state",
    "user",
    "method",
    "call",
];
/// Kinds of waits, in the order of their codes.
pub const WAIT_KINDS: [&str; 3] = ["monitor_enter", "monitor_wait", "park"];
/// Outcomes of waits, in the order of their codes.
pub const OUTCOMES: [&str; 5] = ["acquired", "notified", "timeout", "unparked", "cut"];

/// What of `vm` stands on a timeline: what stops the program. The rest is told in SQL, and would lie in one another's way here.
const VM_KINDS: &str = "('gc', 'safepoint')";
/// Name of a span, in SQL. A connection is named after its peer, and there may be a million of them: none has a name here, but for
/// what it is.
fn span_name() -> String {
    format!("if({IS_CONNECTION}, 'connection', if(kind = 'connection', 'stream', name))")
}

/// Whose names a code stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Domain {
    /// Names of spans of a kind (a code of [`SPAN_KINDS`]).
    Span(i64),
    /// Classes that were waited for.
    Class,
    /// System calls.
    Syscall,
    /// Kinds of marks.
    Mark,
    /// Kinds of work of the virtual machine.
    VmKind,
    /// Its names.
    Vm,
    /// `scope name` of counters.
    Counter,
}

impl Domain {
    fn key(self) -> String {
        match self {
            Domain::Span(kind) => format!("span{kind}"),
            Domain::Class => "class".into(),
            Domain::Syscall => "syscall".into(),
            Domain::Mark => "mark".into(),
            Domain::VmKind => "vmkind".into(),
            Domain::Vm => "vm".into(),
            Domain::Counter => "counter".into(),
        }
    }
}

/// A thread of the trace.
#[derive(Debug, Clone)]
pub struct Thread {
    pub id: i64,
    pub tid: Option<i32>,
    pub name: String,
    pub kind: String,
    pub begin_ns: i64,
    pub end_ns: i64,
}

impl Thread {
    pub fn is_virtual(&self) -> bool {
        self.kind == "virtual"
    }
}

/// Something that happened to a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub ts: i64,
    /// The thread (`threads.id`).
    pub thread: i64,
    /// What.
    pub what: What,
}

/// What happened. `code`s are of the domain that the field's name says.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A state began: codes of [`STATES`] and [`names::CAUSES`].
    State {
        state: i64,
        cause: i64,
        end: i64,
        cpu: Option<i64>,
        syscall: Option<i64>,
        fd: Option<i64>,
        wait: Option<i64>,
    },
    /// The thread ended.
    Exit,
    /// The thread woke another one.
    Wakes { woken: i64 },
    /// A piece of a span began.
    SpanBegin {
        id: i64,
        kind: i64,
        name: i64,
        end: i64,
        status: Option<i64>,
        resumed: Option<bool>,
        connection: Option<i64>,
        /// Whether other threads have pieces of the span too.
        shared: bool,
    },
    /// It ended.
    SpanEnd {
        id: i64,
        kind: i64,
        name: i64,
        begin: i64,
    },
    /// A wait began: a code of [`WAIT_KINDS`].
    WaitBegin {
        id: i64,
        kind: i64,
        class: Option<i64>,
        object: Option<i64>,
        owner: Option<i64>,
        end: i64,
    },
    /// It ended: a code of [`OUTCOMES`].
    WaitEnd { id: i64, kind: i64, outcome: i64 },
    /// A system call began; of a recording without system calls, one that blocked.
    SyscallBegin {
        name: i64,
        resource: Option<i64>,
        fd: Option<i64>,
        size: Option<i64>,
        end: i64,
    },
    /// It returned; what, if that was recorded.
    SyscallEnd { result: Option<i64> },
    /// A mark.
    Mark {
        kind: i64,
        value: i64,
        text: Option<String>,
    },
    /// The virtual machine began to do something; its thread is not known (-1).
    VmBegin {
        kind: i64,
        name: i64,
        end: i64,
        cause: String,
    },
    /// It did it.
    VmEnd { kind: i64 },
    /// A virtual thread was mounted on this carrier.
    Mount { virtual_thread: i64 },
    /// It was unmounted.
    Unmount { virtual_thread: i64 },
    /// A call stack was seen on a CPU, and stands for `weight` ns.
    Sample { stack: i64, weight: i64 },
    /// A counter was read; no thread (-1).
    Counter { name: i64, value: f64 },
}

/// The timeline of a trace, and what its codes stand for.
pub struct Timeline {
    scratch: Scratch,
    /// Threads by id.
    pub threads: Vec<Thread>,
    names: HashMap<Domain, Vec<String>>,
    /// Whether every system call was recorded, not only those that blocked.
    pub all_syscalls: bool,
}

impl Timeline {
    /// Reads threads and names; the events come with [`Timeline::each`].
    pub fn open(trace: &Trace, scratch: Scratch) -> Result<Timeline> {
        let all_syscalls = trace.meta.has("syscalls");
        let threads = threads(&scratch)?;
        let names = dictionary(&scratch)?;
        Ok(Timeline {
            scratch,
            threads,
            names,
            all_syscalls,
        })
    }

    /// The database that it is read from.
    pub fn db(&self) -> &loadline_trace::duckdb::Connection {
        &self.scratch.db
    }

    /// Names of a domain: code 1 is the first.
    pub fn names(&self, domain: Domain) -> &[String] {
        self.names.get(&domain).map_or(&[], Vec::as_slice)
    }

    /// What a code stands for.
    pub fn name(&self, domain: Domain, code: i64) -> &str {
        usize::try_from(code - 1)
            .ok()
            .and_then(|i| self.names(domain).get(i))
            .map_or("", String::as_str)
    }

    /// Calls `take` with each event, in order.
    pub fn each(
        &self,
        progress: Progress,
        mut take: impl FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let (total, batches) = self.scratch.rows(&self.select())?;
        let mut done = 0;
        for batch in batches {
            let batch = batch?;
            let int = |at| column::<Int64Array>(&batch, at);
            let (ts, op, thread) = (int(0)?, int(1)?, int(2)?);
            let fields = [
                int(3)?,
                int(4)?,
                int(5)?,
                int(6)?,
                int(7)?,
                int(8)?,
                int(9)?,
            ];
            let value = column::<Float64Array>(&batch, 10)?;
            let text = column::<StringArray>(&batch, 11)?;
            for row in 0..batch.num_rows() {
                let n = fields.map(|f| f.is_valid(row).then(|| f.value(row)));
                let text = text.is_valid(row).then(|| text.value(row));
                let what = decode(op.value(row), n, value.value(row), text)?;
                take(Event {
                    ts: ts.value(row),
                    thread: thread.value(row),
                    what,
                })?;
            }
            done += batch.num_rows() as u64;
            progress(done, total);
        }
        Ok(())
    }

    /// The union of all tables as columns `ts, op, thread, n0..n6, v, s`. `class` and `tie` order what falls together.
    fn select(&self) -> String {
        let span_kind = code_of(&SPAN_KINDS, "s.kind");
        let wait_kind = code_of(&WAIT_KINDS, "w.kind");
        let outcome = code_of(&OUTCOMES, "w.outcome");
        let state = code_of(&STATES, "s.state");
        let cause = code_of(&names::CAUSES, "s.cause");
        let name = |domain: &str, of: &str| {
            format!("(SELECT code FROM x_names x WHERE x.domain = {domain} AND x.name = {of})")
        };
        let span_name = name(
            &format!("'span' || {span_kind}"),
            &span_name()
                .replace("name", "s.name")
                .replace("kind", "s.kind"),
        );
        let syscall = name("'syscall'", "s.syscall");
        // A piece per segment; a span without segments is one piece.
        let pieces = format!(
            "SELECT s.id, {span_kind} AS kind, {span_name} AS name, s.status, s.resumed::BIGINT AS resumed, s.connection,
                    coalesce(g.thread, s.thread) AS thread, coalesce(g.begin_ns, s.begin_ns) AS b, coalesce(g.end_ns, s.end_ns) AS e,
                    (g.span IS NOT NULL)::BIGINT AS shared
             FROM spans s LEFT JOIN segments g ON g.span = s.id"
        );
        let calls = if self.all_syscalls {
            format!(
                "SELECT s.thread, {} AS name, s.resource, s.fd, s.size, s.result, s.begin_ns AS b, s.end_ns AS e FROM syscalls s",
                name("'syscall'", "s.name")
            )
        } else {
            // An interval that was interrupted and went on is one row of `states` each: so is its call.
            format!(
                "SELECT s.thread, {syscall} AS name, r.id AS resource, s.fd, NULL AS size, NULL AS result, s.begin_ns AS b, s.end_ns AS e
                 FROM states s ASOF LEFT JOIN resources r ON s.fd = r.fd AND s.begin_ns >= r.begin_ns
                 WHERE s.syscall IS NOT NULL AND s.cause NOT IN ('running', 'runnable')"
            )
        };
        // Class 0 ends, class 1 begins, class 2 ends what began in the same moment.
        let begin = |b: &str, e: &str| format!("{b} AS ts, 1 AS class, -({e}) AS tie");
        let end =
            |b: &str, e: &str| format!("{e} AS ts, if({e} > {b}, 0, 2) AS class, -({b}) AS tie");
        let (b, e) = (begin("b", "e"), end("b", "e"));
        let (wb, we) = (
            begin("w.begin_ns", "w.end_ns"),
            end("w.begin_ns", "w.end_ns"),
        );
        let vm_kind = name("'vmkind'", "w.kind");
        let vm_name = name("'vm'", "w.name");
        let class = name("'class'", "w.class");
        let mark = name("'mark'", "m.kind");
        let counter = name("'counter'", "c.scope || ' ' || c.name");
        format!(
            "WITH pieces AS ({pieces}), calls AS ({calls}),
             u(ts, class, tie, op, thread, n0, n1, n2, n3, n4, n5, n6, v, s) AS (
                SELECT s.begin_ns, 1, -s.end_ns, 0, s.thread, {state}, {cause}, s.end_ns, s.cpu, {syscall}, s.fd, s.wait, 0.0::DOUBLE, NULL::VARCHAR FROM states s
                UNION ALL SELECT end_ns, 0, 0, 1, id, 0, 0, 0, 0, 0, 0, 0, 0.0, NULL FROM threads
                UNION ALL SELECT s.end_ns, 0, 1, 2, s.waker, s.thread, 0, 0, 0, 0, 0, 0, 0.0, NULL FROM states s WHERE s.waker IS NOT NULL
                UNION ALL SELECT * FROM (SELECT {b}, 3, thread, id, kind, name, e, status, resumed, connection, shared::DOUBLE, NULL FROM pieces)
                UNION ALL SELECT * FROM (SELECT {e}, 4, thread, id, kind, name, b, 0, 0, 0, 0.0, NULL FROM pieces)
                UNION ALL SELECT * FROM (SELECT {wb}, 5, w.thread, w.id, {wait_kind}, {class}, w.object, w.owner, w.end_ns, 0, 0.0, NULL FROM waits w)
                UNION ALL SELECT * FROM (SELECT {we}, 6, w.thread, w.id, {wait_kind}, {outcome}, 0, 0, 0, 0, 0.0, NULL FROM waits w)
                UNION ALL SELECT * FROM (SELECT {b}, 7, thread, name, resource, fd, size, e, 0, 0, 0.0, NULL FROM calls)
                UNION ALL SELECT * FROM (SELECT {e}, 8, thread, result, 0, 0, 0, 0, 0, 0, 0.0, NULL FROM calls)
                UNION ALL SELECT m.ts_ns, 1, 0, 9, m.thread, {mark}, m.value, 0, 0, 0, 0, 0, 0.0, m.text FROM marks m
                UNION ALL SELECT * FROM (SELECT {wb}, 10, -1, {vm_kind}, {vm_name}, w.end_ns, 0, 0, 0, 0, 0.0, w.cause FROM vm w WHERE w.kind IN {VM_KINDS})
                UNION ALL SELECT * FROM (SELECT {we}, 11, -1, {vm_kind}, 0, 0, 0, 0, 0, 0, 0.0, NULL FROM vm w WHERE w.kind IN {VM_KINDS})
                UNION ALL SELECT * FROM (SELECT {wb}, 12, w.carrier, w.thread, 0, 0, 0, 0, 0, 0, 0.0, NULL FROM mounts w)
                UNION ALL SELECT * FROM (SELECT {we}, 13, w.carrier, w.thread, 0, 0, 0, 0, 0, 0, 0.0, NULL FROM mounts w)
                UNION ALL SELECT c.ts_ns, 1, 0, 14, -1, {counter}, 0, 0, 0, 0, 0, 0, c.value, NULL FROM counters c
                UNION ALL SELECT p.ts_ns, 1, 0, 15, p.thread, p.stack, p.weight, 0, 0, 0, 0, 0, 0.0, NULL FROM samples p WHERE p.kind = 'cpu')
             SELECT ts::BIGINT, op::BIGINT, thread::BIGINT, n0::BIGINT, n1::BIGINT, n2::BIGINT, n3::BIGINT, n4::BIGINT, n5::BIGINT, n6::BIGINT, v::DOUBLE, s::VARCHAR
             FROM u ORDER BY ts, class, tie, if(class = 1, n0, -n0), op"
        )
    }
}

fn decode(op: i64, n: [Option<i64>; 7], value: f64, text: Option<&str>) -> Result<What> {
    let at = |i: usize| n[i].unwrap_or(0);
    Ok(match op {
        0 => What::State {
            state: at(0),
            cause: at(1),
            end: at(2),
            cpu: n[3],
            syscall: n[4],
            fd: n[5],
            wait: n[6],
        },
        1 => What::Exit,
        2 => What::Wakes { woken: at(0) },
        3 => What::SpanBegin {
            id: at(0),
            kind: at(1),
            name: at(2),
            end: at(3),
            status: n[4],
            resumed: n[5].map(|r| r != 0),
            connection: n[6],
            shared: value != 0.0,
        },
        4 => What::SpanEnd {
            id: at(0),
            kind: at(1),
            name: at(2),
            begin: at(3),
        },
        5 => What::WaitBegin {
            id: at(0),
            kind: at(1),
            class: n[2],
            object: n[3],
            owner: n[4],
            end: at(5),
        },
        6 => What::WaitEnd {
            id: at(0),
            kind: at(1),
            outcome: at(2),
        },
        7 => What::SyscallBegin {
            name: at(0),
            resource: n[1],
            fd: n[2],
            size: n[3],
            end: at(4),
        },
        8 => What::SyscallEnd { result: n[0] },
        9 => What::Mark {
            kind: at(0),
            value: at(1),
            text: text.map(str::to_owned),
        },
        10 => What::VmBegin {
            kind: at(0),
            name: at(1),
            end: at(2),
            cause: text.unwrap_or_default().to_owned(),
        },
        11 => What::VmEnd { kind: at(0) },
        12 => What::Mount {
            virtual_thread: at(0),
        },
        13 => What::Unmount {
            virtual_thread: at(0),
        },
        14 => What::Counter { name: at(0), value },
        15 => What::Sample {
            stack: at(0),
            weight: at(1),
        },
        op => bail!("the timeline has an operation {op}"),
    })
}

/// SQL that gives the place of a text in a list, from 1; 0 if it is not there.
fn code_of(list: &[&str], of: &str) -> String {
    let quoted: Vec<String> = list.iter().map(|n| format!("'{n}'")).collect();
    format!("coalesce(list_position([{}], {of}), 0)", quoted.join(","))
}

fn threads(scratch: &Scratch) -> Result<Vec<Thread>> {
    let mut statement = scratch
        .db
        .prepare("SELECT id, tid, name, kind, begin_ns, end_ns FROM threads ORDER BY id")?;
    let rows = statement.query_map([], |r| {
        Ok(Thread {
            id: r.get(0)?,
            tid: r.get(1)?,
            name: r.get(2)?,
            kind: r.get(3)?,
            begin_ns: r.get(4)?,
            end_ns: r.get(5)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Makes the table `x_names` (domain, name, code) and reads it.
fn dictionary(scratch: &Scratch) -> Result<HashMap<Domain, Vec<String>>> {
    let span_kind = code_of(&SPAN_KINDS, "kind");
    let span_name = span_name();
    scratch.db.execute_batch(&format!(
        "CREATE TEMP TABLE x_names AS
         SELECT domain, name, row_number() OVER (PARTITION BY domain ORDER BY n DESC, name) AS code
         FROM (SELECT domain, name, sum(n) AS n FROM (
            SELECT 'span' || {span_kind} AS domain, {span_name} AS name, count(*) AS n FROM spans GROUP BY ALL
            UNION ALL SELECT 'class', class, count(*) FROM waits GROUP BY ALL
            UNION ALL SELECT 'syscall', name, count(*) FROM syscalls GROUP BY ALL
            UNION ALL SELECT 'syscall', syscall, count(*) FROM states GROUP BY ALL
            UNION ALL SELECT 'mark', kind, count(*) FROM marks GROUP BY ALL
            UNION ALL SELECT 'vmkind', kind, count(*) FROM vm WHERE kind IN {VM_KINDS} GROUP BY ALL
            UNION ALL SELECT 'vm', name, count(*) FROM vm WHERE kind IN {VM_KINDS} GROUP BY ALL
            UNION ALL SELECT 'counter', scope || ' ' || name, count(*) FROM counters GROUP BY ALL)
          WHERE name IS NOT NULL GROUP BY ALL)"
    ))?;
    let mut domains: Vec<Domain> = (0..=SPAN_KINDS.len() as i64).map(Domain::Span).collect();
    domains.extend([
        Domain::Class,
        Domain::Syscall,
        Domain::Mark,
        Domain::VmKind,
        Domain::Vm,
        Domain::Counter,
    ]);
    let mut statement = scratch
        .db
        .prepare("SELECT name FROM x_names WHERE domain = ? ORDER BY code")?;
    let mut all = HashMap::new();
    for domain in domains {
        let names = statement.query_map([domain.key()], |r| r.get(0))?;
        all.insert(domain, names.collect::<Result<Vec<String>, _>>()?);
    }
    Ok(all)
}
