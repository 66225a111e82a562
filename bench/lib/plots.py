"""Charts of what was measured, drawn by the product's own chart library (bench/plot)."""

import json
import os
import subprocess

import harness

# Now, and not after an hour of measuring.
DRAW = harness.built("bench-plot")


def svg(title, x_label, series, **more):
    """The chart as a whole SVG file. `series` are (name, kind, points) and a colour's number, if not that of its place; kind is one of line,
    dotted, dots, reference; `more`: unit, half, log, percent, from_smallest."""
    chart = {"title": title, "x_label": x_label, **more,
             "series": [dict(zip(("name", "kind", "points", "colour"), one)) for one in series]}
    done = subprocess.run([DRAW], input=json.dumps(chart), capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())
    return done.stdout


def write(path, *chart, **more):
    """Draws into a file of the repository; with --quick, to nowhere."""
    keep(path, svg(*chart, **more))


def keep(path, text):
    """Writes a picture or page of results; with --quick, nothing."""
    if harness.quick():
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    print(f"wrote {os.path.relpath(path, harness.ROOT)}")
