"""LINE's layered solver (the package line-solver) on networks that `loadline export --to lqn` writes.

It is installed by pip into a venv below target/ (half a minute, once); where it cannot be, or --smoke has no time for it,
`solver()` says so and answers None. LINE_PYTHON names a Python that has it already."""

import json
import os
import subprocess
import sys
import tempfile

import harness

VENV = os.path.join(harness.ROOT, "target", "line-peer")
# Every network of a call in one process: importing the package takes longer than solving.
SOLVE = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
from line_solver import *
GlobalConstants.set_verbose(VerboseLevel.SILENT)
def value(x):
    x = float(x)
    return None if x != x or x in (float("inf"), float("-inf")) else x
out = []
for file in sys.argv[1:]:
    begin = time.time()
    try:
        table = LN(LayeredNetwork.parse_xml(file)).avg_table()
        rows = [{"name": str(r["Node"]), "kind": str(r["NodeType"]), **{k: value(r[c]) for k, c in (("tput", "Tput"), ("util", "Util"), ("resp", "RespT"))}} for _, r in table.iterrows()]
        out.append({"rows": rows, "seconds": round(time.time() - begin, 3)})
    except Exception as e:
        out.append({"refused": f"{type(e).__name__}: {e}"[:300]})
print("LINE " + json.dumps(out))
"""


def solver(install=True):
    """A Python that has LINE, or None and a word on stderr."""
    candidates = [p for p in (os.environ.get("LINE_PYTHON"), os.path.join(VENV, "bin", "python"), sys.executable) if p and os.path.exists(p)]
    for python in candidates:
        if subprocess.run([python, "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('line_solver') is None)"]).returncode == 0:
            return python
    if install:
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        python = os.path.join(VENV, "bin", "python")
        done = subprocess.run([python, "-m", "pip", "install", "-q", "line-solver"], capture_output=True, text=True)
        if done.returncode == 0:
            return python
        print(done.stderr.strip()[-500:], file=sys.stderr)
    print("SKIP: LINE is not installed (pip install line-solver): its columns stay empty", file=sys.stderr, flush=True)
    return None


def exported(model, settings, folder, name):
    """A model as a network: its file, and what is not in it."""
    path = os.path.join(folder, f"{name}.lqnx")
    command = [harness.built("loadline"), "export", model, "--to", "lqn", "-o", path, "--without"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return path, [line.removeprefix("note: without ") for line in done.stderr.splitlines() if line.startswith("note: ")]


def solved(python, files, timeout_s=600):
    """What LINE says of each network: rows of its table, or why it refused."""
    try:
        done = subprocess.run([python, "-c", SOLVE, *files], capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return [{"refused": f"no answer in {timeout_s} s"} for _ in files]
    for line in done.stdout.splitlines():
        if line.startswith("LINE "):
            return json.loads(line[5:])
    return [{"refused": done.stderr.strip()[-300:] or "it ended without an answer"} for _ in files]


def answers(python, cases, timeout_s=600):
    """Of each case (model, settings): what LINE says, and what the network lacks as `without`."""
    with tempfile.TemporaryDirectory() as folder:
        made = [exported(model, settings, folder, f"case{i}") for i, (model, settings) in enumerate(cases)]
        found = solved(python, [path for path, _ in made], timeout_s)
    return [{**answer, "without": without} for answer, (_, without) in zip(found, made)]


def of(answer, kind, name):
    """A row of LINE's table, or None."""
    return next((r for r in answer.get("rows", []) if r["kind"] == kind and r["name"] == name), None)
