"""Benchmarks of bench/jmh, whose JVM plays the recorder of itself."""

import json
import os
import subprocess
import sys
import tempfile

import harness

JAR = os.path.join(harness.ROOT, "bench", "jmh", "target", "loadline-jmh.jar")


def jdks(smoke):
    """The JDKs to measure on (for a smoke run one), as (version, home); ends if something is not built."""
    found = harness.jdks()[:1] if smoke else harness.jdks()
    if not found:
        sys.exit("no JDK 17 or later: run make setup")
    if not os.path.exists(JAR):
        sys.exit(f"{JAR} is missing: run `make build` first")
    return found


def samples(home, name, runs, methods=None):
    """Samples in ns of a class of benchmarks on one JDK, by (benchmark, parameters in the order of their names); with the
    agent at start and probes in these methods, if any are named."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        agent, library = harness.built("loadline-agent.jar"), harness.built("libloadline-agent.so")
        command = [os.path.join(home, "bin", "java"), "-jar", JAR, name, *runs, "-rf", "json", "-rff", out.name,
                   "-jvmArgsAppend", f"-Dloadline.agent={agent} -Dloadline.library={library}"]
        if methods:
            command[-1] += f" -javaagent:{agent}=methods={methods}"
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(" ".join(command) + f" ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        results = json.load(out)
    found = {}
    for r in results:
        key = (r["benchmark"].rsplit(".", 1)[1], *(value for _, value in sorted(r["params"].items())))
        found[key] = [x for fork in r["primaryMetric"]["rawData"] for x in fork]
    return found


def expect(found, wanted):
    """Ends if one of these benchmarks gave nothing."""
    missing = [key for key in wanted if key not in found]
    if missing:
        sys.exit(f"no result for {missing}: a benchmark failed; run it alone: java -jar {JAR} {missing[0][0]}")
