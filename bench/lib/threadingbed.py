"""The servers of bed/threading, one JVM for each broker and strategy, and one driver that calls them.

Terms: a *variant* is a broker with a strategy; a *work* is what a request asks for: mean CPU time and mean delay, both
exponential; a *cell* is a variant, a work and a number of clients; a *slice* is one run of a cell."""

import json
import os
import subprocess
import tempfile

import harness
from awake import keep_awake
from server import Server, cpus

BEDS = os.path.join(harness.ROOT, "bed")
JARS = {"sockets": "threading", "jacorb": "threading-jacorb", "glassfish": "threading-glassfish"}
POOL, SMALL_POOL = 64, 4
# Name: broker, strategy, threads of its pool, virtual threads, the model that predicts it and what it is told.
VARIANTS = {
    "sockets per-client": ("sockets", "per-client", POOL, False, "thread-per-client", {}),
    "sockets threaded": ("sockets", "threaded", POOL, False, "threaded", {}),
    "sockets per-request": ("sockets", "per-request", POOL, False, "thread-per-request", {}),
    f"sockets pool of {POOL}": ("sockets", "pool", POOL, False, "thread-pool", {"dispatchers": POOL}),
    f"sockets pool of {SMALL_POOL}": ("sockets", "pool", SMALL_POOL, False, "thread-pool", {"dispatchers": SMALL_POOL}),
    "sockets per-client, virtual": ("sockets", "per-client", POOL, True, "thread-per-client", {}),
    "sockets per-request, virtual": ("sockets", "per-request", POOL, True, "thread-per-request", {}),
    # Its adapter runs one request at a time by having one thread.
    "jacorb threaded": ("jacorb", "threaded", POOL, False, "thread-pool", {"dispatchers": 1}),
    "jacorb per-request": ("jacorb", "per-request", POOL, False, "thread-per-request", {}),
    f"jacorb pool of {POOL}": ("jacorb", "pool", POOL, False, "thread-pool", {"dispatchers": POOL}),
    "glassfish threaded": ("glassfish", "threaded", POOL, False, "threaded", {}),
    "glassfish per-request": ("glassfish", "per-request", POOL, False, "thread-per-request", {}),
    f"glassfish pool of {POOL}": ("glassfish", "pool", POOL, False, "thread-pool", {"dispatchers": POOL}),
    "glassfish per-request, virtual": ("glassfish", "per-request", POOL, True, "thread-per-request", {}),
}
# Name: microseconds of CPU and of delay. With nothing to do a request costs what the broker costs.
NOTHING = "nothing"
WORKS = {NOTHING: (0, 0), "0.5 ms of CPU": (500, 0), "5 ms of CPU": (5_000, 0), "50 ms of delay": (0, 50_000)}
VIRTUAL_SINCE = 21


def jar(broker):
    path = os.path.join(BEDS, JARS[broker], "target", f"{JARS[broker]}.jar")
    if not os.path.exists(path):
        raise SystemExit(f"{path} is missing: run `make build` first")
    return path


def calibrated(java):
    """Turns of the servant's loop to a millisecond, on the servers' CPU: the same for all of them."""
    done = subprocess.run(["taskset", "-c", str(cpus()[0]), java, "-jar", jar("sockets"), "calibrate"], capture_output=True, text=True, check=True)
    return int(done.stdout)


class Bed:
    """One server a variant, all on one CPU, idle unless called; and the driver on the other. The servers' CPU is kept awake: one
    client leaves it idle half of the time, and what a request costs there would be the host's clocking down, not the
    strategy's. Use it in a `with`."""

    def __init__(self, home, names, spins):
        self.java = os.path.join(home, "bin", "java")
        self.folder = tempfile.TemporaryDirectory()
        self.servers = {}
        self.awake = keep_awake(str(cpus()[0]))
        try:
            for name in names:
                self.servers[name] = Server(name, lambda port_file, n=name: self._command(n, port_file, spins))
            for server in self.servers.values():
                server.ready()
            self.driver = subprocess.Popen(["taskset", "-c", str(cpus()[1]), self.java, "-Xmx256m", "-jar", jar("sockets"), "client", "--stdin"],
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except BaseException:
            self.close()
            raise

    def _command(self, name, port_file, spins):
        broker, strategy, pool, virtual, _, _ = VARIANTS[name]
        return [self.java, "-Xmx256m", "-jar", jar(broker), "server", "--broker", broker, "--strategy", strategy, "--pool", str(pool),
                *(["--virtual"] if virtual else []), "--spins", str(spins), "--port-file", port_file, "--ior-file", self._ior(name)]

    def _ior(self, name):
        return os.path.join(self.folder.name, name.replace(" ", "-").replace(",", ""))

    def call(self, name, work, clients, warm_s, seconds):
        """One slice: what the driver prints."""
        cpu_us, delay_us = WORKS[work]
        print(f"--ior-file {self._ior(name)} --clients {clients} --cpu-us {cpu_us} --delay-us {delay_us} --warm {warm_s} --seconds {seconds} "
              f"--server-pid {self.servers[name].pid}", file=self.driver.stdin, flush=True)
        line = self.driver.stdout.readline()
        if not line:
            raise SystemExit(f"the driver ended while it called {name}; the server said:\n{self.servers[name].text()[-2000:]}")
        said = json.loads(line)
        if said["wrong"]:
            raise SystemExit(f"{name}: {said['wrong']} answers were wrong")
        return said

    def close(self):
        if hasattr(self, "driver"):
            self.driver.stdin.close()
            self.driver.wait(60)
        for server in self.servers.values():
            server.close()
        self.awake.kill()
        self.awake.wait()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
