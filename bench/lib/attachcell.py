"""One cell of bench/attach: a JVM under steady open load, something attached to it and gone again, second by second.

Terms: time 0 is when the load begins to count; the observer attaches at `before` and leaves at `before + hold`; the
load ends at `before + hold + after`. Requests are counted in the second in which they were answered.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import harness
import observers
import watch
from attachstats import PATIENCE_MS
from server import Server, cpus
from threads import Sampler

LOADLINE = harness.built("loadline")
CLOSED_USERS = 16
# While it warms up: with more the compilers, a thread or two of many, get the smaller part of the CPUs.
WARM_USERS = 3
WARM_SLICE_S = 10
# It is warm when the compilers use less than this part of a CPU over a slice.
QUIET = 0.05
# A load is held of which at least this part is answered.
HELD = 0.95
HEAP = ("-Xms1g", "-Xmx1g")


@dataclass(frozen=True)
class App:
    """A site: its jar, its options for (port file, longest life in s), scheme, and the scenario that walks it."""

    jar: str
    options: object
    scheme: str
    scenario: str


APPS = {
    "auction": App(os.path.join(harness.ROOT, "bed", "auction", "target", "auction.jar"),
                   lambda port_file, most_s: ["--port", "0", "--port-file", port_file, "--max-seconds", str(most_s)],
                   "https", "browsing"),
    "clinic": App(os.path.join(harness.ROOT, "bed", "clinic", "target", "clinic.jar"),
                  lambda port_file, most_s: ["--server.port=0", f"--clinic.port-file={port_file}", f"--clinic.max-seconds={most_s}"],
                  "http", os.path.join(harness.ROOT, "bed", "clinic", "walk.toml")),
}


@dataclass(frozen=True)
class Times:
    """In seconds: at most warming up on all CPUs; each of the slices that the peak is searched in; at the cell's load; then
    what is measured."""

    warm_up: int
    peak_slices: int
    peak_slice: int
    settle: int
    before: int
    hold: int
    after: int

    @property
    def measured(self):
        return self.before + self.hold + self.after

    @property
    def longest(self):
        """When a JVM ends itself, should nobody be left to end it."""
        return 600 + self.warm_up + self.settle + self.measured + self.peak_slices * self.peak_slice


def warm_server(app, home, times, options=()):
    """A running site whose JIT had all CPUs and has little left to do, now on its own CPU. It starts on all, too: the
    JVM chooses its collector and its compiler threads by the CPUs that it sees then."""
    site = APPS[app]
    server = Server(app, lambda port_file: [os.path.join(home, "bin", "java"), *HEAP, *options, "-jar", site.jar,
                                            *site.options(port_file, times.longest)],
                    on=",".join(map(str, cpus())), env=observers.ENVIRONMENT).ready()
    _warm_up(app, server, times.warm_up)
    server.pin(str(cpus()[0]))
    return server


def _warm_up(app, server, most):
    """Until the compilers are quiet, for `most` seconds at most: first with all users that it will have, then with few."""
    sampler = Sampler(server.pid)
    slice_s = min(WARM_SLICE_S, most)
    end = time.monotonic() + most
    try:
        _closed(app, server, slice_s, CLOSED_USERS)
        while time.monotonic() < end:
            begin = time.monotonic()
            _closed(app, server, slice_s, WARM_USERS)
            now = time.monotonic()
            if sampler.at(now)["jit"] - sampler.at(begin)["jit"] < QUIET * (now - begin):
                break
    finally:
        sampler.close()


def _generator(app, server, *arguments):
    site = APPS[app]
    return ["taskset", "-c", str(cpus()[1]), LOADLINE, "load", f"{site.scheme}://127.0.0.1:{server.port}", "--insecure",
            "--scenario", site.scenario, "--timeout", f"{PATIENCE_MS / 1e3:.0f}s", "--json", *map(str, arguments)]


def _closed(app, server, seconds, users):
    """Replies per second to users who do not think."""
    command = _generator(app, server, "--users", users, "--think", "0ms", "-d", f"{seconds}s")
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["replies_per_s"]


def _peak(app, server, times):
    """Requests per second of such load as the cell's that the site holds on its one CPU, and whether it does: the most, in steps of a tenth of what
    users who do not think get, at which it answers what is offered. Such users keep their connections; open load begins with
    new ones, which cost a site with TLS more than most requests: at the users' rate, it would only fall further behind."""
    closed = harness.spread([_closed(app, server, times.peak_slice, CLOSED_USERS) for _ in range(times.peak_slices)])["median"]
    for tenths in range(10, 1, -1):
        rate = closed * tenths / 10
        if _holds(app, server, rate, times):
            return rate, True
        _closed(app, server, 1, 1)  # what that has left behind is gone when a user is answered again
    return rate, False


def _holds(app, server, rate, times):
    """Whether it answers what is offered, once the load has begun."""
    command = _generator(app, server, "--requests", round(rate), "--warmup", f"{times.peak_slice}s", "-d", f"{2 * times.peak_slice}s")
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    load = json.loads(done.stdout)
    if load["error"]:
        return False  # more waited than the generator has descriptors for
    seconds = load["series"][:2 * times.peak_slice]
    answered, offered = (sum(s[what] for s in seconds) for what in ("goodput", "offered"))
    return answered > HELD * offered


def measure(app, home, load, mode, times):
    """The cell, at `load` percent of its JVM's own peak, as found a moment before: JVMs differ, and so does the machine from
    one minute to the next. `seconds` (what was offered, replies, failures, p99_ms of each), `cpu` (seconds of CPU since 0 by
    kind of thread, at the end of each second), `fixed_work_us` (what the same work took on the site's CPU in each second, None
    where that never came to run), how long attaching and leaving took, and what went wrong."""
    observer = observers.MODES[mode]()
    with tempfile.TemporaryDirectory(prefix="attach-") as folder, warm_server(app, home, times, observer.options) as server:
        peak, held = _peak(app, server, times)
        rate = max(1, round(peak * load / 100))
        sampler = Sampler(server.pid)
        try:
            answered, took, wrong = _loaded(app, server, rate, observer, home, folder, times)
        finally:
            sampler.close()
            ended_badly = observer.finish()
        if not held:
            wrong.append(f"the site did not hold {round(peak)}/s either, the least that was tried: its peak is unknown")
        return {"rate": rate, **took, "wrong": [w for w in (*wrong, ended_badly) if w],
                "seconds": _seconds(answered["series"], rate, times), "cpu": _cpu(sampler, answered["begin"], times),
                "fixed_work_us": _by_second(answered["speed"], times)}


def _loaded(app, server, rate, observer, home, folder, times):
    """Runs the load, with what happens during it: its figures and its begin, how long attaching and leaving took,
    what went wrong."""
    command = _generator(app, server, "--requests", rate, "--warmup", f"{times.settle}s", "-d", f"{times.measured}s")
    with open(os.path.join(folder, "load"), "w+") as out, open(os.path.join(folder, "load.err"), "w+") as err:
        generator = subprocess.Popen(command, stdout=out, stderr=err)
        speed = watch.along(cpus()[0], times.settle + times.measured)
        begin = time.monotonic() + times.settle
        try:
            took, wrong = _watched(observer, server.pid, home, folder, begin, times)
            generator.wait(times.measured + 120)
        except subprocess.TimeoutExpired:
            wrong.append("the generator did not end")
        finally:
            if generator.poll() is None:
                generator.kill()
                generator.wait()
        out.seek(0)
        err.seek(0)
        text, said = out.read(), err.read()
    answered = {"series": [], "begin": begin, "speed": watch.result(speed)}
    if not text:
        return answered, took, [*wrong, f"no figures of the load: {said[-400:].strip()}"]
    load = json.loads(text)
    return {**answered, "series": load["series"]}, took, wrong + ([f"load: {load['error']}"] if load.get("error") else [])


def _watched(observer, pid, home, folder, begin, times):
    """Attaches and leaves when it is time: what went wrong, and how long each took."""
    wrong, took = [], {}
    for name, at, act in (("attach", times.before, lambda: observer.attach(pid, home, folder, times.hold)),
                          ("leave", times.before + times.hold, observer.leave)):
        time.sleep(max(0.0, begin + at - time.monotonic()))
        called = time.monotonic()
        try:
            act()
        except observers.Failed as e:
            wrong.append(f"{name}: {e}")
        took[f"{name}_s"] = round(time.monotonic() - called, 3)
    return took, wrong


def _seconds(series, rate, times):
    """One row a second. Seconds that the generator did not live to see count as offered and not answered."""
    rows = [{"offered": s["offered"], "replies": s["goodput"], "failures": s["failures"], "p99_ms": round(s["p99_ms"], 2)} for s in series]
    nothing = {"offered": rate, "replies": 0, "failures": 0, "p99_ms": 0.0}
    return (rows + [nothing] * times.measured)[:times.measured]


def _by_second(speed, times):
    """Of what was seen along the settling and the measured seconds, the mean in each of the latter."""
    each = [[us for at, us in speed if second <= at - times.settle < second + 1] for second in range(times.measured)]
    return [round(statistics.mean(us), 1) if us else None for us in each]


def _cpu(sampler, begin, times):
    first = sampler.at(begin)
    ends = [sampler.at(begin + second + 1) for second in range(times.measured)]
    return {kind: [round(end[kind] - first[kind], 3) for end in ends] for kind in first}
