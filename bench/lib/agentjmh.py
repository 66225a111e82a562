"""Benchmarks of bench/jmh, whose JVM plays the recorder of itself."""

import os
import sys

import harness
import jmh

PROGRAM = jmh.jar("bench", "jmh", "target", "loadline-jmh.jar")


def jdks(smoke):
    """The JDKs to measure on (for a smoke run one), as (version, home); ends if something is not built."""
    found = harness.jdks()[:1] if smoke else harness.jdks()
    if not found:
        sys.exit("no JDK 17 or later: run make setup")
    return found


def samples(home, name, runs, methods=None):
    """Samples in ns of a class of benchmarks on one JDK, by (benchmark, parameters in the order of their names); with the
    agent at start and probes in these methods, if any are named."""
    agent, library = harness.built("loadline-agent.jar"), harness.built("libloadline-agent.so")
    options = f"-Dloadline.agent={agent} -Dloadline.library={library}" + (f" -javaagent:{agent}=methods={methods}" if methods else "")
    results = jmh.results([os.path.join(home, "bin", "java")], PROGRAM, [name, *runs, "-jvmArgsAppend", options])
    found = {}
    for r in results:
        found[jmh.name(r), *(value for _, value in sorted(r["params"].items()))] = jmh.samples(r)
    return found


def expect(found, wanted):
    """Ends if one of these benchmarks gave nothing."""
    missing = [key for key in wanted if key not in found]
    if missing:
        sys.exit(f"no result for {missing}: a benchmark failed; run it alone: java {' '.join(PROGRAM)} {missing[0][0]}")
