"""What the kernel tells of BPF programs: how often each ran, and for how long. To tell takes it some 20 ns a run, which count."""

import contextlib
import ctypes
import os
import platform
import struct

SWITCH = "/proc/sys/kernel/bpf_stats_enabled"
CALL = {"x86_64": 321, "aarch64": 280}
PROG_GET_FD_BY_ID, OBJ_GET_INFO_BY_FD = 13, 15
# Of struct bpf_prog_info in <linux/bpf.h>.
INFO, NAME, RUN_TIME = 256, slice(64, 80), 192


def unfit():
    """What is missing here, or None."""
    if os.geteuid() != 0:
        return "the kernel's statistics of BPF programs take root: use sudo"
    if not os.path.exists(SWITCH):
        return f"this kernel keeps no statistics of BPF programs: {SWITCH} is missing"
    if platform.machine() not in CALL:
        return f"the number of the bpf system call is not known here for {platform.machine()}"
    return None


@contextlib.contextmanager
def told():
    """The kernel counts, as long as this lasts."""
    with open(SWITCH) as f:
        before = f.read()
    with open(SWITCH, "w") as f:
        f.write("1")
    try:
        yield
    finally:
        with open(SWITCH, "w") as f:
            f.write(before)


def of(pid):
    """Of the programs that a process has open: {name: (ns, runs)} so far."""
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}") as f:
                told = dict(line.rstrip().split(":", 1) for line in f if ":" in line)
        except FileNotFoundError:
            continue  # closed meanwhile
        if "prog_id" in told:
            name, ns, runs = _program(int(told["prog_id"]))
            found[name] = (ns, runs)
    return found


def _program(number):
    fd = _bpf(PROG_GET_FD_BY_ID, ctypes.create_string_buffer(struct.pack("III", number, 0, 0)))
    try:
        info = ctypes.create_string_buffer(INFO)
        _bpf(OBJ_GET_INFO_BY_FD, ctypes.create_string_buffer(struct.pack("IIQ", fd, INFO, ctypes.addressof(info))))
    finally:
        os.close(fd)
    ns, runs = struct.unpack_from("QQ", info, RUN_TIME)
    return info.raw[NAME].split(b"\0")[0].decode(), ns, runs


def _bpf(command, attributes):
    done = ctypes.CDLL(None, use_errno=True).syscall(CALL[platform.machine()], command, attributes, len(attributes))
    if done < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command}): {os.strerror(ctypes.get_errno())}")
    return done
