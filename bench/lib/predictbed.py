"""A server as bench/predict needs it: warm on the CPUs of a cell, driven at a load, and recorded.

The generator has CPU 1, the server CPU 0 (or both have both, where a cell says so); the database's own process, if the site
has one, CPU 1. `reference` is what CPU 0 does of a fixed piece of work in a second: this kind of machine changes its
speed, and a prediction cannot know to what."""

import contextlib
import hashlib
import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass

import harness
from awake import Pace
from pinning import pin
from server import Server, answers, free_port
from threads import by_thread

LOADLINE = harness.built("loadline")
AGENT = harness.built("loadline-agent.jar")
AUCTION = os.path.join(harness.ROOT, "bed", "auction", "target", "auction.jar")
BROWSING = os.path.join(harness.ROOT, "crates", "load", "src", "scenario", "builtin", "browsing.toml")
HEAP = ("-Xms512m", "-Xmx512m")


@dataclass(frozen=True)
class Program:
    """What is measured: its jar, its scheme, the scenario that walks it, and the think time it is driven with."""

    jar: str = AUCTION
    scheme: str = "https"
    walk: str = BROWSING
    think: str = "500ms"

    @property
    def ours(self):
        return self.jar == AUCTION


def reference(seconds=0.4):
    """Units of work per second on CPU 0: hashing, which is arithmetic, and a walk over a table, which is memory."""
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {0})
    try:
        table = list(range(0, 400_000, 7))
        block = b"x" * 65536
        done, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            hashlib.sha256(block).digest()
            sum(table[::3])
            done += 1
        return done / (time.perf_counter() - begin)
    finally:
        os.sched_setaffinity(0, mine)


def descendants(pid):
    """Processes that a process has begun, and theirs: a site's database."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children") as f:
                for child in map(int, f.read().split()):
                    found += [child, *descendants(child)]
        except FileNotFoundError:
            continue  # It has ended meanwhile, and its children are another's.
    return found


def scenario(folder, walk, resume=None):
    """Path of a scenario, with other shares of resumption if they are given."""
    with open(walk) as f:
        text = f.read()
    if resume is not None:
        text = re.sub(r"(?m)^resume_within = .*", f"resume_within = {resume:.1f}", text)
        text = re.sub(r"(?m)^resume_across = .*", f"resume_across = {resume:.1f}", text)
    path = os.path.join(folder, f"walk-{resume}.toml")
    with open(path, "w") as f:
        f.write(text)
    return path


def compilers_seconds(pid):
    """CPU time of the JVM's compilers."""
    return sum(seconds for _, kind, seconds in by_thread(pid) if kind == "jit")


def start(program, options):
    """On all CPUs first: the JVM chooses its collector and compiler threads by what it sees, and the JIT has help."""
    java = ["java", *HEAP, f"-javaagent:{AGENT}", "-jar", program.jar]
    if program.ours:
        return Server("auction", lambda file: [*java, "--port", "0", "--port-file", file, "--max-seconds", "2400", *options], on="0,1").ready()
    port = free_port()
    server = Server(os.path.basename(program.jar), lambda _: [*java, f"--server.port={port}", *options], on="0,1")
    server.port = port
    return answers(server, program.jar)


class NoAnswer(Exception):
    """The generator found no server: one that was overloaded may serve nobody for minutes."""


def no_load(said):
    """What a generator that printed nothing means."""
    return NoAnswer(said[-800:].strip()) if "nothing answers" in said else RuntimeError(f"no load: {said[-800:]}")


class Bed:
    """A warm server, on CPU 0 to begin with. `options` are its own. Use it in a `with`."""

    def __init__(self, program=Program(), options=(), warm=60, again=15):
        self.folder = tempfile.TemporaryDirectory(prefix="predict-")
        self.program, self.cpus = program, "0,1"
        self.server = start(program, options)
        self.started = f"{self.server.pid} at {time.time():.0f}"
        self.pace = Pace()
        try:
            self.probe = self.begin(warm, again)
        except BaseException:  # nobody enters what was not made: what runs by now would go on
            self.__exit__()
            raise

    def begin(self, warm, again):
        """Warms it and moves it to CPU 0; sessions per second that it can do there."""
        self.plain = scenario(self.folder.name, self.program.walk)
        self.warm(warm)
        # What it waits for is not what it uses.
        for pid in descendants(self.server.pid):
            with contextlib.suppress(FileNotFoundError):  # one that has ended meanwhile
                pin(pid, {1})
        # Probes are placed before anything counts: placing them has methods compiled again.
        subprocess.run([LOADLINE, "arm", str(self.server.pid)], capture_output=True, check=False)
        return self.on("0", again)

    def on(self, cpus, settle):
        """Moves the server there, unless it is there; sessions per second of a closed load that it settles under."""
        if cpus == self.cpus:
            return None
        self.pace.close()
        self.cpus = cpus
        self.server.pin(cpus)
        self.pace = Pace(cpus if cpus == "0" else None)
        return self.closed(settle)

    def generator(self, scenario_file, *arguments):
        on = ["taskset", "-c", "1"] if self.cpus != "0,1" else []
        return [*on, LOADLINE, "load", f"{self.program.scheme}://127.0.0.1:{self.server.port}",
                *(["--insecure"] if self.program.scheme == "https" else []), "--scenario", scenario_file, "--json", *map(str, arguments)]

    def closed(self, seconds, users=16):
        """Sessions per second of users who do not think: what the site can do at most."""
        out = subprocess.run(self.generator(self.plain, "--users", users, "--think", "0", "-d", f"{seconds}s"), capture_output=True, text=True)
        if not out.stdout:
            raise no_load(out.stderr)
        load = json.loads(out.stdout)
        sessions = load["sessions"]["completed"] + load["sessions"]["broken"] + 0.5 * load["sessions"]["active_at_end"]
        return sessions / load["seconds"]

    def warm(self, at_most, each=10):
        """Until its CPU time per session has not fallen in two turns and its compilers have next to nothing to do: what is
        recorded before that is half as dear again as what is measured later."""
        least, still, begin = float("inf"), 0, time.monotonic()
        while time.monotonic() - begin < at_most and still < 2:
            used, compiled, seconds = self.server.cpu_seconds(), compilers_seconds(self.server.pid), min(each, at_most)
            sessions = self.closed(seconds) * seconds
            cost = (self.server.cpu_seconds() - used) / sessions
            compiling = (compilers_seconds(self.server.pid) - compiled) / seconds
            still = still + 1 if cost > 0.98 * least and compiling < 0.05 else 0
            least = min(least, cost)

    def idle(self, at_most=90):
        """Waits until it has done what it still had to do: a reference beside it would tell of its load, not of the host."""
        begin = time.monotonic()
        while time.monotonic() - begin < at_most:
            used = self.server.cpu_seconds()
            time.sleep(0.3)
            if self.server.cpu_seconds() - used < 0.03 * 0.3:
                return

    def at(self, rate, seconds, warmup, seed, resume=None, trace=None):
        """What the generator saw at this many new sessions per second, the server's CPU per second, the pace of its CPUs meanwhile, and
        the references before and after, beside an idle server; recorded meanwhile if `trace` says where to."""
        self.idle()
        before = reference()
        path = scenario(self.folder.name, self.program.walk, resume) if resume is not None else self.plain
        command = self.generator(path, "--rate", f"{rate:.3f}", "--think", self.program.think, "--warmup", f"{warmup}s", "-d", f"{seconds}s", "--seed", seed)
        generator = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        recorder = None
        try:
            time.sleep(warmup)
            if trace:
                recorder = subprocess.Popen(["taskset", "-c", "1", LOADLINE, "record", "--pid", str(self.server.pid), "-o", trace, "-d", f"{seconds - 1}s"],
                                            stderr=subprocess.PIPE, text=True)
            used, begin, pace = self.server.cpu_seconds(), time.monotonic(), self.pace.now()
            time.sleep(seconds - 0.3)
            cpu, pace = (self.server.cpu_seconds() - used) / (time.monotonic() - begin), self.pace.since(pace)
            told, said = generator.communicate(timeout=60)
            if not told:
                raise no_load(said)
            load = json.loads(told)
            if recorder:
                _, said = recorder.communicate(timeout=60)
                if recorder.returncode != 0:
                    raise RuntimeError(f"recording went wrong: {said[-800:]}")
        finally:
            for p in (generator, recorder):
                if p and p.poll() is None:
                    p.kill()
                    p.wait()
        load.pop("series", None)
        # Sessions come at random: what came is what a prediction is of.
        rate = load["sessions"]["started"] / load["seconds"]
        self.idle()
        return {"start": self.started, "rate": rate, "cpu": cpu, "pace": pace, "reference": [before, reference()], "load": load}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pace.close()
        self.server.close()
        self.folder.cleanup()
