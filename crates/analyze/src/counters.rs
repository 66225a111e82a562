//! What threads counted, in tables: lanes by what a thread is for, and what each counted.
//!
//! Terms: a *role* is what a thread is for, coarsely enough for a table: workers, collector, compiler, the rest; a *lane* is
//! a counter of one role over time, in scope `role R`; it begins with 0 at the first reading and grows.
//!
//! What always holds: a counter's lanes add up to what the process counted, as far as the kernel keeps that with it:
//! what threads counted that ended between two readings has a lane of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_trace::spool::counters::Counted;
use loadline_trace::tables::{Counter, ThreadCounter};
use serde::{Deserialize, Serialize};

use crate::role as lanes;
use crate::threads::{Threads, kind};

/// Columns of the table, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// They do the units of work: a server's workers, the application's own threads.
    Workers,
    /// The collector's.
    Gc,
    /// The compilers'.
    Jit,
    /// The virtual machine's others, pollers, acceptors, timers.
    Rest,
    /// Whatever ended between two readings.
    Ended,
}

impl Role {
    /// In the order of the table.
    pub const ALL: [Role; 5] = [Role::Workers, Role::Gc, Role::Jit, Role::Rest, Role::Ended];

    /// The table's heading.
    pub fn title(self) -> &'static str {
        match self {
            Role::Workers => "workers",
            Role::Gc => "gc",
            Role::Jit => "jit",
            Role::Rest => "rest",
            Role::Ended => "ended",
        }
    }
}

/// By a thread's name: Java's, or the kernel's 15 characters of it.
pub fn role(name: &str, is_java: bool) -> Role {
    match kind::of(name, is_java, false, false) {
        "gc" => Role::Gc,
        "compiler" => Role::Jit,
        "vm" => Role::Rest,
        "carrier" => Role::Workers,
        kind => match lanes::ROLES[lanes::role(name, kind)] {
            "Workers" | "Application" => Role::Workers,
            _ => Role::Rest,
        },
    }
}

/// Java's names of threads by the kernel's id, where a recording knows them.
pub type Names = BTreeMap<i32, String>;

/// Of a thread of the kernel's: by Java's name of it, else by the kernel's.
pub fn role_of(tid: i32, comm: &str, names: &Names) -> Role {
    match names.get(&tid) {
        Some(name) => role(name, true),
        // Without the agent nobody's Java name is known. `java` is the thread that started the virtual machine, and
        // native threads that nobody named.
        None => role(comm, names.is_empty() && comm != "java"),
    }
}

fn names(threads: &Threads) -> Names {
    let java = threads.list.iter().filter(|t| t.java_id.is_some());
    java.filter_map(|t| Some((t.tid? as i32, t.name.clone()?)))
        .collect()
}

fn columns(counted: &Counted) -> Vec<Arc<str>> {
    let counters = counted.counters.iter();
    counters.map(|c| c.name.as_str().into()).collect()
}

/// Lanes by role, as cumulative sums at the begin of the first slice and the end of each.
pub(crate) fn lanes_of(counted: &Counted, threads: &Threads, begin: i64, end: i64) -> Vec<Counter> {
    let known = names(threads);
    let mut sums: BTreeMap<Role, Vec<f64>> = BTreeMap::new();
    let mut parts = Vec::with_capacity(counted.slices.len());
    for slice in &counted.slices {
        let mut part: BTreeMap<Role, Vec<f64>> = BTreeMap::new();
        part.insert(Role::Ended, slice.ended.clone());
        for (tid, (comm, values)) in &slice.threads {
            let role = role_of(*tid, comm, &known);
            let sum = part.entry(role).or_insert_with(|| vec![0.0; values.len()]);
            for (sum, value) in sum.iter_mut().zip(values) {
                *sum += value;
            }
        }
        for role in part.keys() {
            sums.entry(*role)
                .or_insert_with(|| vec![0.0; counted.counters.len()]);
        }
        parts.push((slice.end_ns, part));
    }
    let names = columns(counted);
    let scopes: BTreeMap<Role, Arc<str>> = sums
        .keys()
        .map(|r| (*r, format!("role {}", r.title()).into()))
        .collect();
    let mut rows = Vec::new();
    let mut point = |ts: i64, sums: &BTreeMap<Role, Vec<f64>>| {
        for (role, values) in sums {
            rows.extend(values.iter().zip(&names).map(|(value, name)| Counter {
                ts_ns: ts.clamp(begin, end),
                scope: scopes[role].clone(),
                name: name.clone(),
                value: *value,
            }));
        }
    };
    if let Some(first) = counted.slices.first() {
        point(first.begin_ns, &sums);
    }
    for (ts, part) in parts {
        for (role, values) in part {
            for (sum, value) in sums.entry(role).or_default().iter_mut().zip(values) {
                *sum += value;
            }
        }
        point(ts, &sums);
    }
    rows
}

/// What each thread counted, slice by slice.
pub(crate) fn of_threads(counted: &Counted, threads: &Threads) -> Vec<ThreadCounter> {
    let names = columns(counted);
    let mut rows = Vec::new();
    for slice in &counted.slices {
        for (tid, (_, values)) in &slice.threads {
            // Known at the slice's end, or when it began; one that neither knows was too short to be seen.
            let at = |ts| threads.by_tid(*tid as u32, ts);
            let Some(thread) = at(slice.end_ns - 1).or_else(|| at(slice.begin_ns)) else {
                continue;
            };
            let counted = values
                .iter()
                .zip(&names)
                .filter(|(value, _)| **value != 0.0);
            rows.extend(counted.map(|(value, name)| ThreadCounter {
                thread: i64::from(thread),
                begin_ns: slice.begin_ns,
                end_ns: slice.end_ns,
                name: name.clone(),
                value: *value,
            }));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_stand_in_the_column_of_what_they_are_for() {
        for (name, is_java, expected) in [
            ("http-nio-8080-exec-3", true, Role::Workers),
            ("warehouse-0", true, Role::Workers),
            ("ForkJoinPool-1-worker-1", true, Role::Workers),
            ("http-nio-8080-Poller", true, Role::Rest),
            ("http-nio-8080-Acceptor", true, Role::Rest),
            ("HikariPool-1 housekeeper", true, Role::Rest),
            ("G1 Conc#0", false, Role::Gc),
            ("C2 CompilerThre", false, Role::Jit),
            ("VM Thread", false, Role::Rest),
            ("java", false, Role::Rest),
        ] {
            assert_eq!(role(name, is_java), expected, "{name}");
        }
    }

    #[test]
    fn a_role_is_told_by_the_kernels_name_where_no_recording_knows_a_better_one() {
        let none = Names::new();
        assert_eq!(role_of(7, "warehouse-0", &none), Role::Workers);
        assert_eq!(role_of(8, "java", &none), Role::Rest);
        let names = Names::from([(7, "warehouse-0".to_owned())]);
        assert_eq!(role_of(7, "warehouse-0", &names), Role::Workers);
        // A thread that a recording has no Java name for does no unit of work.
        assert_eq!(role_of(8, "native-helper", &names), Role::Rest);
    }
}
