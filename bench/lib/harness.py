"""What the benchmarks share: the machine they ran on, medians and spreads, and where results go.

A benchmark prints a table for people and, as its last line, one JSON object of its figures. With
--quick it ends within three minutes, with --smoke within 20 s, and writes nothing;
without them, the same object goes to bench/results/NAME.json together with machine, kernel, JDK, command and date.
"""

import datetime
import json
import os
import platform
import signal
import statistics
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILT = os.path.join(ROOT, "target", "release")
# Student's t, two-sided 95%, for 1, 2, … degrees of freedom; the last serves for all above.
T_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
# Those that the bench at hand takes.
_options = ["--quick"]
_smoke = False
# So that what a bench has started is ended, and its cgroups go, also when the bench is told to end.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def flag(name):
    """Whether --name was given. Options of a bench are asked for first, before what asks for --quick is imported."""
    _options.append(f"--{name}")
    if f"--{name}" not in sys.argv:
        return False
    sys.argv.remove(f"--{name}")
    return True


def text(name, metavar="TEXT"):
    """What was given as --name TEXT, else None."""
    _options.append(f"--{name} {metavar}")
    if f"--{name}" not in sys.argv:
        return None
    at = sys.argv.index(f"--{name}")
    if at + 1 >= len(sys.argv):
        sys.exit(f"--{name} needs {metavar}")
    value = sys.argv[at + 1]
    del sys.argv[at:at + 2]
    return value


def number(name):
    """What was given as --name N, else None."""
    given = text(name, "N")
    if given is None:
        return None
    try:
        value = float(given)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        sys.exit(f"--{name} needs a number above 0")
    return value


def smoke():
    """Whether --smoke was given: a quick run of the shortest kind, whose figures mean nothing."""
    global _smoke
    _smoke = flag("smoke")
    return _smoke


def shortest():
    """Whether --smoke was given."""
    return _smoke


def quick():
    """Whether --quick or --smoke was given; what else is left on the command line is refused."""
    unknown = [a for a in sys.argv[1:] if a != "--quick"]
    if unknown:
        usage = " ".join(f"[{o}]" for o in _options)
        sys.exit(f"usage: {os.path.relpath(sys.argv[0], ROOT)} {usage}   ({unknown[0]!r} is not known)")
    return _smoke or "--quick" in sys.argv[1:]


def built(name):
    """Path of something that `make build` puts beside the binary."""
    path = os.path.join(BUILT, name)
    if not os.path.exists(path):
        sys.exit(f"{path} is missing: run `make build` first")
    return path


def jdks():
    """(major version, home) of each JDK on this machine, 17 and later, one per version, the default first."""
    homes = []
    try:
        javac = subprocess.run(["sh", "-c", "readlink -f $(command -v javac)"], capture_output=True, text=True)
        homes.append(os.path.dirname(os.path.dirname(javac.stdout.strip())))
        homes += [os.path.join("/usr/lib/jvm", n) for n in sorted(os.listdir("/usr/lib/jvm"))]
    except FileNotFoundError:
        pass
    found = {}
    for home in homes:
        java = os.path.join(home, "bin", "java")
        if not os.access(java, os.X_OK) or not os.access(os.path.join(home, "bin", "javac"), os.X_OK):
            continue
        text = subprocess.run([java, "-XshowSettings:properties", "-version"], capture_output=True, text=True).stderr
        for line in text.splitlines():
            if "java.specification.version = " in line:
                version = line.split("= ")[1].strip()
                if version.isdigit() and int(version) >= 17:
                    found.setdefault(int(version), home)
    return list(found.items())


def machine():
    """Where the figures come from."""
    model = "unknown"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr.splitlines()
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": platform.release(),
        "jdk": java[1] if len(java) > 1 else "unknown",
    }


def spread(values):
    """Median, smallest and largest of several runs."""
    return {
        "median": round(statistics.median(values), 4),
        "min": round(min(values), 4),
        "max": round(max(values), 4),
        "runs": len(values),
    }


def interval(values):
    """Their mean with its 95% interval by Student's t; without an interval where there is but one."""
    mean = statistics.mean(values)
    if len(values) < 2:
        return {"mean": round(mean, 4), "low": None, "high": None, "runs": len(values)}
    half = T_95[min(len(values) - 1, len(T_95)) - 1] * statistics.stdev(values) / len(values) ** 0.5
    return {"mean": round(mean, 4), "low": round(mean - half, 4), "high": round(mean + half, 4), "runs": len(values)}


def finish(name, figures, command=None, pictures=lambda: None):
    """Prints the figures as the last line and, in a full run, keeps them in bench/results. `command` is what
    was run, if it is not bench/NAME alone; `pictures` draws, when the figures are safe."""
    if not quick():
        result = {
            "bench": name,
            "command": command or f"bench/{name}",
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "figures": figures,
        }
        path = os.path.join(ROOT, "bench", "results", f"{name}.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            json.dump(result, f, indent=1)
            f.write("\n")
        print(f"wrote bench/results/{name}.json")
    pictures()
    print(json.dumps(figures))
