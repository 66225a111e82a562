//! From slices to figures: totals by role, rates, and what one unit of work costs, with intervals.

use std::collections::BTreeMap;

use loadline_analyze::counters::{Names, Role, role_of};
use loadline_record::counters::software::{CPU, KERNEL, VOLUNTARY, WAITING};
use loadline_record::counters::{Counted, Counter};
use loadline_stats::{Estimate, by_batches};
use serde::Serialize;

use crate::machine::Machine;
use crate::ratio::{self, Ratio};

/// Share of the CPU time below which ended threads have no column: what reading smears is of that size.
const WORTH_A_COLUMN: f64 = 0.005;

/// What the program did meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    /// One of them, in the singular: request, new-order, broadcast.
    pub name: String,
    /// In each slice.
    pub done: Vec<u64>,
}

/// One counter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Which.
    #[serde(flatten)]
    pub counter: Counter,
    /// Of all threads.
    pub total: f64,
    /// The total by role.
    pub by_role: BTreeMap<Role, f64>,
    /// The total over the time.
    pub per_second: Estimate,
    /// The total over the units of work, if there were any; with the interval of a ratio over batches of slices.
    pub per_unit: Option<Estimate>,
}

/// All that is told of one count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// What was counted.
    pub target: String,
    /// On what.
    pub machine: Machine,
    /// From the first reading to the last.
    pub seconds: f64,
    /// Between which there was a reading.
    pub slices: usize,
    /// The unit of work.
    pub unit: Option<String>,
    /// How many of these were done.
    pub units: u64,
    /// In the order of the table.
    pub figures: Vec<Figure>,
    /// What several counters say together.
    pub ratios: Vec<Ratio>,
    /// Slice by slice.
    pub over_time: Vec<Moment>,
    /// What a reader must know of the figures.
    pub notes: Vec<String>,
}

/// One slice of a summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moment {
    /// Its begin, seconds since the first slice's.
    pub begin: f64,
    /// How long it was.
    pub seconds: f64,
    /// Units of work that ended in it.
    pub units: u64,
    /// By role, a value for each of the figures.
    pub by_role: BTreeMap<Role, Vec<f64>>,
}

impl Moment {
    /// Of all roles, the figure's value.
    pub fn total(&self, figure: usize) -> f64 {
        self.by_role.values().map(|v| v[figure]).sum()
    }
}

/// Sums up what was counted, which must be a slice or more; `notes` go with the figures.
pub fn summarize(
    target: String,
    machine: Machine,
    counted: &Counted,
    names: &Names,
    units: Option<&Units>,
    notes: Vec<String>,
) -> Summary {
    let (counters, slices) = (&counted.counters, &counted.slices);
    let begin = slices.first().map_or(0, |s| s.begin_ns);
    let mut by_role: BTreeMap<Role, Vec<f64>> = BTreeMap::new();
    let mut parts = Vec::with_capacity(slices.len());
    for (at, slice) in slices.iter().enumerate() {
        let mut part = BTreeMap::from([(Role::Ended, slice.ended.clone())]);
        for (tid, (comm, values)) in &slice.threads {
            add(part.entry(role_of(*tid, comm, names)), values);
        }
        for (role, values) in &part {
            add(by_role.entry(*role), values);
        }
        parts.push(Moment {
            begin: (slice.begin_ns - begin) as f64 / 1e9,
            seconds: (slice.end_ns - slice.begin_ns) as f64 / 1e9,
            units: units.map_or(0, |u| u.done[at]),
            by_role: part,
        });
    }
    let seconds: f64 = parts.iter().map(|p| p.seconds).sum();
    let done: u64 = parts.iter().map(|p| p.units).sum();
    let cpu: f64 = parts.iter().map(|p| p.total(CPU)).sum();
    if by_role
        .get(&Role::Ended)
        .is_some_and(|v| v[CPU] < WORTH_A_COLUMN * cpu)
    {
        by_role.remove(&Role::Ended);
    }
    let sum = |some: &[Moment], at: usize| some.iter().map(|p| p.total(at)).sum::<f64>();
    let figures = counters
        .iter()
        .enumerate()
        .map(|(at, counter)| Figure {
            counter: counter.clone(),
            total: sum(&parts, at),
            by_role: by_role.iter().map(|(role, v)| (*role, v[at])).collect(),
            per_second: by_batches(&parts, |some| {
                sum(some, at) / some.iter().map(|p| p.seconds).sum::<f64>()
            }),
            per_unit: (done > 0).then(|| {
                by_batches(&parts, |some| {
                    sum(some, at) / some.iter().map(|p| p.units).sum::<u64>() as f64
                })
            }),
        })
        .collect();
    let place = |name: &str| counters.iter().position(|c| c.name == name);
    let ratios_of = |some: &[Moment]| ratio::of(&|name| Some(sum(some, place(name)?)));
    let of_role = |values: &[f64], name: &str| {
        let all = ratio::of(&|name| Some(values[place(name)?]));
        all.into_iter().find(|r| r.name == name).map(|r| r.value)
    };
    let ratios = ratios_of(&parts)
        .into_iter()
        .map(|whole| Ratio {
            value: by_batches(&parts, |some| {
                let of = ratios_of(some).into_iter().find(|r| r.name == whole.name);
                // A batch in which nothing of it was counted says nothing else than all do.
                of.map_or(whole.value, |r| r.value)
            }),
            by_role: by_role
                .iter()
                .filter_map(|(role, values)| Some((*role, of_role(values, &whole.name)?)))
                .collect(),
            name: whole.name,
            title: whole.title,
            unit: whole.unit,
        })
        .collect();
    Summary {
        target,
        machine,
        seconds,
        slices: slices.len(),
        unit: units.map(|u| u.name.clone()),
        units: done,
        figures,
        ratios,
        over_time: parts,
        notes,
    }
}

fn add(entry: std::collections::btree_map::Entry<'_, Role, Vec<f64>>, more: &[f64]) {
    let sum = entry.or_insert_with(|| vec![0.0; more.len()]);
    for (sum, value) in sum.iter_mut().zip(more) {
        *sum += value;
    }
}

impl Summary {
    /// A share of the CPU time, of all roles or of one.
    fn cpu_share(&self, counter: usize, of: Option<Role>) -> f64 {
        let figure = &self.figures[counter];
        let value = of.map_or(figure.total, |role| {
            figure.by_role.get(&role).copied().unwrap_or(0.0)
        });
        value / self.figures[CPU].total.max(1.0)
    }

    /// What stands out, in sentences that a developer can act on; nothing if nothing does.
    pub fn remarks(&self) -> Vec<String> {
        let unit = self.unit.as_deref().unwrap_or("second");
        let mut remarks = Vec::new();
        let waiting = self.figures[WAITING].total / self.figures[CPU].total.max(1.0);
        if waiting > 0.5 {
            remarks.push(format!("its threads wait for a CPU {waiting:.1} times as long as they run: the CPUs are short, or others use them"));
        }
        for (role, least, what) in [
            (
                Role::Gc,
                0.1,
                "the collector: fewer or shorter-lived objects, or more heap, would give it back",
            ),
            (
                Role::Jit,
                0.1,
                "the compilers: it is still warming up, or compiled code is thrown away; count again when that is over",
            ),
        ] {
            let share = self.cpu_share(CPU, Some(role));
            if share > least {
                remarks.push(format!(
                    "{:.0}% of its CPU time goes to {what}",
                    share * 100.0
                ));
            }
        }
        let kernel = self.cpu_share(KERNEL, None);
        if kernel > 0.4 {
            let switches = self.figures[VOLUNTARY].total;
            let per = if self.units > 0 {
                switches / self.units as f64
            } else {
                switches / self.seconds
            };
            remarks.push(format!("{:.0}% of its CPU time is the kernel's, with {per:.1} voluntary switches per {unit}: system calls and switches cost more than its own code", kernel * 100.0));
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_record::counters::software::{self, SOFTWARE};
    use loadline_record::counters::{Slice, Unit};

    fn machine() -> Machine {
        Machine {
            cpus: 2,
            kernel: "6".into(),
            processor: "x".into(),
            missing: vec![],
        }
    }

    fn slice(at: i64, threads: &[(i32, &str, f64, f64)]) -> Slice {
        Slice {
            begin_ns: at * 1_000_000_000,
            end_ns: (at + 1) * 1_000_000_000,
            threads: threads
                .iter()
                .map(|&(tid, name, cpu, waiting)| {
                    let mut values = vec![0.0; SOFTWARE];
                    values[CPU] = cpu;
                    values[WAITING] = waiting;
                    values[VOLUNTARY] = 3.0;
                    (tid, (name.to_owned(), values))
                })
                .collect(),
            ended: vec![0.0; SOFTWARE],
        }
    }

    fn sum_up(slices: &[Slice], names: &Names, units: Option<&Units>) -> Summary {
        let counted = Counted {
            counters: software::all(),
            slices: slices.to_vec(),
            notes: vec![],
        };
        summarize("x".into(), machine(), &counted, names, units, vec![])
    }

    #[test]
    fn totals_are_by_role_and_per_unit_of_work() {
        let slices: Vec<Slice> = (0..20)
            .map(|at| {
                slice(
                    at,
                    &[
                        (7, "http-nio-8080-e", 60e6, 0.0),
                        (8, "GC Thread#0", 20e6, 0.0),
                        (9, "C2 CompilerThre", 20e6, 0.0),
                    ],
                )
            })
            .collect();
        let names = Names::from([(7, "http-nio-8080-exec-1".to_owned())]);
        let units = Units {
            name: "request".into(),
            done: vec![100; 20],
        };
        let summary = sum_up(&slices, &names, Some(&units));
        let cpu = &summary.figures[CPU];
        assert_eq!(summary.units, 2000);
        assert!((summary.seconds - 20.0).abs() < 1e-9);
        assert_eq!(cpu.total, 2000e6);
        assert_eq!(cpu.by_role[&Role::Workers], 1200e6);
        assert_eq!(cpu.by_role[&Role::Gc], 400e6);
        assert_eq!(cpu.by_role[&Role::Jit], 400e6);
        assert!(!cpu.by_role.contains_key(&Role::Ended));
        assert_eq!(cpu.per_unit.unwrap().value, 1e6);
        assert_eq!(cpu.per_second.value, 100e6);
        assert_eq!(summary.figures[VOLUNTARY].per_unit.unwrap().value, 0.09);
        assert_eq!(summary.remarks().len(), 2, "{:?}", summary.remarks());
    }

    #[test]
    fn a_thread_that_a_recording_has_no_java_name_for_does_no_unit_of_work() {
        let names = Names::from([(7, "warehouse-0".to_owned())]);
        let slices = [slice(
            0,
            &[(7, "warehouse-0", 5e6, 0.0), (8, "native-helper", 1e6, 0.0)],
        )];
        let cpu = &sum_up(&slices, &names, None).figures[CPU];
        assert_eq!(cpu.by_role[&Role::Workers], 5e6);
        assert_eq!(cpu.by_role[&Role::Rest], 1e6);
    }

    #[test]
    fn threads_that_wait_longer_for_a_cpu_than_they_run_are_remarked_upon() {
        let waiting = sum_up(&[slice(0, &[(1, "a", 5e6, 10e6)])], &Names::new(), None);
        assert!(
            waiting.remarks()[0].contains("wait for a CPU 2.0 times"),
            "{:?}",
            waiting.remarks()
        );
        assert!(
            sum_up(&[slice(0, &[(1, "a", 5e6, 1e6)])], &Names::new(), None)
                .remarks()
                .is_empty()
        );
    }

    #[test]
    fn slices_without_a_unit_of_work_make_no_figure_infinite() {
        let slices: Vec<Slice> = (0..10).map(|at| slice(at, &[(1, "a", 5e6, 0.0)])).collect();
        let units = Units {
            name: "request".into(),
            done: vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 5],
        };
        let per_unit = sum_up(&slices, &Names::new(), Some(&units)).figures[CPU]
            .per_unit
            .unwrap();
        assert_eq!(per_unit.value, 10e6);
    }

    #[test]
    fn ratios_have_intervals_over_slices_and_values_by_role() {
        let mut counters = software::all();
        for name in ["cycles_user", "instructions_user"] {
            counters.push(Counter {
                name: name.into(),
                title: name.into(),
                unit: Unit::Count,
            });
        }
        let slices = (0..20i64).map(|at| {
            let mut slice = slice(
                at,
                &[(7, "warehouse-0", 60e6, 0.0), (9, "G1 Conc#0", 20e6, 0.0)],
            );
            slice.ended.extend([0.0, 0.0]);
            // The workers do 1 or 3 instructions a cycle, in turns; the collector always one half.
            slice
                .threads
                .get_mut(&7)
                .unwrap()
                .1
                .extend([100.0, if at % 2 == 0 { 100.0 } else { 300.0 }]);
            slice.threads.get_mut(&9).unwrap().1.extend([100.0, 50.0]);
            slice
        });
        let counted = Counted {
            slices: slices.collect(),
            counters,
            notes: vec![],
        };
        let summary = summarize("x".into(), machine(), &counted, &Names::new(), None, vec![]);
        let [ipc] = &summary.ratios[..] else {
            panic!("{:?}", summary.ratios)
        };
        assert_eq!((ipc.name.as_str(), ipc.value.value), ("ipc_user", 1.25));
        assert!(
            ipc.value.ci95 > 0.0 && ipc.value.ci95.is_finite(),
            "{ipc:?}"
        );
        assert_eq!(ipc.by_role[&Role::Workers], 2.0);
        assert_eq!(ipc.by_role[&Role::Gc], 0.5);
        assert_eq!(summary.over_time.len(), 20);
        assert_eq!(summary.over_time[3].begin, 3.0);
        assert_eq!(summary.over_time[3].total(CPU), 80e6);
    }
}
