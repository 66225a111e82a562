//! What the machine is, for the trace's header.

use loadline_trace::meta::Machine;

/// The machine, with `target_cpus` CPUs for the target.
pub fn machine(target_cpus: u32) -> Machine {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    // SAFETY: no pointers; the answer is checked.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    Machine {
        host: read("/proc/sys/kernel/hostname").trim().to_owned(),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        cpus: u32::try_from(cpus).unwrap_or(0),
        target_cpus,
        cpu_model: cpu_model(&read("/proc/cpuinfo")),
        memory_bytes: memory_bytes(&read("/proc/meminfo")),
    }
}

fn cpu_model(cpuinfo: &str) -> String {
    let value = |name: &str| {
        cpuinfo.lines().find_map(|l| {
            let (n, v) = l.split_once(':')?;
            (n.trim() == name).then(|| v.trim().to_owned())
        })
    };
    // arm64 has no name of the model, only its part number.
    value("model name")
        .or_else(|| value("CPU part").map(|p| format!("arm64 part {p}")))
        .unwrap_or_default()
}

fn memory_bytes(meminfo: &str) -> u64 {
    let kib = crate::procfs::parse::status(meminfo, "MemTotal")
        .and_then(|v| v.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_memory_are_read() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel name\t: Xeon 2.5\n"),
            "Xeon 2.5"
        );
        assert_eq!(
            cpu_model("processor\t: 0\nCPU part\t: 0xd0c\n"),
            "arm64 part 0xd0c"
        );
        assert_eq!(
            memory_bytes("MemTotal:       1024 kB\nMemFree: 1 kB\n"),
            1 << 20
        );
    }
}
