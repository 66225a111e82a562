"""Runs of a long benchmark, each kept in a file as soon as it is done, so that another call goes on where one ended.

A run is kept under target/bench/NAME with what it was measured with (its parameters, and a digest of the programs): one
that was measured with anything else is measured again.
"""

import hashlib
import json
import os
import shutil
import time

import harness


def digest(files):
    """Of the contents of some files, so that a program that was built anew is another one."""
    made = hashlib.sha256()
    for name in files:
        with open(name, "rb") as f:
            made.update(f.read())
    return made.hexdigest()[:16]


class Kept:
    """The runs of one benchmark. `minutes` is when to begin no more of them, None for never."""

    def __init__(self, name, parameters, fresh=False, minutes=None):
        self.parameters = parameters
        self.folder = os.path.join(harness.ROOT, "target", "bench", name)
        self.until = None if minutes is None else time.monotonic() + 60 * minutes
        if fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder, exist_ok=True)

    def _path(self, part, label, n):
        safe = "".join(c if c.isalnum() else "-" for c in f"{part} {label}")
        return os.path.join(self.folder, f"{safe}-{n}.json")

    def get(self, part, label, n):
        """Run n of a point; None if it is still to be made."""
        try:
            with open(self._path(part, label, n)) as f:
                kept = json.load(f)
        except FileNotFoundError:
            return None
        return kept["row"] if kept["parameters"] == self.parameters else None

    def put(self, part, label, n, row):
        path = self._path(part, label, n)
        with open(path + ".part", "w") as f:
            json.dump({"parameters": self.parameters, "part": part, "point": label, "row": row}, f, indent=1)
        os.replace(path + ".part", path)

    def time_is_up(self):
        return self.until is not None and time.monotonic() > self.until
