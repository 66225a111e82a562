//! Gives up what the daemon does not need: of root's capabilities it keeps those for affinities and cgroups.

use std::io;

/// Of linux/capability.h.
const CHOWN: u32 = 0; // an application's page is its user's
const DAC_OVERRIDE: u32 = 1; // cgroup files, and pages that are no longer ours
const SYS_NICE: u32 = 23; // affinities and cpusets of others' processes

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Version 3 of the interface: 64 capabilities in two words.
const VERSION_3: u32 = 0x2008_0522;

/// After this, no program that is started can get them back either.
pub(crate) fn drop_what_is_not_needed() -> io::Result<()> {
    let header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let mut data = [Data::default(); 2];
    // SAFETY: the structures are the kernel's, version 3 has two words.
    if unsafe { libc::syscall(libc::SYS_capget, &header, data.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let keep = 1 << CHOWN | 1 << DAC_OVERRIDE | 1 << SYS_NICE;
    data[0].effective &= keep;
    data[0].permitted &= keep;
    data[0].inheritable = 0;
    data[1] = Data::default();
    // SAFETY: as above; prctl takes no memory.
    unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(io::Error::last_os_error());
        }
        if libc::syscall(libc::SYS_capset, &header, data.as_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
