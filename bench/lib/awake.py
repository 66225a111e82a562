"""CPUs that do not halt between requests."""

import mmap
import struct
import subprocess
import tempfile

# A unit of its work is 20 hashes of 1 KiB: arithmetic in a small loop, which what ran before it on the CPU hardly slows down.
SPIN = """
import hashlib, mmap, os, struct, sys, time
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
told = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 16) if sys.argv[1:] else None
block, done = b"x" * 1024, 0
while True:
    for _ in range(20):
        hashlib.sha256(block).digest()
    done += 1
    if told:
        told[:] = struct.pack("dd", done, time.process_time())
"""


def keep_awake(cpus, told=None):
    """Spinners of idle priority, one a CPU: a half idle virtual CPU halts and is clocked down by its host, so that a request
    takes half as long again at 0.3 of the load line as at it (0.82 and 0.45 ms of CPU were measured). That is a property
    of the host; what is to be predicted is the server. Not for a server with several CPUs: Linux gives a CPU that becomes idle what waits
    for others, but not one that is left with a spinner (replies at half the utilization of two CPUs took twice as long)."""
    return [subprocess.Popen(["taskset", "-c", cpu, "python3", "-c", SPIN, *([told[i].name] if told else [])]) for i, cpu in enumerate(listed(cpus))]


def listed(cpus):
    """`0,1` as a list; nothing is none."""
    return cpus.split(",") if cpus else []


class Pace:
    """How fast these CPUs are while something else runs on them: what their spinners do in a second of CPU time of their own.
    Of a virtual machine that changes by a fifth within minutes."""

    def __init__(self, cpus):
        self.files = [tempfile.NamedTemporaryFile(prefix="pace-") for _ in listed(cpus)]
        for file in self.files:
            file.write(bytes(16))
            file.flush()
        self.maps = [mmap.mmap(file.fileno(), 16) for file in self.files]
        self.spinners = keep_awake(cpus, self.files)

    def now(self):
        """To be given to `since`."""
        return [struct.unpack("dd", told[:]) for told in self.maps]

    def since(self, then):
        """Units per second of CPU time; None where the others left them next to nothing of it."""
        done, cpu = (sum(n[i] - t[i] for n, t in zip(self.now(), then)) for i in (0, 1))
        return done / cpu if cpu > 0.3 else None

    def close(self):
        for spinner in self.spinners:
            spinner.kill()
            spinner.wait()
        for file in self.files:
            file.close()
