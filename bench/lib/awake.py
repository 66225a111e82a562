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


def keep_awake(cpu, told=None):
    """A spinner of idle priority: a half idle virtual CPU halts and is clocked down by its host, so that a request takes half
    as long again at 0.3 of the load line as at it (0.82 and 0.45 ms of CPU were measured). That is a property of the host; what is
    to be predicted is the server. One CPU only: Linux gives a CPU that becomes idle what waits for another, but not one that is left
    with a spinner (with two, replies on two CPUs took 2.3 ms instead of 1.7 at 0.8 of L0: bench/predict until spinners were one)."""
    return subprocess.Popen(["taskset", "-c", cpu, "python3", "-c", SPIN, *([told] if told else [])])


class Pace:
    """How fast a CPU is while something else runs on it: what its spinner does in a second of CPU time of its own. Of a
    virtual machine that changes by a fifth within minutes. Without a CPU there is no spinner, and no pace."""

    def __init__(self, cpu=None):
        self.spinner = None
        if cpu is None:
            return
        self.file = tempfile.NamedTemporaryFile(prefix="pace-")
        self.file.write(bytes(16))
        self.file.flush()
        self.map = mmap.mmap(self.file.fileno(), 16)
        self.spinner = keep_awake(cpu, self.file.name)

    def now(self):
        """To be given to `since`."""
        return struct.unpack("dd", self.map[:]) if self.spinner else None

    def since(self, then):
        """Units per second of CPU time; None where the others left it next to nothing of that."""
        if not self.spinner:
            return None
        done, cpu = (now - before for now, before in zip(self.now(), then))
        return done / cpu if cpu > 0.3 else None

    def close(self):
        if self.spinner:
            self.spinner.kill()
            self.spinner.wait()
            self.file.close()
            self.spinner = None
