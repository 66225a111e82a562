"""What the guard costs while nobody is refused: one JVM whose guard is switched off and on while it is loaded.

Two JVMs of one kind differ by a few percent from each other, which is more than what is to be measured. So there is one: a
*slice* is a few seconds in one mode, a *block* is four slices, off on on off or on off off on in turn, so that what
drifts steadily touches both alike. When the mode changes, those who are there still have connections of the mode
before: they think for a tenth of a second only, and have left, but for a few, when the next slice begins. The generator runs on
through all slices. The CPU is kept awake by a process of idle priority: what a half idle virtual CPU does is its host's affair.
"""

import csv
import os
import sys
import time

import guardsite
import harness
from awake import keep_awake
from server import cpus

ON, OFF = "enforce", "off"
THINK = "100ms"
# Some half of what the CPU serves.
RATE = 90.0
# Seconds between a change of mode and a slice.
SETTLES_S = 0.2 if harness.shortest() else 2.0


class Switched(guardsite.Site):
    """A guarded site whose mode can be set, and which tells its replies."""

    def __init__(self, folder, **more):
        self._modes = os.path.join(folder, "modes")
        self._counts = os.path.join(folder, "counts.csv")
        self._writer = None
        os.mkfifo(self._modes)
        super().__init__("guarded", {"protection": "guarded", "protection.modes": self._modes, "protection.counts": self._counts}, **more)

    def ready(self):
        super().ready()
        self._writer = open(self._modes, "w", buffering=1)
        return self

    def mode(self, mode):
        """Sets it; from then on connections begin in it."""
        self._writer.write(f"{mode}\n")

    def counts(self, *columns):
        """(seconds on the monotonic clock, sum of these columns so far), ten times a second."""
        with open(self._counts) as f:
            # The last line may be half written.
            return [(int(r["at_ns"]) / 1e9, sum(int(r[c]) for c in columns)) for r in csv.DictReader(f) if r["Errors"] is not None]

    def refused(self):
        """Connections that the guard has refused so far."""
        return self.counts("RefusedNew", "RefusedClaims")[-1][1]

    def process_cpu_s(self):
        """CPU time of the process, to the nanosecond: the clock that the kernel has of each process (its number is made of the pid)."""
        return time.clock_gettime((~self.pid) << 3 | 2)

    def guard_thread_cpu_s(self):
        """CPU time of the guard's own loop, which runs while the guard is off as well."""
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/comm") as f:
                name = f.read().strip()
            if name == "loadline-guard":
                with open(f"/proc/{self.pid}/task/{task}/schedstat") as f:
                    return int(f.read().split()[0]) / 1e9
        raise ValueError("the site has no thread loadline-guard")


def measure(site, scenario, blocks, slice_s):
    """Loads the site and switches its guard; the figures."""
    order = [mode for i in range(blocks) for mode in ((OFF, ON, ON, OFF) if i % 2 == 0 else (ON, OFF, OFF, ON))]
    changes = 1 + sum(a != b for a, b in zip(order, order[1:]))
    seconds = changes * SETTLES_S + len(order) * (slice_s + 0.1)
    awake = keep_awake(str(cpus()[0]))
    refused = site.refused()
    try:
        load = guardsite.begin_load(site.port, scenario, RATE, seconds, think=THINK, seed=3)
        slices, now = [], None
        for mode in order:
            if mode != now:
                site.mode(mode)
                now = mode
                time.sleep(SETTLES_S)
            slices.append(one(site, mode, slice_s))
        time.sleep(0.3)  # the last replies are counted
        told = guardsite.figures(guardsite.summary(load, seconds + 60))
    finally:
        awake.kill()
        awake.wait()
    # The shortest slices are shorter than what a cold site's counts come late by; that a mode cannot be set ends the site in any run.
    if not harness.shortest():
        check_modes(slices, site.counts("FullHandshakes", "ResumedHandshakes"))
    return result(slices, site.counts("replies"), told) | {"refused": site.refused() - refused}


def check_modes(slices, handshakes):
    """A guard that is off sees no handshake: else two equal things would be compared."""
    seen = {mode: sum(at(handshakes, s["end"]) - at(handshakes, s["begin"]) for s in slices if s["mode"] == mode) for mode in (ON, OFF)}
    if seen[OFF] >= 0.5 * seen[ON]:
        sys.exit(f"the guard saw {seen[OFF]:.0f} handshakes while it was to be off and {seen[ON]:.0f} while on: its mode did not change")


def one(site, mode, slice_s):
    begin, cpu, own = time.monotonic(), site.process_cpu_s(), site.guard_thread_cpu_s()
    time.sleep(slice_s)
    end, cpu_after, own_after = time.monotonic(), site.process_cpu_s(), site.guard_thread_cpu_s()
    return {"mode": mode, "begin": begin, "end": end, "cpu_s": cpu_after - cpu, "own_s": own_after - own}


def at(counts, when):
    """What was counted until then, between two lines."""
    before = max((c for c in counts if c[0] <= when), default=counts[0])
    after = min((c for c in counts if c[0] > when), default=counts[-1])
    if after[0] <= before[0]:
        return before[1]
    return before[1] + (after[1] - before[1]) * (when - before[0]) / (after[0] - before[0])


def result(slices, replies, told):
    for s in slices:
        s["replies"] = at(replies, s["end"]) - at(replies, s["begin"])
    blocks = [slices[i:i + 4] for i in range(0, len(slices), 4)]

    def per_reply(block, mode, cpu):
        of = [s for s in block if s["mode"] == mode]
        return guardsite.ratio(sum(cpu(s) for s in of), sum(s["replies"] for s in of))

    def ratios(off_cpu):
        return harness.interval([guardsite.ratio(per_reply(b, ON, lambda s: s["cpu_s"]), per_reply(b, OFF, off_cpu)) for b in blocks])

    def mean(mode, cpu):
        return per_reply(slices, mode, cpu)
    seconds = sum(s["end"] - s["begin"] for s in slices)
    figures = {
        "rate_sessions_per_s": RATE, "think": THINK, "blocks": len(blocks), "seconds_per_slice": round(slices[0]["end"] - slices[0]["begin"], 2),
        "cpu_us_per_reply_off": round(1e6 * mean(OFF, lambda s: s["cpu_s"]), 2), "cpu_us_per_reply_on": round(1e6 * mean(ON, lambda s: s["cpu_s"]), 2),
        "server_cpu": round(sum(s["cpu_s"] for s in slices) / seconds, 3),
        "cpu_per_reply_ratio": ratios(lambda s: s["cpu_s"]),
        # As if the loop, which runs in both modes, were not there at all while the guard is off.
        "cpu_per_reply_ratio_with_its_loop": ratios(lambda s: s["cpu_s"] - s["own_s"]),
        "loop_cpu_us_per_s": round(1e6 * sum(s["own_s"] for s in slices) / seconds, 1),
        "p95_ms": told["p95_ms"], "failures": told["failures"],
    }
    for name in ("cpu_per_reply_ratio", "cpu_per_reply_ratio_with_its_loop"):
        r = figures[name]
        span = "" if r["low"] is None else f" ({r['low']:.4f} to {r['high']:.4f})"
        print(f"{'calm, ' + name.replace('_', ' '):54}{r['mean']:10.4f}{span}, on to off in one JVM, {r['runs']} blocks")
    print(f"{'calm, CPU per reply, off and on':54}{figures['cpu_us_per_reply_off']:10.1f} and {figures['cpu_us_per_reply_on']:.1f} us; "
          f"the loop {figures['loop_cpu_us_per_s']:.0f} us a second; {figures['server_cpu']:.2f} of the CPU used")
    return figures
