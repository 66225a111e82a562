//! What a thread is for, by its name.

/// Begins of names (Java's, or the kernel's 15 characters of it) of the collectors' threads.
const GC: [&str; 10] = [
    "G1 ",
    "GC Thread",
    "ParGC",
    "ZDriver",
    "ZDirector",
    "ZWorker",
    "ZStat",
    "ZUn",
    "XWorker",
    "Shenandoah",
];
/// Of the compilers.
const COMPILER: [&str; 3] = ["C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT"];
/// Of the virtual machine's own threads.
const VM: [&str; 9] = [
    "VM Thread",
    "VM Periodic Tas",
    "Signal Dispatch",
    "Service Thread",
    "Monitor Deflati",
    "Notification Th",
    "Attach Listener",
    "Sweeper thread",
    "StackWatermark",
];

/// platform, carrier, virtual, gc, compiler, vm or native.
pub fn of(name: &str, is_java: bool, is_virtual: bool, is_carrier: bool) -> &'static str {
    let begins = |names: &[&str]| names.iter().any(|n| name.starts_with(n));
    if is_virtual {
        "virtual"
    } else if is_carrier {
        "carrier"
    } else if begins(&GC) {
        "gc"
    } else if begins(&COMPILER) {
        "compiler"
    } else if begins(&VM) {
        "vm"
    } else if is_java && name.starts_with("ForkJoinPool-1-worker-") {
        // The default scheduler of virtual threads; the common pool is ForkJoinPool.commonPool-….
        "carrier"
    } else if is_java {
        "platform"
    } else {
        "native"
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn threads_of_the_machine_are_known_by_name_even_if_it_was_cut() {
        for (name, kind) in [
            ("G1 Conc#0", "gc"),
            ("GC Thread#1", "gc"),
            ("C2 CompilerThre", "compiler"),
            ("C1 CompilerThread0", "compiler"),
            ("VM Periodic Tas", "vm"),
            ("java", "native"),
        ] {
            assert_eq!(of(name, false, false, false), kind, "{name}");
        }
    }

    #[test]
    fn a_java_thread_is_a_platform_thread_unless_it_carries() {
        assert_eq!(of("http-8443-exec-1", true, false, false), "platform");
        assert_eq!(of("ForkJoinPool-1-worker-2", true, false, false), "carrier");
        assert_eq!(
            of("ForkJoinPool.commonPool-worker-2", true, false, false),
            "platform"
        );
        assert_eq!(of("x", true, true, false), "virtual");
    }
}
