"""What the benches of the CPU manager share: a daemon, someone who watches it, control groups without a daemon, and
runs in pieces that can be resumed.

Terms: a *piece* is a part of a bench that is measured in one go, and kept below target/bench until the bench is whole.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import harness

CGROUPS = "/sys/fs/cgroup"


class Missing(Exception):
    """A mechanism is not to be had here; says why."""


class Daemon:
    """`loadline share serve` with its socket in a directory. Use it in a `with`, or close it."""

    def __init__(self, directory, mechanism="auto", **settings):
        self.socket = os.path.join(directory, f"{mechanism}.sock")
        config = os.path.join(directory, f"{mechanism}.toml")
        written = {"mechanism": mechanism, "cgroup": f"loadline-bench-{os.getpid()}", "wide_start": "0ms", **settings}
        with open(config, "w") as f:
            for key, value in written.items():
                f.write(f"{key} = {json.dumps(value)}\n")
        self.process = subprocess.Popen(
            [harness.built("loadline"), "share", "serve", "--socket", self.socket, "--config", config],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = ""
        for line in self.process.stderr:
            said += line
            if "listening" in line:
                # Whatever else it says must not fill the pipe.
                self._said = []
                self._reader = threading.Thread(target=lambda: self._said.extend(self.process.stderr), daemon=True)
                self._reader.start()
                return
        self.process.wait()
        raise Missing(said.strip())

    def cli(self, *arguments):
        command = [harness.built("loadline"), "share", arguments[0], "--socket", self.socket, *arguments[1:]]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr}")
        return done.stdout

    def status(self):
        return json.loads(self.cli("status", "--json"))

    def applications(self, names, seconds=10):
        """Waits until all of them are managed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            here = {a["name"] for a in self.status()["applications"]}
            if set(names) <= here:
                return
            time.sleep(0.1)
        sys.exit(f"{', '.join(set(names) - here)} did not register with the daemon within {seconds} s")

    def cpu_seconds(self):
        # schedstat of its one thread: in nanoseconds, and without asking the daemon itself.
        with open(f"/proc/{self.process.pid}/schedstat") as f:
            return int(f.read().split()[0]) / 1e9

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=20)
        self._reader.join(5)
        if code != 0:
            sys.exit(f"the daemon ended with {code}\n{''.join(self._said)}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Watch:
    """Asks a daemon each quantum what everybody wants and has, from its making until close()."""

    def __init__(self, daemon, every_s=0.1):
        self.samples = []  # (seconds since the begin, {name: application's status})
        self._begin = time.monotonic()
        self._every_s = every_s
        self._over = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(daemon.socket)
        self._lines = self._socket.makefile("r")
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        if os.geteuid() == 0:
            # On a full machine it would see a phase only when that is over.
            os.sched_setscheduler(threading.get_native_id(), os.SCHED_FIFO, os.sched_param(1))
        due = self._begin
        while not self._over.wait(max(0, due - time.monotonic())):
            self._socket.sendall(b"status\n")
            line = self._lines.readline()
            if not line:
                return
            apps = {a["name"]: a for a in json.loads(line)["applications"]}
            self.samples.append((time.monotonic() - self._begin, apps))
            due += self._every_s

    def close(self):
        self._over.set()
        self._thread.join(5)
        self._socket.close()
        return self.samples


class Awake:
    """A spinner a CPU, which runs only when nothing else does: a half idle virtual CPU halts and is clocked down by its host, and
    what a site does on it takes two to four times the CPU time. That is a property of the host, and would favour whoever
    leaves the fewest CPUs idle. In a group of its own, because each session is one to the kernel (autogroup)."""

    def __init__(self):
        self._group = os.path.join(CGROUPS, "cpu", f"loadline-awake-{os.getpid()}")
        os.mkdir(self._group)
        Weights._write(self._group, "cpu.idle", 1)
        self._spinners = [subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c", "while True: pass"])
                          for cpu in sorted(os.sched_getaffinity(0))]
        for spinner in self._spinners:
            Weights._write(self._group, "cgroup.procs", spinner.pid)

    def close(self):
        for spinner in self._spinners:
            spinner.kill()
            spinner.wait()
        remove(self._group)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def remove(group):
    """A control group whose processes have just left."""
    for _ in range(50):
        try:
            return os.rmdir(group)
        except OSError:
            time.sleep(0.02)
    os.rmdir(group)


class Weights:
    """Control groups of version 1 with weights and nothing else: what a user without a manager can have."""

    def __init__(self, weights):
        """`weights`: {process id: weight}, against each other; together they count as a daemon's applications do."""
        self._top = os.path.join(CGROUPS, "cpu", f"loadline-weights-{os.getpid()}")
        os.mkdir(self._top)
        # As crates/share/src/mechanism/cgroup.rs has it: eight threads per CPU.
        self._write(self._top, "cpu.shares", 1024 * 8 * os.cpu_count())
        self._groups = []
        for pid, weight in weights.items():
            group = os.path.join(self._top, str(pid))
            os.mkdir(group)
            self._groups.append(group)
            self._write(group, "cpu.shares", int(1024 * weight))
            self._write(group, "cgroup.procs", pid)

    @staticmethod
    def _write(group, name, value):
        with open(os.path.join(group, name), "w") as f:
            f.write(str(value))

    def close(self):
        for group in self._groups:
            with open(os.path.join(group, "cgroup.procs")) as f:
                for pid in f.read().split():
                    self._write(os.path.join(CGROUPS, "cpu"), "cgroup.procs", pid)
            remove(group)
        os.rmdir(self._top)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def migrations(pid, counts):
    """Notes the kernel's count of moves between CPUs of each thread of a process; kept of threads that end."""
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/sched") as f:
                found = re.search(r"nr_migrations\s*:\s*(\d+)", f.read())
            if found:
                counts[tid] = int(found.group(1))
    except OSError:
        pass  # the thread or the process has ended meanwhile


def in_pieces(bench, rounds, settings, measure):
    """What `measure(round)` gives for each round. Those of a full run are kept as they come, so that one that is
    interrupted goes on where it was; a piece that was measured with other settings is measured again. With --piece N
    only that round is measured, and the rest is read, or missed."""
    only = _PIECE
    if only is not None and not 0 <= only < rounds:
        sys.exit(f"--piece {only:g}: there are rounds 0 to {rounds - 1}")
    results = []
    for n in range(rounds):
        path = os.path.join(harness.ROOT, "target", "bench", bench, f"{n}.json")
        known = None
        if not harness.quick() and os.path.exists(path) and n != only:
            with open(path) as f:
                kept = json.load(f)
            known = kept["result"] if kept["settings"] == settings else None
        if known is None:
            if only is not None and n != only:
                print(f"round {n} is still to be measured: bench/{bench} --piece {n}, or without --piece")
                results.append(None)
                continue
            print(f"round {n + 1} of {rounds}", flush=True)
            known = measure(n)
            if not harness.quick():
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as f:
                    json.dump({"settings": settings, "result": known}, f)
        else:
            print(f"round {n + 1} of {rounds}: measured before ({os.path.relpath(path, harness.ROOT)})")
        results.append(known)
    if any(r is None for r in results):
        sys.exit(0)
    return results


_PIECE = None


def pieces_option():
    """Takes --piece N from the command line: one round of a bench that is measured in pieces."""
    global _PIECE
    given = harness.text("piece", "N")
    if given is not None:
        if not given.isdigit():
            sys.exit("--piece needs the number of a round, from 0")
        _PIECE = int(given)
