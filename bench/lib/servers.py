"""Programs that bench/server-characterization counts: each measured once, on one CPU, its driver and the counting on the other."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import harness
from pinning import pin

BED = os.path.join(harness.ROOT, "bed")
CHAT = os.path.join(BED, "chat", "target", "chat.jar")
WHOLESALE = os.path.join(BED, "wholesale", "target", "wholesale.jar")
CLINIC = os.path.join(BED, "clinic", "target", "clinic.jar")
GRANDE = [os.path.join(BED, "grande", "target", "grande.jar"), os.path.join(harness.ROOT, "java", "omp", "target", "loadline-omp.jar")]
USERS = 20  # in a room, as then
AGENT_MAY_COME = "-XX:+EnableDynamicAgentLoading"  # no warning of what is meant to be
DRIVER = ["taskset", "-c", "1"]
# A JVM of one CPU, whose compilers may use the other until it is warm: beside the program they would take minutes.
ONE_CPU = "-XX:ActiveProcessorCount=1"


def java(home):
    return os.path.join(home, "bin", "java")


def descriptors(connections):
    """A connection takes a descriptor at each end; the JVM raises its own limit as far as it may."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if allowed != resource.RLIM_INFINITY and allowed < connections + 500:
        sys.exit(f"{connections} connections need ulimit -Hn {connections + 500}; it is {allowed}")


def hurry(pid):
    """The compilers of a JVM that is to become warm go before all other threads: beside twenty busy ones they get a twentieth."""
    for tid in map(int, os.listdir(f"/proc/{pid}/task")):
        try:
            with open(f"/proc/{pid}/task/{tid}/comm") as f:
                if "Compiler" in f.read():
                    os.setpriority(os.PRIO_PROCESS, tid, -19)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        except PermissionError:
            sys.exit("the compilers' priority needs root (or CAP_SYS_NICE)")


class Others:
    """What CPU 0 did for others than some processes since this was made: the one that is measured, and what keeps its CPU awake."""

    def __init__(self, *pids):
        self.pids, self.begin = pids, time.monotonic()
        self.before = self._seconds()

    def _seconds(self):
        with open("/proc/stat") as f:
            cpu = next(line for line in f if line.startswith("cpu0 ")).split()[1:]
        user, nice, system, _, _, irq, softirq, steal = (int(n) / os.sysconf("SC_CLK_TCK") for n in cpu[:8])
        return user + nice + system + irq + softirq + steal - sum(map(cpu_seconds, self.pids))

    def share(self):
        """Of the time since then; the hypervisor's steal is part of it."""
        return max(0.0, (self._seconds() - self.before) / (time.monotonic() - self.begin))


class Counting:
    """`loadline counters` beside a process until it is told to stop; from outside, if it counts no units of work."""

    def __init__(self, pid, unit="none"):
        self.others = Others(pid)
        self.out = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([*DRIVER, harness.built("loadline"), "counters", "--pid", str(pid), "--unit", unit, "--slice", "200ms", "--json"],
                                        stdout=self.out, stderr=subprocess.DEVNULL)

    def end(self):
        """What `--json` says, and as `taken` what others had of CPU 0 meanwhile."""
        taken = self.others.share()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        if self.process.wait(120) != 0:
            sys.exit(f"loadline counters ended with {self.process.returncode}")
        self.out.seek(0)
        return {**json.load(self.out), "taken": taken}


def per_unit(counted, units_per_second, **more):
    """Figures of one point: of a unit in ns or in times, shares of the CPU time, CPUs in use."""
    figures = {f["name"]: f for f in counted["figures"]}
    cpu = figures["cpu_ns"]
    row = {name: figure["total"] / counted["seconds"] / units_per_second for name, figure in figures.items()}
    row["kernel_share"] = figures["kernel_ns"]["total"] / max(cpu["total"], 1)
    row["cpus"] = cpu["total"] / counted["seconds"] / 1e9
    row["taken"] = counted["taken"]
    for role in ("gc", "jit"):
        row[f"{role}_share"] = cpu["by_role"].get(role, 0) / max(cpu["total"], 1)
    return {**row, "units_per_s": units_per_second, **more}


def status(pid):
    with open(f"/proc/{pid}/status") as f:
        return dict(line.split(":", 1) for line in f)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(command, port_file):
    """A server, as soon as it has written its port: the process and the port."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 90
    while not os.path.exists(port_file):
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            sys.exit(f"did not start: {' '.join(command)}")
        time.sleep(0.05)
    with open(port_file) as f:
        return process, f.read().strip()


class Chat:
    """A chat server on CPU 0 and its users on CPU 1, who have begun to talk for the figures."""

    def __init__(self, home, io, connections, warm, counted, before_users=lambda pid: None):
        descriptors(connections)
        self.work = tempfile.TemporaryDirectory()
        self.result = os.path.join(self.work.name, "chat.json")
        port_file = os.path.join(self.work.name, "port")
        # Stacks and heaps as they come: what a connection takes is part of the answer.
        self.server, port = started([java(home), ONE_CPU, AGENT_MAY_COME, "-jar", CHAT, "server", "--io", io, "--loops", "1", "--port-file", port_file, "--max-seconds", "600"], port_file)
        hurry(self.server.pid)
        before_users(self.server.pid)
        self.client = subprocess.Popen([*DRIVER, java(home), "-jar", CHAT, "client", "--io", "nio", "--loops", "1", "--port", port, "--rooms", str(connections // USERS),
                                        "--users", str(USERS), "--messages", str(max(1, counted // connections)), "--warm", str(max(1, warm // connections)),
                                        "--limit", "300", "--json", self.result], stdout=subprocess.PIPE, text=True)
        for line in self.client.stdout:
            if line.startswith("chat: counting"):
                pin(self.server.pid, {0})
                return
        self.end()
        sys.exit(f"the chat's client failed ({io}, {connections} connections)")

    def end(self):
        for process in (self.client, self.server):
            process.terminate()
            process.wait()
        self.client.stdout.close()
        self.work.cleanup()


def chat(home, io, connections, warm, counted):
    """One run of the chat: the server is counted while all users say their part."""
    talk = Chat(home, io, connections, warm, counted)
    try:
        counting, threads = Counting(talk.server.pid), int(status(talk.server.pid)["Threads"])
        begin, used = time.monotonic(), cpu_seconds(talk.client.pid)
        # The client's CPU time, for the last time while it is still there.
        client_cpus = 0.0
        while talk.client.poll() is None:
            time.sleep(0.02)
            try:
                client_cpus = (cpu_seconds(talk.client.pid) - used) / (time.monotonic() - begin)
            except (FileNotFoundError, IndexError):
                break
        counted_by = counting.end()
        talk.client.stdout.read()
        if talk.client.wait() != 0:
            sys.exit("the chat's client failed")
        with open(talk.result) as f:
            said = json.load(f)
        rss = int(status(talk.server.pid)["VmHWM"].split()[0]) / 1024
    finally:
        talk.end()
    return per_unit(counted_by, said["said_per_s"], p99_ms=said["p99_ms"], rss_mb=rss, threads=threads, client_cpus=client_cpus)


def wholesale(home, warehouses, options, ramp_s, measure_s):
    """One point of the company, counted while it is measured; after its ramp it has one CPU."""
    def failed():
        sys.exit(f"wholesale with {warehouses} warehouses failed ({' '.join(options)})")

    def transactions():
        """So far, and when that was said."""
        for line in program.stdout:
            if line.startswith("so far"):
                return int(line.split()[2]), time.monotonic()
        failed()
    with tempfile.TemporaryDirectory() as work:
        result = os.path.join(work, "wholesale.json")
        program = subprocess.Popen([java(home), ONE_CPU, *options, "-jar", WHOLESALE, "--warehouses", str(warehouses), "--ramp", str(ramp_s),
                                    "--measure", str(measure_s + 1.5), "--every", "0.05", "--json", result], stdout=subprocess.PIPE, text=True)
        time.sleep(1)
        hurry(program.pid)
        transactions()
        pin(program.pid, {0})
        until = time.monotonic() + 0.5
        while transactions()[1] < until:
            pass
        counting, (first, begin) = Counting(program.pid), transactions()
        last, end = first, begin
        while end < begin + measure_s:
            last, end = transactions()
        counted = counting.end()
        rss = int(status(program.pid)["VmHWM"].split()[0]) / 1024
        program.stdout.read()
        if program.wait() != 0:
            failed()
        with open(result) as f:
            point = json.load(f)["points"][0]
    return per_unit(counted, (last - first) / (end - begin), p99_ms=point["types"]["new-order"]["p99_ms"], rss_mb=rss)


def grande(home, kernel, warm_s, measure_s):
    """One kernel solved again and again; the unit is one solution, counted from the end of one to the end of another."""
    command = [java(home), ONE_CPU, "-cp", ":".join(GRANDE), "dev.loadline.grande.Grande", kernel, "A", "1000000"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        def solve(seconds):
            begin, solved = time.monotonic(), 0
            while time.monotonic() < begin + seconds:
                if not program.stdout.readline():
                    sys.exit(f"{kernel} failed")
                solved += 1
            return solved / (time.monotonic() - begin)
        solve(warm_s)
        pin(program.pid, {0})
        counting = Counting(program.pid)
        rate = solve(measure_s)
        return per_unit(counting.end(), rate)
    finally:
        program.terminate()
        program.wait()
        program.stdout.close()


# Of a recording: what all threads of the server did between two moments, and how long a broadcast took.
STATES = """
SELECT t.kind AS kind, CASE WHEN s.state IN ('runnable', 'preempted') THEN 'runnable' WHEN s.state = 'running' THEN 'running'
  WHEN s.cause = 'lock' THEN 'lock' ELSE 'other' END AS what, count(*) AS n,
  sum(least(s.end_ns, {end}) - greatest(s.begin_ns, {begin}))::DOUBLE AS ns
FROM states s JOIN threads t ON t.id = s.thread WHERE s.state <> 'carrying' AND s.end_ns > {begin} AND s.begin_ns < {end} GROUP BY ALL"""
SPANS = """SELECT count(*) AS n, avg(end_ns - begin_ns)::DOUBLE AS mean_ns, quantile_cont(end_ns - begin_ns, 0.99)::DOUBLE AS p99_ns
FROM spans WHERE kind = 'user' AND name = 'broadcast' AND complete AND end_ns BETWEEN {begin} AND {end}"""
LOCKS = """SELECT coalesce(w.class, 'unknown') AS class, count(*) AS n, sum(s.end_ns - s.begin_ns)::DOUBLE AS ns
FROM states s LEFT JOIN waits w ON w.id = s.wait WHERE s.cause = 'lock' AND s.end_ns BETWEEN {begin} AND {end}
GROUP BY ALL ORDER BY ns DESC LIMIT 3"""
PAUSES = """SELECT count(*) AS n, coalesce(sum(end_ns - begin_ns), 0)::DOUBLE AS ns FROM vm
WHERE kind = 'gc' AND end_ns > {begin} AND begin_ns < {end}"""


def query(trace, sql):
    answer = subprocess.run([harness.built("loadline"), "query", trace, "--json", sql], capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(f"loadline query: {answer.stderr.strip()}")
    return json.loads(answer.stdout)


class Recording:
    """`loadline record` of a JVM, begun while it is idle (attaching to one with thousands of runnable threads on one CPU
    takes minutes), on the other CPU."""

    def __init__(self, pid, trace):
        self.trace = trace
        self.process = subprocess.Popen([*DRIVER, harness.built("loadline"), "record", "--pid", str(pid), "-o", trace], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        end = time.monotonic() + 60
        while not os.path.isdir(os.path.join(trace, "raw")):
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"loadline record did not begin: {self.process.communicate()[0] if self.process.poll() is not None else ''}")
            time.sleep(0.1)
        time.sleep(1)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate()[0]
        if self.process.returncode != 0:
            sys.exit(f"loadline record: {said.strip()}")


def recorded(home, io, connections, warm, seconds):
    """The chat's server recorded under load: what its threads did, per broadcast, in some seconds of it."""
    recording = []
    with tempfile.TemporaryDirectory() as work:
        trace = os.path.join(work, "chat.trace")
        talk = Chat(home, io, connections, warm, 1_000_000_000, lambda pid: recording.append(Recording(pid, trace)))
        try:
            # The trace's clock is this one.
            window, others = {"begin": time.monotonic_ns()}, Others(talk.server.pid)
            time.sleep(seconds)
            window["end"] = time.monotonic_ns()
            taken = others.share()
            talk.client.kill()
            recording[0].end()
        finally:
            talk.end()
        with open(os.path.join(trace, "trace.json")) as f:
            about = json.load(f)
        spans, states, pauses, locks = (query(trace, sql.format(**window)) for sql in (SPANS, STATES, PAUSES, LOCKS))
    n, length = spans[0]["n"], (window["end"] - window["begin"]) / 1e9
    if n == 0:
        sys.exit(f"no broadcast was recorded ({io})")
    # Threads of the application: Java's, and carriers while nothing is mounted on them.
    own = ("platform", "virtual", "carrier")

    def of(what, field, kinds=own):
        return sum(s[field] for s in states if s["what"] == what and s["kind"] in kinds)
    return {
        "units_per_s": n / length, "broadcast_mean_us": spans[0]["mean_ns"] / 1e3, "broadcast_p99_us": spans[0]["p99_ns"] / 1e3,
        "running_us": of("running", "ns") / n / 1e3, "runnable_us": of("runnable", "ns") / n / 1e3, "times_runnable": of("runnable", "n") / n,
        "lock_us": of("lock", "ns") / n / 1e3, "lock_waits": sum(lock["n"] for lock in locks) / n,
        "gc_running_us": of("running", "ns", ("gc",)) / n / 1e3, "pause_share": pauses[0]["ns"] / 1e9 / length,
        "taken": taken, "lost": sum(about["losses"].values()), "lock_class": locks[0]["class"] if locks else "none",
    }


# Pages that each need no more than what the application begins with, by what they are.
PAGES = {
    "clinic": {"welcome": "/", "find": "/find", "owners, 10 of a list": "/owners?page=3", "owner": "/owners/7", "vets": "/vets"},
    "petclinic": {"welcome": "/", "find": "/owners/find", "owners, 5 of a list": "/owners?lastName=", "owner": "/owners/6", "vets": "/vets.html"},
}


class Site:
    """A Spring Boot application on CPU 0, which answers."""

    def __init__(self, home, jar):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([java(home), ONE_CPU, AGENT_MAY_COME, "-Xmx512m", "-jar", jar, f"--server.port={port}"], stdout=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(self.url, timeout=10) as answer:
                    answer.read()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.close()
                    sys.exit(f"{jar} did not answer on {self.url}")
                time.sleep(0.2)

    def close(self):
        self.process.terminate()
        self.process.wait()


def _asking(site, path, seconds, folder):
    """`loadline load` with a few users who ask for one page on kept connections."""
    scenario = os.path.join(folder, "page.toml")
    with open(scenario, "w") as f:
        f.write(f'name = "page"\nstart = "page"\n[arrivals]\nusers = 4\n[think]\nmean = "0s"\n[connection]\nrequests = 0\n'
                f'[[interaction]]\nname = "page"\npath = "{path}"\nnext = {{ page = 1000000.0, end = 1.0 }}\n')
    return subprocess.Popen([*DRIVER, harness.built("loadline"), "load", site.url, "--scenario", scenario, "-d", f"{seconds}s", "--json"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _answered(load):
    out, err = load.communicate()
    if load.returncode != 0:
        sys.exit(f"loadline load: {err.strip()}")
    figures = json.loads(out)
    if figures["failures"]:
        sys.exit(f"{figures['failures']} requests failed: {figures['failures_by_kind']}")
    return figures


def pages(home, jar, of, warm_s, measure_s):
    """What a request costs by page, a row each: all pages first asked for in turns until they are compiled."""
    site, rows = Site(home, jar), {}
    try:
        hurry(site.process.pid)
        with tempfile.TemporaryDirectory() as folder:
            for share in (0.5, 0.5):
                for path in PAGES[of].values():
                    _answered(_asking(site, path, max(1, round(share * warm_s)), folder))
            pin(site.process.pid, {0})
            for name, path in PAGES[of].items():
                load = _asking(site, path, measure_s + 4, folder)
                time.sleep(0.5)
                counting = Counting(site.process.pid, "request")
                time.sleep(measure_s + 1)
                counted = counting.end()
                said = _answered(load)
                if not counted["units"]:
                    sys.exit(f"no request was counted ({'; '.join(counted['notes'])})")
                rows[name] = per_unit(counted, counted["units"] / counted["seconds"], p99_ms=said["response"]["p99_ms"],
                                      workers_us=next(f for f in counted["figures"] if f["name"] == "cpu_ns")["by_role"].get("workers", 0) / counted["units"] / 1e3)
    finally:
        site.close()
    return rows
