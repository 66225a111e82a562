//! The counters that `/proc` has on every machine.

use loadline_trace::spool::counters::{Counter, Unit};

/// Time on a CPU, as the scheduler accounts it (`schedstat`).
pub const CPU: usize = 0;
/// Of it in user mode, and in the kernel: where the clock's ticks found the thread, scaled to the exact sum by the kernel.
pub const USER: usize = 1;
/// See [`USER`].
pub const KERNEL: usize = 2;
/// Runnable and without a CPU.
pub const WAITING: usize = 3;
/// The thread gave the CPU up: it waited for something.
pub const VOLUNTARY: usize = 4;
/// The CPU was taken from it.
pub const INVOLUNTARY: usize = 5;
/// It went on on another CPU.
pub const MIGRATIONS: usize = 6;
/// Page faults without input.
pub const MINOR: usize = 7;
/// Page faults that had to read.
pub const MAJOR: usize = 8;
/// How many of these there are; those of the processor follow.
pub const SOFTWARE: usize = 9;

/// The counters that `/proc` has on every machine, in the order of the constants above.
pub fn all() -> Vec<Counter> {
    let counter = |name: &str, title: &str, unit| Counter {
        name: name.into(),
        title: title.into(),
        unit,
    };
    vec![
        counter("cpu_ns", "CPU time", Unit::Nanos),
        counter("user_ns", "  user", Unit::Nanos),
        counter("kernel_ns", "  kernel", Unit::Nanos),
        counter("run_queue_ns", "waiting for a CPU", Unit::Nanos),
        counter("voluntary_switches", "switches, voluntary", Unit::Count),
        counter("involuntary_switches", "switches, involuntary", Unit::Count),
        counter("migrations", "migrations", Unit::Count),
        counter("minor_faults", "page faults, minor", Unit::Count),
        counter("major_faults", "page faults, major", Unit::Count),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_places_of_their_names() {
        let all = all();
        assert_eq!(all.len(), SOFTWARE);
        for (at, name) in [
            (CPU, "cpu_ns"),
            (USER, "user_ns"),
            (KERNEL, "kernel_ns"),
            (WAITING, "run_queue_ns"),
            (VOLUNTARY, "voluntary_switches"),
            (INVOLUNTARY, "involuntary_switches"),
            (MIGRATIONS, "migrations"),
            (MINOR, "minor_faults"),
            (MAJOR, "major_faults"),
        ] {
            assert_eq!(all[at].name, name);
        }
    }
}
