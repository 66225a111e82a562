//! The machine's side: kernel, privilege, our own files.

use super::{Finding, Subject};
use crate::kernel::{Kernel, Storage, Wanted};
use crate::machine::machine;
use crate::options::{AgentFiles, Options};
use crate::sys;

/// Part of the memory that the rings of all possible CPUs may take without a word.
const RINGS_OF_MEMORY: f64 = 0.05;

pub fn look(agent: &AgentFiles) -> Subject {
    let it = machine(sys::affinity(std::process::id() as i32));
    let gib = it.memory_bytes as f64 / (1u64 << 30) as f64;
    let mut findings = vec![
        kernel(
            "kernel level",
            true,
            "every thread's state, its CPU, who woke it",
        ),
        kernel(
            "system calls",
            false,
            "with --syscalls: every call's duration, descriptor, size",
        ),
    ];
    findings.extend(rings(
        it.memory_bytes,
        libbpf_rs::num_possible_cpus().unwrap_or(0) as u64,
    ));
    findings.push(files(agent));
    Subject {
        title: format!(
            "{}: Linux {}, {}, {} CPUs, {gib:.1} GiB; as {}",
            it.host,
            it.kernel,
            it.cpu_model,
            it.cpus,
            crate::target::user_name(sys::euid())
        ),
        findings,
    }
}

/// Loads the programs, as a recording does, and drops them.
fn kernel(what: &'static str, scheduler: bool, gives: &str) -> Finding {
    const SMALLEST_RING: usize = 4096;
    let wanted = Wanted {
        scheduler,
        syscalls: !scheduler,
    };
    let mut storage = Storage::uninit();
    match Kernel::load(&mut storage, wanted, SMALLEST_RING) {
        Ok(_) => Finding::yes(what, gives),
        Err(why) => {
            let why = why
                .trim_start_matches("kernel level ")
                .trim_start_matches("kernel level: ");
            Finding::refused(what, why)
        }
    }
}

/// Rings are made for CPUs that could be plugged in, too.
fn rings(memory: u64, possible: u64) -> Option<Finding> {
    let all = possible * Options::RING_BYTES as u64;
    let mib = all >> 20;
    (all as f64 > RINGS_OF_MEMORY * memory as f64 && memory > 0).then(|| {
        Finding::partly(
            "memory",
            format!(
                "the kernel's buffers take {mib} MiB: {} MiB for each of {possible} possible CPUs",
                Options::RING_BYTES >> 20
            ),
            "--ring 4M takes an eighth of it; events are counted as lost if that is too little",
        )
    })
}

/// Our own files, and whether other users can read them.
fn files(agent: &AgentFiles) -> Finding {
    let unreadable = [&agent.jar, &agent.library]
        .into_iter()
        .find(|p| std::fs::File::open(p).is_err());
    match unreadable {
        Some(path) => Finding::no(
            "agent",
            format!("{} cannot be read", path.display()),
            "copy the whole folder that `make dist` made, or run `make build` in a checkout",
        ),
        None => Finding::yes("agent", agent.jar.display().to_string()),
    }
}
