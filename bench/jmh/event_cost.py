"""Runs the JMH benchmark EventCost on every JDK found, prints a table and one JSON line; bench/event-cost calls it."""

import datetime
import glob
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile

JAR = "bench/jmh/target/loadline-jmh.jar"
AGENT = os.path.abspath("target/release/loadline-agent.jar")
LIBRARY = os.path.abspath("target/release/libloadline-agent.so")
RESULT = "bench/results/event-cost.json"
FEATURES = (17, 25)
RECORDERS = ("never", "recording", "after")
WHAT = ("nothing", "clock", "event", "span")
# quick: 2 JDKs x 12 cases of a few 300 ms iterations; full: five forks, so that compilation differs between them.
QUICK = ["-f", "1", "-wi", "3", "-i", "5", "-w", "300ms", "-r", "300ms"]
FULL = ["-f", "5", "-wi", "5", "-i", "5", "-w", "500ms", "-r", "500ms"]


def jdks():
    """Feature version and version text to home, of the JDKs under /usr/lib/jvm."""
    found = {}
    for java in sorted(glob.glob("/usr/lib/jvm/*/bin/java")):
        home = os.path.dirname(os.path.dirname(os.path.realpath(java)))
        text = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
        version = re.search(r'version "([^"]+)"', text)
        if version and os.path.exists(home + "/bin/javac"):
            feature = int(re.match(r"\d+", version.group(1)).group())
            if feature in FEATURES:
                found.setdefault(feature, (home, version.group(1)))
    return found


def run(home, options):
    """Each benchmark's raw samples in ns, by (what, recorder)."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [home + "/bin/java", "-jar", JAR, "EventCost", *options, "-rf", "json", "-rff", out.name,
                   "-jvmArgsAppend", f"-Dloadline.agent={AGENT} -Dloadline.library={LIBRARY}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("error: " + " ".join(command) + "\n" + done.stdout[-2000:] + done.stderr[-2000:])
        results = json.load(open(out.name))
    samples = {}
    for r in results:
        what = r["benchmark"].rsplit(".", 1)[1]
        fork_runs = [x for fork in r["primaryMetric"]["rawData"] for x in fork]
        samples[what, r["params"]["recorder"]] = fork_runs
    missing = [k for k in ((w, r) for w in WHAT for r in RECORDERS) if k not in samples]
    if missing:
        sys.exit(f"error: no result for {missing}: a benchmark failed; run it alone: java -jar {JAR} EventCost")
    return samples


def cpu():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    quick = sys.argv[1] == "1"
    found = jdks()
    if not found:
        sys.exit("error: no JDK 17 or 25 under /usr/lib/jvm; run: make setup")
    options = QUICK if quick else FULL
    figures = {}
    print(f"{'ns per operation, median (min-max)':36} {'never attached':>20} {'recording':>20} {'after':>20}")
    for feature, (home, version) in sorted(found.items()):
        samples = run(home, options)
        for what in WHAT:
            cells = []
            for recorder in RECORDERS:
                values = samples[what, recorder]
                median, low, high = statistics.median(values), min(values), max(values)
                figures[f"jdk{feature}_{what}_{recorder}_ns"] = {
                    "median": round(median, 2), "min": round(low, 2), "max": round(high, 2), "runs": len(values)}
                cells.append(f"{median:6.1f} ({low:.1f}-{high:.1f})")
            print(f"JDK {version:10} {what:21} " + " ".join(f"{c:>20}" for c in cells), flush=True)
    result = {
        "bench": "event-cost", "quick": quick, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {"cpu": cpu(), "cores": os.cpu_count(), "kernel": platform.release()},
        "jdk": {str(f): v for f, (_, v) in sorted(found.items())},
        "command": "bench/event-cost" + (" --quick" if quick else ""), "jmh": " ".join(options), "figures": figures}
    if not quick:
        with open(RESULT, "w") as out:
            json.dump(result, out, indent=2)
            out.write("\n")
    print(json.dumps(result))


main()
