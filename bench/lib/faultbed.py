"""A site with one fault under load, recorded and diagnosed: what scripts/try-fault does once and bench/diagnose-matrix many
times.

The site has all CPUs, because on one nobody meets anybody at a lock; the generator shares the last with it. The JVM
compiles with C1 alone, so that it is warm within seconds. As root both go before all others for a CPU, so that what else this machine
does is no neighbour of theirs; the planted neighbour goes with them. The auction plants its faults itself (--fault);
the clinic has mistakes of its own (--clinic.fault) under the same names, those that an option of Spring makes, and those
that stand beside it: a process on its CPU, a CPU quota. For `disk` both are in a cgroup that writes slowly: a virtual disk
may take a tenth of a millisecond for what a page waits for."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import harness
import server

SITES = {
    "auction": os.path.join(harness.ROOT, "bed", "auction", "target", "auction.jar"),
    "clinic": os.path.join(harness.ROOT, "bed", "clinic", "target", "clinic.jar"),
}
# Visitors at a time, who think for a tenth of a second: a fifth, two thirds and one and a half of what two CPUs carry.
LOADS = {"auction": {"light": 20, "near": 70, "above": 250}, "clinic": {"light": 8, "near": 30, "above": 120}}
THINK_MS = 100
WARM_S, RECORD_S = 8, 8
# CPU that the throttled clinic may use: three tenths of one, in periods of 100 ms.
QUOTA_US, PERIOD_US = 30_000, 100_000
# What a disk without a cache does: writes a second, fewer than there are pages.
WRITES_PER_S = 400


class Fault:
    """How a fault is planted: options of the site and its JVM, and what runs beside them; `load` is where it shows."""

    def __init__(self, site=(), jvm=(), beside=None, record=(), needs=17, load="near", clinic=None, clinic_jvm=()):
        self.site, self.jvm, self.beside, self.record = list(site), list(jvm), beside, list(record)
        self.needs, self.load, self.clinic, self.clinic_jvm = needs, load, clinic, list(clinic_jvm)


def planted(name, more=(), **how):
    return Fault(site=["--fault", name, *more], **how)


def both(name, spring=(), **how):
    """In the auction and, made anew by another way, in the clinic."""
    return planted(name, clinic=[f"--clinic.fault={name}", *spring], **how)


# Without tickets a session lives in the server's cache, which has room for one.
NO_RESUMPTION = ["-Djdk.tls.server.enableSessionTicketExtension=false", "-Djavax.net.ssl.sessionCacheSize=1"]
# `clinic` is how the clinic has the same, where it can: options of Spring, or what stands beside it.
FAULTS = {
    "none": Fault(clinic=[]),
    "shared-connection": both("shared-connection"),
    "lost-notify": planted("lost-notify", more=["--pool", "16"]),
    "small-pool": planted("small-pool", more=["--database", "postgresql"], clinic=["--spring.datasource.hikari.maximum-pool-size=1"]),
    "hot-lock": both("hot-lock"),
    "slow-sql": both("slow-sql"),
    "slow-database": both("slow-database", spring=["--spring.sql.init.mode=always"]),
    "slow-service": both("slow-service"),
    "gc-pressure": both("gc-pressure"),
    # A small young generation: collections are frequent enough to see the heap rise within seconds; and a heap that
    # the leak does not fill before the recording is over.
    "leak": both("leak", jvm=["-Xmn32m", "-Xmx2g"]),
    "pinned": both("pinned", spring=["--spring.threads.virtual.enabled=true"], needs=21),
    "slow-static": planted("slow-static", record=["--syscalls"]),
    "disk": both("disk", beside="slow disk"),
    "few-permits": both("few-permits"),
    "few-workers": both("few-workers"),
    "accept-overflow": planted("accept-overflow", clinic=["--server.tomcat.accept-count=1", "--server.tomcat.max-connections=4"]),
    "handshake-storm": planted("handshake-storm", clinic=["--clinic.tls=true", "--server.tomcat.max-keep-alive-requests=1"], clinic_jvm=NO_RESUMPTION),
    "cpu-neighbour": planted("cpu-neighbour", clinic=[], beside="neighbour"),
    "throttled": planted("throttled", clinic=[], beside="quota"),
}


def raised(command):
    """The command at a raised priority, where one may raise it: in a cgroup whose weight is that of twenty others,
    because nice counts within a session only where the kernel groups by sessions (sched_autogroup)."""
    global _weight
    if _weight is None:
        _weight = Weight()
    return ["sh", "-c", 'echo $$ > "$0" 2>/dev/null; exec "$@"', _weight.procs, *command] if _weight.procs else command


class Weight:
    """A cgroup that goes before all others for a CPU; gone with this process. It leaves them a twentieth: with a neighbour
    that computes in it, the kernel's own threads stood still for minutes behind a weight of two hundred."""

    def __init__(self):
        v1, self.procs = "/sys/fs/cgroup/cpu", None
        folder = os.path.join(v1 if os.path.isdir(v1) else "/sys/fs/cgroup", f"loadline-bed-weight-{os.getpid()}")
        try:
            os.mkdir(folder)
            with open(os.path.join(folder, "cpu.shares" if os.path.isdir(v1) else "cpu.weight"), "w") as f:
                f.write("20480" if os.path.isdir(v1) else "2000")
        except OSError:
            return
        self.procs = os.path.join(folder, "cgroup.procs")
        atexit.register(remove, folder)


def remove(folder):
    """Removes a cgroup; a dead process leaves it a moment later."""
    for _ in range(50):
        try:
            os.rmdir(folder)
            return
        except OSError:
            time.sleep(0.1)


_weight = None


class Limited:
    """A cgroup that limits what its files say, and a process in it; version 1 or 2, whichever has the controller."""

    def __init__(self, pid, fault, controller, v1, v2):
        own = os.path.join("/sys/fs/cgroup", controller)
        old = os.path.isdir(own)
        self.dir = os.path.join(own if old else "/sys/fs/cgroup", f"loadline-bed-{os.getpid()}")
        try:
            os.mkdir(self.dir)
            for name, value in [*(v1 if old else v2).items(), ("cgroup.procs", pid)]:
                with open(os.path.join(self.dir, name), "w") as f:
                    f.write(str(value))
        except OSError as e:
            sys.exit(f"SKIP {fault}: no cgroup with such a limit can be made here: {e}")

    def close(self):
        remove(self.dir)


def quota(pid):
    return Limited(pid, "throttled", "cpu", {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": QUOTA_US}, {"cpu.max": f"{QUOTA_US} {PERIOD_US}"})


def slow_disk(pid):
    disk = disk_of(tempfile.gettempdir())
    return Limited(pid, "disk", "blkio", {"blkio.throttle.write_iops_device": f"{disk} {WRITES_PER_S}"}, {"io.max": f"{disk} wiops={WRITES_PER_S}"})


def disk_of(folder):
    """The disk that a folder is on, as its numbers: limits are those of a whole disk, not of a partition."""
    device = os.stat(folder).st_dev
    numbers = f"{os.major(device)}:{os.minor(device)}"
    link = os.path.realpath(f"/sys/dev/block/{numbers}")
    if not os.path.exists(link):
        sys.exit(f"SKIP disk: {folder} is on no disk: set TMPDIR to one that is")
    if not os.path.exists(os.path.join(link, "partition")):
        return numbers
    with open(os.path.join(os.path.dirname(link), "dev")) as f:
        return f.read().strip()


class Neighbours:
    """Processes that compute, one on each of these CPUs."""

    def __init__(self, cpus):
        self.processes = [subprocess.Popen(raised(["taskset", "-c", str(cpu), sys.executable, "-c", "while True: pass"])) for cpu in cpus]

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


def java(home, fault, extra=()):
    return [os.path.join(home, "bin", "java"), "-Xms512m", "-Xmx512m", "-XX:TieredStopAtLevel=1", *fault.jvm, *extra,
            f"-javaagent:{harness.built('loadline-agent.jar')}"]


def site_command(site, home, fault, name, most_s):
    if site == "clinic":
        return lambda port_file: raised([*java(home, fault, fault.clinic_jvm), "-jar", SITES[site], "--server.port=0", f"--clinic.port-file={port_file}",
                                         f"--clinic.max-seconds={round(most_s)}", *fault.clinic])
    return lambda port_file: raised([*java(home, fault), "-jar", SITES[site], "--port", "0", "--port-file", port_file,
                                     "--max-seconds", str(round(most_s)), *fault.site])


def try_fault(name, site="auction", load=None, seed=1, jdk=None, keep=None, warm_s=WARM_S, record_s=RECORD_S, say=lambda text: None):
    """One site, one recording, one diagnosis: what was confirmed, in order, and what the visitors saw."""
    fault = FAULTS[name]
    load = load or fault.load
    if site == "clinic" and fault.clinic is None:
        sys.exit(f"the clinic cannot plant {name}")
    homes = dict(harness.jdks())
    jdk = jdk or (min(j for j in homes if j >= fault.needs) if any(j >= fault.needs for j in homes) else None)
    if jdk not in homes or jdk < fault.needs:
        sys.exit(f"SKIP {name}: it needs JDK {fault.needs} or later; here are {sorted(homes)}")
    if not os.path.exists(SITES[site]):
        sys.exit(f"{SITES[site]} is missing: run `make build` first")
    loadline = harness.built("loadline")
    own, other = server.cpus()
    folder = tempfile.mkdtemp(prefix="try-fault-")
    trace = keep or os.path.join(folder, f"{name}.trace")
    shutil.rmtree(trace, ignore_errors=True)
    beside, drivers = [], []
    most_s = warm_s + record_s + 120
    users = LOADS[site][load]
    say(f"{site}, fault {name}, load {load} ({users} users), JDK {jdk}, seed {seed}")
    try:
        with server.Server(name, site_command(site, homes[jdk], fault, name, most_s), on=f"{own},{other}") as running:
            scheme = "https" if site == "auction" or "--clinic.tls=true" in fault.clinic else "http"
            url = f"{scheme}://127.0.0.1:{running.port}"
            scenario = "browsing" if site == "auction" else os.path.join(harness.ROOT, "bed", "clinic", "walk.toml")
            drivers.append(drive(loadline, url, other, seed, warm_s, most_s, ["--scenario", scenario, "--users", users, "--think", f"{THINK_MS}ms"]))
            time.sleep(warm_s / 2)
            if fault.beside == "slow disk":
                beside.append(slow_disk(running.pid))
            elif site == "clinic" and fault.beside == "quota":
                beside.append(quota(running.pid))
            elif site == "clinic" and fault.beside == "neighbour":
                beside.append(Neighbours((own, other)))
            time.sleep(warm_s / 2)
            record = [loadline, "record", "--pid", str(running.pid), "-o", trace, "-d", f"{record_s}s", *fault.record]
            # Where all others go first, it would come when they have gone.
            done = subprocess.run(raised(["taskset", "-c", str(other), *record]), capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"the recording failed:\n{done.stderr}")
            seen = [gone(d) for d in drivers]
    finally:
        for d in drivers:
            if d.poll() is None:
                d.kill()
                d.wait()
        for b in beside:
            b.close()
    say("")
    told = subprocess.run([loadline, "diagnose", trace], capture_output=True, text=True)
    if told.returncode != 0:
        sys.exit(f"loadline diagnose failed:\n{told.stderr}")
    say(told.stdout)
    found = diagnosed(trace)
    shutil.rmtree(folder, ignore_errors=True)
    return {
        "fault": name, "site": site, "load": load, "seed": seed, "jdk": jdk, **found,
        "replies_per_s": seen[0].get("replies_per_s"),
        "p95_ms": (seen[0].get("response") or {}).get("p95_ms"),
    }


def diagnosed(trace):
    """What a diagnosis of that trace confirms, in order, with the shares; what it leaves open; how busy the CPUs were."""
    done = subprocess.run([harness.built("loadline"), "diagnose", trace, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"loadline diagnose failed:\n{done.stderr}")
    found = json.loads(done.stdout)
    if not found["figures"]["time"]["cells"]:
        sys.exit(f"{trace}: neither a handshake nor a request was recorded")
    cpu = found["figures"]["cpu"]
    return {
        "confirmed": found["confirmed"],
        "shares": {f["name"]: round(f["share"], 3) for f in found["findings"] if f["outcome"] == "confirmed"},
        "undecided": [f["name"] for f in found["findings"] if f["outcome"] == "not_enough_data"],
        "cpu": cpu["utilization"],
        "others": cpu["others"],
    }


def drive(loadline, url, cpu, seed, warm_s, most_s, options):
    """Visitors who come until they are told to go: how long a recorder takes to attach depends on what there is of the CPUs."""
    command = ["taskset", "-c", str(cpu), loadline, "load", url, "--seed", seed, "--warmup", f"{warm_s}s", "-d", f"{most_s}s", "--json", *options]
    if url.startswith("https"):
        command.append("--insecure")
    return subprocess.Popen(raised([str(c) for c in command]), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def gone(driver):
    """What visitors saw, who go now."""
    driver.terminate()
    return json.loads(driver.communicate(timeout=60)[0] or "{}")
