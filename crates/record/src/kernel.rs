//! The kernel level: BPF programs on the scheduler's tracepoints and on that of connections, and on system calls if asked.
//!
//! Loading can fail for reasons that are the user's to change (privilege, an old kernel, a pid
//! namespace), and that must not end a recording: they come back as a sentence with its remedy.
//!
//! What always holds: nothing is pinned; programs, maps and links live as long as their
//! descriptors, so that they vanish with this process however it ends.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Mutex;

use libbpf_rs::btf::types::{FuncProto, Ptr, Typedef, Union};
use libbpf_rs::btf::{Btf, ReferencesType};
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType, OpenObject, PrintLevel};

use crate::procfs::Known;
use crate::ring::ring_size;
use crate::walk::{Through, Walk};
use crate::{calls, closed, opened};

#[allow(missing_docs, clippy::all)]
mod skel {
    include!(concat!(env!("OUT_DIR"), "/kernel.skel.rs"));
}
use skel::{KernelSkel, KernelSkelBuilder};

/// Which programs are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The scheduler's.
    pub scheduler: bool,
    /// Those on system calls.
    pub syscalls: bool,
}

/// Where libbpf keeps the object while it is open; outlives [`Kernel`].
pub type Storage = MaybeUninit<OpenObject>;

/// Loaded programs; attached after [`Kernel::attach`], detached when dropped.
pub struct Kernel<'a> {
    skel: KernelSkel<'a>,
    rings: Vec<MapHandle>,
    ring_bytes: usize,
    tells_connections: bool,
    walks: bool,
}

/// Inode of the initial pid namespace (PROC_PID_INIT_INO in the kernel's proc_ns.h).
const INIT_PID_NS: &str = "pid:[4026531836]";
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;
const KERNEL_BTF: &str = "/sys/kernel/btf/vmlinux";

impl<'a> Kernel<'a> {
    /// Loads the programs without attaching them; the error says why the level cannot be had.
    pub fn load(
        storage: &'a mut Storage,
        wanted: Wanted,
        ring_bytes: usize,
    ) -> Result<Kernel<'a>, String> {
        if let Some(why) = obstacle() {
            return Err(why);
        }
        keep_messages();
        let ring_bytes = ring_size(ring_bytes);
        let cpus = libbpf_rs::num_possible_cpus().map_err(|e| explain("counting CPUs", &e))?;
        let mut open = KernelSkelBuilder::default()
            .open(storage)
            .map_err(|e| explain("opening the programs", &e))?;
        let rodata = open.maps.rodata_data.as_deref_mut();
        let rodata =
            rodata.ok_or_else(|| "kernel level: the program has no constants".to_owned())?;
        let types = Btf::from_vmlinux().map_err(|e| explain("reading the kernel's types", &e))?;
        rodata.switch_has_state = switch_has_state(&types)?.into();
        rodata.fd_of_call = calls::table();
        open.maps
            .rings
            .set_max_entries(cpus as u32)
            .map_err(|e| explain("sizing the map", &e))?;
        for program in [
            &mut open.progs.on_switch,
            &mut open.progs.on_waking,
            &mut open.progs.on_wakeup,
            &mut open.progs.on_new,
            &mut open.progs.on_exit,
        ] {
            program.set_autoload(wanted.scheduler);
        }
        // A kernel may have no TCP, or its tracepoint under another name: then sockets' addresses are in /proc only.
        let tells_connections =
            wanted.scheduler && tracepoint(&types, "inet_sock_set_state").is_some();
        open.progs.on_connection.set_autoload(tells_connections);
        let walks = can_walk_one_process(&types);
        for program in [&mut open.progs.on_descriptor, &mut open.progs.on_thread] {
            program.set_autoload(walks);
            program.set_autoattach(false); // to a process, when that is known
        }
        for program in [&mut open.progs.on_sys_enter, &mut open.progs.on_sys_exit] {
            program.set_autoload(wanted.syscalls);
        }
        let skel = open
            .load()
            .map_err(|e| explain("loading the programs", &e))?;
        let rings = (0..cpus as u32)
            .map(|cpu| new_ring(&skel, cpu, ring_bytes))
            .collect::<libbpf_rs::Result<Vec<_>>>()
            .map_err(|e| explain(&format!("making a ring of {ring_bytes} bytes per CPU"), &e))?;
        Ok(Kernel {
            skel,
            rings,
            ring_bytes,
            tells_connections,
            walks,
        })
    }

    /// The rings, one per possible CPU, and the size of each.
    pub fn rings(&self) -> (&[MapHandle], usize) {
        (&self.rings, self.ring_bytes)
    }

    /// Attaches the programs: from now on records of this process come, named by its id in the initial pid namespace.
    pub fn attach(&mut self, tgid: i32) -> Result<(), String> {
        let Some(globals) = self.skel.maps.bss_data.as_deref_mut() else {
            return Err("kernel level: the program has no variables".into());
        };
        globals.target = tgid as u32;
        self.skel
            .attach()
            .map_err(|e| explain("attaching the programs", &e))
    }

    /// Detaches them: no record comes after this returns.
    pub fn detach(&mut self) {
        self.skel.links = Default::default();
    }

    /// What can be asked here of this process, that `/proc` tells later, or at a higher price.
    pub fn known(&self, pid: i32) -> Result<Known, String> {
        let closed = match self.tells_connections {
            true => Some(
                MapHandle::try_from(&self.skel.maps.closed_sockets)
                    .map_err(|e| explain("asking for connections", &e))?,
            ),
            false => None,
        };
        let progs = &self.skel.progs;
        let descriptors = self.walk(progs.on_descriptor.as_fd(), Through::Descriptors(pid));
        Ok(Known {
            opened: descriptors.map(opened::listed_by),
            closed: closed.map(closed::known_by),
            threads: self.walk(progs.on_thread.as_fd(), Through::Threads(pid)),
        })
    }

    /// `None` where the kernel cannot do that.
    fn walk(&self, program: BorrowedFd<'_>, through: Through) -> Option<Walk> {
        self.walks.then(|| Walk::new(program, through).ok())?
    }

    /// Records that found their ring full.
    pub fn lost(&self) -> u64 {
        // A failing look-up would mean that our own map is gone.
        let Ok(Some(counts)) = self
            .skel
            .maps
            .lost
            .lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY)
        else {
            return 0;
        };
        counts
            .iter()
            .filter_map(|c| c.as_slice().try_into().ok())
            .map(u64::from_ne_bytes)
            .sum()
    }
}

fn new_ring(skel: &KernelSkel, cpu: u32, bytes: usize) -> libbpf_rs::Result<MapHandle> {
    let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>()
            as libbpf_rs::libbpf_sys::size_t,
        ..Default::default()
    };
    let ring = MapHandle::create(
        MapType::RingBuf,
        Some("loadline_ring"),
        0,
        0,
        bytes as u32,
        &options,
    )?;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&ring.as_fd());
    skel.maps
        .rings
        .update(&cpu.to_ne_bytes(), &fd.to_ne_bytes(), MapFlags::ANY)?;
    Ok(ring)
}

/// What stands in the way, of all that can be known before trying.
fn obstacle() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !may_load(&status) {
        // Not setcap: a binary with file capabilities may not load the libraries that lie beside it.
        return Some(
            "kernel level needs CAP_BPF and CAP_PERFMON: run with sudo, or as yourself with these two \
             alone: sudo setpriv --reuid $(id -u) --regid $(id -g) --init-groups --inh-caps +bpf,+perfmon \
             --ambient-caps +bpf,+perfmon loadline record …"
                .into(),
        );
    }
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    if namespace != Path::new(INIT_PID_NS) {
        return Some(
            "kernel level needs the machine's own process ids, and this is a pid namespace of a \
             container: run loadline on the host, or the container with --pid=host"
                .into(),
        );
    }
    if !Path::new(KERNEL_BTF).exists() {
        return Some(format!(
            "kernel level needs the kernel's type information, and {KERNEL_BTF} does not exist: run \
             a kernel built with CONFIG_DEBUG_INFO_BTF=y, as those of all large distributions are, \
             and mount /sys if this is a container"
        ));
    }
    None
}

/// Whether the effective capabilities in `/proc/self/status` suffice.
fn may_load(status: &str) -> bool {
    let caps = status
        .lines()
        .find_map(|l| l.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0);
    let has = |cap: u32| caps & (1 << cap) != 0;
    has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON))
}

/// Whether `sched_switch` tells the leaving thread's state (since Linux 5.18): its raw form then
/// has four arguments behind the hidden first one.
fn switch_has_state(types: &Btf) -> Result<bool, String> {
    match tracepoint(types, "sched_switch") {
        Some(n) => Ok(n >= 5),
        None => {
            Err("kernel level needs Linux 5.15 or later with the tracepoint sched_switch".into())
        }
    }
}

/// Whether iterators over tasks can go by one process (since Linux 6.1).
fn can_walk_one_process(types: &Btf) -> bool {
    types
        .type_by_name::<Union>("bpf_iter_link_info")
        .is_some_and(|u| u.iter().any(|m| m.name.is_some_and(|n| n == "task")))
}

/// How many arguments a tracepoint has in its raw form, the hidden first one among them; `None` if there is no such.
fn tracepoint(types: &Btf, name: &str) -> Option<usize> {
    types
        .type_by_name::<Typedef>(&format!("btf_trace_{name}"))
        .and_then(|t| Ptr::try_from(t.referenced_type()).ok())
        .and_then(|p| FuncProto::try_from(p.referenced_type()).ok())
        .map(|f| f.len())
}

/// What libbpf said last: its error codes alone explain little.
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn keep_messages() {
    fn keep(_: PrintLevel, text: String) {
        let mut messages = MESSAGES.lock().unwrap_or_else(|e| e.into_inner());
        messages.push(text.trim().to_owned());
    }
    MESSAGES.lock().unwrap_or_else(|e| e.into_inner()).clear();
    libbpf_rs::set_print(Some((PrintLevel::Warn, keep)));
}

fn explain(doing: &str, error: &libbpf_rs::Error) -> String {
    let messages = MESSAGES.lock().unwrap_or_else(|e| e.into_inner());
    let said = cause(&messages)
        .map(|c| format!(": {c}"))
        .unwrap_or_default();
    format!("kernel level: {doing} failed: {error}{said} (needs Linux 5.15 or later)")
}

/// What tells most: the verifier's verdict, which stands before its statistics; else the first
/// message, because others follow from it.
fn cause(messages: &[String]) -> Option<&str> {
    let lines = messages.iter().flat_map(|m| m.lines());
    let verdict = lines
        .clone()
        .zip(lines.skip(1))
        .find(|(_, next)| next.starts_with("processed "));
    verdict
        .map(|(line, _)| line)
        .or_else(|| messages.first()?.lines().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_capabilities_or_the_administrators_are_needed() {
        let status = |caps: u64| format!("Name:\tx\nCapEff:\t{caps:016x}\nCapBnd:\t0\n");
        assert!(may_load(&status(1 << CAP_BPF | 1 << CAP_PERFMON)));
        assert!(may_load(&status(1 << CAP_SYS_ADMIN)));
        assert!(!may_load(&status(1 << CAP_BPF)));
        assert!(!may_load(&status(0)));
        assert!(!may_load(""));
    }

    #[test]
    fn the_verifiers_verdict_tells_more_than_what_libbpf_says_around_it() {
        let load = "libbpf: prog 'x': BPF program load failed: -EACCES";
        let log = "-- BEGIN PROG LOAD LOG --\n0: R1=ctx()\nR0 bitwise operator\nprocessed 26 insns\n-- END --";
        assert_eq!(
            cause(&[load.into(), log.into()]),
            Some("R0 bitwise operator")
        );
        assert_eq!(cause(&[load.into(), "libbpf: failed".into()]), Some(load));
        assert_eq!(cause(&[]), None);
    }
}
