"""Runs of JMH."""

import json
import os
import subprocess
import sys
import tempfile

import harness


def results(java, program, arguments):
    """What JMH reports of a run, one object per benchmark and parameters. `java` starts a JVM (with what it is started
    by, if anything), `program` is what it runs: JMH's main class or a jar of benchmarks."""
    # JMH refuses to measure beside another JMH, rightly; but a smoke's figures mean nothing, and two smokes run at a time.
    beside = ["-Djmh.ignoreLock=true"] if harness.shortest() else []
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [*java, *beside, *program, *arguments, "-rf", "json", "-rff", out.name]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-3000:]}")
        found = json.load(out)
    if not found:
        sys.exit(f"{' '.join(command)} measured nothing\n{done.stdout[-3000:]}")
    return found


def jar(*path):
    """Arguments that run a jar of benchmarks, by its path below the repository."""
    path = os.path.join(harness.ROOT, *path)
    if not os.path.exists(path):
        sys.exit(f"{path} is missing: run `make build` first")
    return ["-jar", path]


def name(result):
    """A benchmark's method."""
    return result["benchmark"].rsplit(".", 1)[1]


def samples(result):
    """The score of each iteration of each fork."""
    return [x for fork in result["primaryMetric"]["rawData"] for x in fork]
