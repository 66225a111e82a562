"""Large traces without a recording: synthetic spools of a busy server (crates/analyze/examples/spools.rs), built."""

import json
import os
import subprocess

import harness


def sizes():
    """Events that `--sizes N,N` asks for, else None. To be asked before whether the run is a quick one."""
    asked = harness.text("sizes", "N,N")
    try:
        return [int(n) for n in asked.split(",")] if asked else None
    except ValueError:
        raise SystemExit(f"--sizes {asked}: it must be numbers of events, separated by commas") from None


def command(name, asked, **options):
    """How a bench was run, for its result."""
    given = {**({"sizes": ",".join(map(str, asked))} if asked else {}), **{k: v for k, v in options.items() if v}}
    return " ".join([f"bench/{name}", *(f"--{option} {value}" for option, value in given.items())])


def generator():
    """Builds the program that makes spools; its path."""
    build = ["cargo", "build", "--release", "--quiet", "--workspace", "--example", "spools"]
    subprocess.run(build, cwd=harness.ROOT, check=True)
    return os.path.join(harness.BUILT, "examples", "spools")


def spools(program, trace, events, workers=40):
    """Spools in the empty folder `trace`: how many events and bytes they are."""
    made = subprocess.run([program, trace, str(events), str(workers)], capture_output=True, text=True, check=True)
    return json.loads(made.stdout)


def build(trace):
    """Makes a trace of them."""
    done = subprocess.run([harness.built("loadline"), "recover", trace], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"loadline recover failed: {done.stderr}")


def run(command):
    """Runs it: seconds of wall and of CPU time, its largest resident set in MB, and its output; None in place of the
    output, and why, if it failed."""
    begin = os.times().elapsed
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, errors = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    return {
        "wall_seconds": os.times().elapsed - begin,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "out": out if status == 0 else None,
        "why": errors.strip(),
    }
