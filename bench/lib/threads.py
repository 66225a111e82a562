"""CPU time of a JVM by what its threads are for, second by second.

Terms: a *kind* is one of `worker` (the server's own threads: those that serve requests, its acceptor and pollers, and
the carriers of virtual threads), `jit`, `gc`, and `other` (all the rest, threads that have ended in between included).

Linux keeps 15 letters of a thread's name, so that workers and pollers of a server on a port of five digits look alike.
"""

import os
import threading
import time

import watch

KINDS = {"worker": ("http-", "https-", "catalina-", "tomcat-", "ForkJoinPool"), "jit": ("C1 Comp", "C2 Comp"), "gc": ("GC Thread", "G1 ")}
PERIOD_S = 0.5


def kind_of(name):
    """By the begin of its name."""
    return next((kind for kind, begins in KINDS.items() if name.startswith(begins)), "other")


def _read(path):
    try:
        with open(path) as f:
            return f.read()
    except (FileNotFoundError, ProcessLookupError):
        return None  # the thread has ended


def by_thread(pid):
    """(id, kind, CPU seconds so far) of each of its threads."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        stat = _read(f"/proc/{pid}/task/{tid}/stat")
        if stat is not None:
            name = stat[stat.index("(") + 1:stat.rindex(")")]
            fields = stat.rsplit(")", 1)[1].split()
            yield tid, kind_of(name), (int(fields[11]) + int(fields[12])) / watch.TICKS


class Sampler:
    """Samples a process from its start until close(). What a thread used since it was last seen alive goes to `other`."""

    def __init__(self, pid):
        self.pid = pid
        self.samples = []  # (time.monotonic(), {kind: CPU seconds so far})
        self._seen = {}  # tid: (kind, CPU seconds)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._over.is_set():
            try:
                self._sample()
            except (FileNotFoundError, ProcessLookupError):
                return  # the process has ended
            self._over.wait(PERIOD_S)

    def _sample(self):
        now = time.monotonic()
        for tid, kind, seconds in by_thread(self.pid):
            self._seen[tid] = (kind, seconds)
        total = watch.cpu_seconds(self.pid)
        used = dict.fromkeys(KINDS, 0.0)
        for kind, seconds in self._seen.values():
            if kind != "other":
                used[kind] += seconds
        self.samples.append((now, {**used, "other": max(0.0, total - sum(used.values())), "total": total}))

    def close(self):
        self._over.set()
        self._thread.join()

    def at(self, when):
        """CPU seconds of each kind at that time, between two samples by a straight line; the last after the end."""
        earlier = self.samples[0]
        for later in self.samples:
            if later[0] >= when:
                span = later[0] - earlier[0]
                part = (when - earlier[0]) / span if span else 0.0
                return {k: earlier[1][k] + part * (later[1][k] - earlier[1][k]) for k in later[1]}
            earlier = later
        return earlier[1]
