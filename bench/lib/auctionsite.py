"""The auction site on a CPU of its own, with an agent since its start, browsed by the generator on the other."""

import json
import os
import subprocess
import sys

import harness
import watch
from server import Server, cpus

HOME = harness.jdks()[0][1]
AUCTION = os.path.join(harness.ROOT, "bed", "auction", "target", "auction.jar")
USERS = 16
# It is warm when its CPU per request has fallen by less than this in each of two turns.
FALLS = 0.02


class Site(Server):
    """One that is being loaded; `jvm` are options of its JVM beside the agent."""

    def __init__(self, name, agent, env=None, jvm=()):
        super().__init__(name, lambda port_file: [os.path.join(HOME, "bin", "java"), "-Xms1g", "-Xmx1g", *jvm, f"-javaagent:{agent}", "-jar", AUCTION, "--port", "0",
                                                  "--port-file", port_file, "--max-seconds", "14400"], env=env)

    def load(self, share, peak, seconds, settle_s, seed):
        """The generator's summary: of closed users, or of a share of what these brought."""
        offered = ["--users", str(USERS), "--think", "0ms"] if share is None else ["--rate", f"{share * peak:.3f}", "--think", "100ms"]
        command = ["taskset", "-c", str(cpus()[1]), harness.built("loadline"), "load", f"https://127.0.0.1:{self.port}", "--insecure", "--scenario", "browsing",
                   *offered, "-d", f"{seconds}s", "--warmup", f"{settle_s}s", "--seed", str(seed), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def warm(self, turn_s, turns):
        """Loads it until its CPU per request falls no more: the compilers take minutes on one CPU. Whether it came to that."""
        least, still = float("inf"), 0
        for turn in range(turns):
            before = watch.cpu_seconds(self.pid)
            told = self.load(None, None, turn_s, 0, 1 + turn)
            spent = (watch.cpu_seconds(self.pid) - before) / turn_s / told["replies_per_s"]
            still = still + 1 if spent > (1 - FALLS) * least else 0
            least = min(least, spent)
            if still == 2:
                return True
        return False
