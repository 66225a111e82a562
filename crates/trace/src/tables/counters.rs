//! The name space of `counters`: what a recording may count, and of what.

/// A counter that a recording may hold: its scopes, its name, and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterInfo {
    /// `counters.scope`; `cpu N` stands for each CPU.
    pub scopes: &'static str,
    /// `counters.name`.
    pub name: &'static str,
    /// What it says, and whether it only grows.
    pub doc: &'static str,
}

/// The name space of `counters`. Nothing else is written there.
pub const COUNTERS: [CounterInfo; 38] = {
    const fn counter(scopes: &'static str, name: &'static str, doc: &'static str) -> CounterInfo {
        CounterInfo { scopes, name, doc }
    }
    [
        counter(
            "process, recorder",
            "cpu_seconds",
            "CPU time since it began; grows.",
        ),
        counter("process", "rss_bytes", "Resident memory."),
        counter("process", "threads", "Threads."),
        counter("process", "fds", "Open descriptors."),
        counter(
            "process",
            "voluntary_switches",
            "Of the threads that live; grows while they do.",
        ),
        counter(
            "process",
            "involuntary_switches",
            "Of the threads that live; grows while they do.",
        ),
        counter(
            "machine, cpu N",
            "busy_seconds",
            "Time in which a CPU did something, since boot; grows.",
        ),
        counter(
            "machine, cpu N",
            "idle_seconds",
            "Time in which it did not; grows.",
        ),
        counter(
            "machine, cpu N",
            "steal_seconds",
            "Time that the hypervisor gave to others; grows.",
        ),
        counter(
            "machine",
            "others_seconds",
            "CPU time of all processes but the target and the recorder: `busy_seconds` less both `cpu_seconds` of the same reading; grows, but for the ticks (10 ms) in which the kernel counts.",
        ),
        counter("cpu N", "frequency_hz", "Its clock. Not filled by 0.1."),
        counter(
            "process",
            "throttled_seconds",
            "Time in which its cgroup's CPU quota was used up, on each CPU that it would have run on; grows. Of the cgroup, from its own up to the root, that stood still most.",
        ),
        counter(
            "process",
            "throttled_periods",
            "Periods of that cgroup in which the quota was used up; grows.",
        ),
        counter(
            "process",
            "quota_periods",
            "Periods of that cgroup in which somebody ran; grows, and stays 0 without a quota.",
        ),
        counter(
            "process",
            "quota_cpus",
            "CPUs that the smallest quota amounts to; absent without one.",
        ),
        counter(
            "process",
            "kernel_seconds",
            "Of `cpu_seconds`, what was spent in the kernel (in ticks of 10 ms); grows.",
        ),
        counter(
            "process",
            "allowed_cpus",
            "CPUs that its main thread may run on: what affinity and cpusets leave, whoever set them; ten times a second, when it changes, and each second.",
        ),
        counter(
            "process",
            "assigned_cpus`, `requested_cpus",
            "Under `loadline share`: what it has and wants, parts of CPUs included; at the same times.",
        ),
        counter(
            "process",
            "accept_queue",
            "Connections that nobody had accepted yet, in the fullest queue of the target's listening sockets; read only when `listen_overflows` has grown.",
        ),
        counter(
            "network",
            "listen_overflows",
            "Connections that were dropped because a queue of connections to accept was full, of all sockets in the target's network namespace; grows.",
        ),
        counter(
            "network",
            "listen_drops",
            "Connections that were dropped on their way into such a queue, those included; grows.",
        ),
        counter(
            "process",
            "heap_used_bytes",
            "Java heap in use. Only in what was imported from JFR.",
        ),
        counter(
            "heap",
            "survivors_bytes",
            "After each collection: of young objects, those that outlived it and are young still. Only of collectors that have survivor spaces (Serial, Parallel, G1).",
        ),
        counter(
            "heap",
            "old_bytes",
            "After each collection: the old generation, of the same.",
        ),
        counter(
            "heap",
            "max_bytes",
            "After each collection: the most that the heap may be, of the same.",
        ),
        counter(
            "pool P",
            "connections_max",
            "Connections that the pool may have, as it is configured; every ten seconds and at the end. Of pools that say so.",
        ),
        counter(
            "executor E",
            "threads_max",
            "Threads that the executor may have whose threads are named E and a number; every ten seconds and at the end. Of the JDK's, Tomcat's, Jetty's, Undertow's and Netty's.",
        ),
        counter(
            "role R",
            "cpu_ns",
            "On a CPU, as the scheduler accounts it; grows from 0. Only with --counters.",
        ),
        counter(
            "role R",
            "user_ns",
            "Of it in user mode, by the kernel's ticks, scaled to the exact sum; grows from 0. Only with --counters.",
        ),
        counter(
            "role R",
            "kernel_ns",
            "Of it in the kernel, likewise; grows from 0. Only with --counters.",
        ),
        counter(
            "role R",
            "run_queue_ns",
            "Runnable and without a CPU; grows from 0. Only with --counters.",
        ),
        counter(
            "role R",
            "voluntary_switches",
            "The thread waited for something; grows from 0. Only with --counters.",
        ),
        counter(
            "role R",
            "involuntary_switches",
            "The CPU was taken from it; grows from 0. Only with --counters.",
        ),
        counter(
            "role R",
            "migrations",
            "It went on on another CPU; grows from 0. Only with --counters.",
        ),
        counter(
            "role R",
            "minor_faults",
            "Page faults without input; grows from 0. Only with --counters.",
        ),
        counter(
            "role R",
            "major_faults",
            "Page faults that had to read; grows from 0. Only with --counters.",
        ),
        counter(
            "role R",
            "EVENT_user, EVENT_kernel",
            "An event of the processor in each mode: cycles, instructions, branches, branch_misses, l1i_misses, l1d_misses, llc_misses, itlb_misses, dtlb_misses, stalls_frontend, stalls_backend; grows from 0. Only with --counters, where the processor's counters can be had.",
        ),
        counter(
            "role R",
            "EVENT",
            "What top-down categories are made of, and what --events named, in both modes; grows from 0. Only with --counters.",
        ),
    ]
};
