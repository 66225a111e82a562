"""The auction site behind a protection, on CPUs of its own, and load on it from another CPU.

Terms: a *variant* is a name and the properties that choose the protection (bed/guard-bench's
Protection); a *point* is one run of the generator at one rate of new sessions. Throughput is
successful replies per second, sessions are those completed per second.
"""

import json
import os
import re
import subprocess
import sys
import time

import guardbed
import harness
from server import Server, cpus

GUARD = os.path.join(harness.ROOT, "java", "guard-tomcat", "target", "loadline-guard-tomcat.jar")
# Fixed, and large enough for the sessions of the last ten minutes and the TLS sessions that JSSE keeps (some 700 MB
# after half an hour): with less, full collections take a part of the CPU that grows with the bench.
HEAP = ("-Xms2g", "-Xmx2g", "-Xmn600m")
# A run that only shows that all works begins sooner without the second compiler, and on few data.
SOONER = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC") if harness.shortest() else ()
SMALL = ("--items", "300", "--old-items", "300", "--users", "200", "--key", "ec") if harness.shortest() else ()
# What one CPU of today serves, more or less, in sessions per second: only for warming up.
WARM_RATE = 200


class Site(Server):
    """One running site behind what `properties` choose."""

    def __init__(self, name, properties, on=None, max_seconds=4 * 3600, options=(), jar=None, beside=()):
        """`jar`: another build of the guard than this repository's; `beside`: further jars."""
        guard = jar or GUARD
        # Before the bed's own libraries, among which is the guard's core.
        path = "".join(f"{b}:" for b in beside) + (f"{guard}:" if properties.get("protection") == "guarded" else "") + guardbed.classpath()
        if properties.get("protection") == "guarded" and not os.path.exists(guard):
            sys.exit(f"{guard} is missing: run `make build` first")
        super().__init__(name, lambda port_file: [
            "java", *HEAP, *SOONER, *options, *(f"-D{k}={v}" for k, v in properties.items()), "-cp", path,
            "dev.loadline.auction.Main", "--port", "0", "--port-file", port_file, "--max-seconds", str(max_seconds), *SMALL], on)

    def wait_idle(self, seconds=60):
        """Until what the last point left behind has been served or dropped: before the next point, and after this one,
        because the other sites share the CPU. What an overload leaves takes an unguarded site half a minute."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = self.cpu_seconds()
            time.sleep(0.5)
            if self.cpu_seconds() - before < 0.05:
                return
        print(f"{self.name}: still busy after {seconds} s: what is measured next shares its CPU", flush=True)

    def collect(self):
        """A full collection, which takes a second: else one falls into one slice of ten, whoever's it is."""
        subprocess.run(["jcmd", str(self.process.pid), "GC.run"], capture_output=True, check=True)

    def switches(self):
        """Context switches of its threads so far; those of threads that ended are gone with them."""
        count = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{task}/status") as f:
                    count += sum(int(line.split()[1]) for line in f if "ctxt_switches" in line)
            except FileNotFoundError:
                pass  # it ended meanwhile
        return count

    def resources(self):
        """Resident memory, threads and descriptors."""
        with open(f"/proc/{self.process.pid}/status") as f:
            status = dict(line.split(":", 1) for line in f if ":" in line)
        return {"resident_mib": int(status["VmRSS"].split()[0]) // 1024, "threads": int(status["Threads"]),
                "descriptors": len(os.listdir(f"/proc/{self.process.pid}/fd"))}

    def live_heap_mib(self):
        """What is reachable, after a full collection."""
        out = subprocess.run(["jcmd", str(self.process.pid), "GC.class_histogram"], capture_output=True, text=True, check=True).stdout
        return int(out.strip().splitlines()[-1].split()[-1]) // (1 << 20)


def scenario(folder, versions=("1.3",), changes=()):
    """The browsing mix with these TLS versions, in a file, its visitors from addresses of their own; `changes`
    are (key, value) to set besides."""
    text = subprocess.run([harness.built("loadline"), "load", "--example-config"], capture_output=True, text=True, check=True).stdout
    listed = ", ".join(f'"{v}"' for v in versions)
    for key, value in (("versions", f"[{listed}]"), ("addresses", "100000"), *changes):
        text, found = re.subn(rf"(?m)^#? ?{key} = .*$", f"{key} = {value}", text, count=1)
        if not found:
            sys.exit(f"`loadline load --example-config` has no line '{key} = …': this bench must follow it")
    path = os.path.join(folder, f"browsing-{'-'.join(versions)}-{abs(hash(tuple(changes))) % 10000}.toml")
    with open(path, "w") as f:
        f.write(text)
    return path


def begin_load(port, scenario_file, rate, seconds, think="700ms", seed=1, warmup_s=0.0, extra=()):
    """Begins the generator on its CPU; `summary` waits for it."""
    command = ["taskset", "-c", str(cpus()[1]), *guardbed.generator(), f"https://127.0.0.1:{port}", "--scenario", scenario_file,
               "--rate", f"{rate:.4f}", "--think", think, "-d", f"{seconds:.1f}s", "--warmup", f"{warmup_s:.1f}s",
               "--seed", str(seed), "--json", *extra]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def summary(process, most_s):
    """What a generator says that was begun, and is over within so many seconds."""
    try:
        out, err = process.communicate(timeout=most_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    if process.returncode != 0:
        sys.exit(f"{' '.join(process.args)} ended with {process.returncode}: {err[-2000:]}")
    return json.loads(out)


def load(port, scenario_file, rate, seconds, warmup_s=0.0, **more):
    """Runs the generator on its CPU, after so much warm-up, and returns its summary."""
    return summary(begin_load(port, scenario_file, rate, seconds, warmup_s=warmup_s, **more), warmup_s + seconds + 120)


def figures(summary):
    """What the benches keep of a point. Sessions still under way at its end are neither done nor broken."""
    sessions = summary["sessions"]
    ended = sessions["completed"] + sessions["broken"] + sessions["not_started"]
    return {
        "replies_per_s": round(summary["replies_per_s"], 2),
        "sessions_per_s": round(sessions["completed"] / summary["seconds"], 3),
        "sessions_kept": round(sessions["completed"] / ended, 4) if ended else 1.0,
        "sessions_broken": sessions["broken"],
        "failures": summary["failures"],
        "p50_ms": round(summary["response"]["p50_ms"], 2),
        "p95_ms": round(summary["response"]["p95_ms"], 2),
        "p99_ms": round(summary["response"]["p99_ms"], 2),
        "full": summary["handshakes"]["full"],
        "resumed": summary["handshakes"]["resumed"],
        "handshakes_failed": summary["handshakes"]["failed"],
        "generator_cpu": round(summary["generator"]["cpu_share"], 3),
        "generator_lag_p99_ms": round(summary["generator"]["lag_p99_ms"], 2),
    }


def warm(site, scenario_file):
    """Brings the JIT to its end: a load that grows to what the site can serve, on all CPUs, so that compiling does
    not take minutes of the one that is measured; then the site's own CPU again. With --quick, a little."""
    site.pin(",".join(map(str, cpus())))
    for share in (0.08,) if harness.quick() else (0.5, 1, 1):
        load(site.port, scenario_file, WARM_RATE * share, (1 if harness.shortest() else 2) if harness.quick() else 15, seed=99 + int(100 * share))
    site.pin(str(cpus()[0]))
    if not harness.quick():
        load(site.port, scenario_file, WARM_RATE / 2, 10, seed=98)
    site.wait_idle()


def ratio(one, other):
    """Their ratio; 0 where the other is 0, as may be in --quick's short runs on a busy machine."""
    return one / other if other else 0.0


# Sessions last some seconds, so that a point is steady after these, which do not count.
LEAD_S = 1 if harness.quick() else 8


def find_load_line(site, scenario_file, seconds, steps, light_rate=32.0):
    """(rate, figures there) of the largest rate at which goodput is at least 95% of what is offered and p95
    is at most four times its value at `light_rate`. Offered is what the light load brings per session and
    second, less two standard errors of that count. Doubles, then halves the interval `steps` times."""
    def point(rate, seed):
        site.wait_idle()
        return figures(load(site.port, scenario_file, rate, seconds, seed=seed, warmup_s=LEAD_S))

    def good(rate, at):
        holds = (at["sessions_kept"] >= 0.95 and at["p95_ms"] <= objective_ms
                 and at["replies_per_s"] >= least * rate / light_rate)
        print(f"  {rate:8.2f} sessions/s: {at['replies_per_s']:8.1f} replies/s, p95 {at['p95_ms']:8.1f} ms, "
              f"{at['sessions_kept']:6.1%} kept{'' if holds else ', beyond'}", flush=True)
        return holds

    # Twice: the first may still be warming up.
    lights = [point(light_rate, 1), point(light_rate, 2)]
    low, best = light_rate, min(lights, key=lambda p: p["p95_ms"])
    if not best["replies_per_s"] and not harness.quick():
        sys.exit(f"no reply at all to {light_rate:g} sessions/s within {seconds:g} s: is the machine busy with something else?")
    replies = seconds * sum(p["replies_per_s"] for p in lights) / 2
    least = best["replies_per_s"] * max(0.0, 0.95 - 2 / max(1, replies) ** 0.5)
    objective_ms = 4 * best["p95_ms"]
    good(low, best)
    high = 2 * low
    while good(high, at := point(high, 3)):
        low, best, high = high, at, 2 * high
        if high > 4096:
            sys.exit("no load line below 4096 sessions/s: something is wrong with the measurement")
    for i in range(steps):
        middle = (low + high) / 2
        if good(middle, at := point(middle, 4 + i)):
            low, best = middle, at
        else:
            high = middle
    return low, best
