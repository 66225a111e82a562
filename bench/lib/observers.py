"""What watches a JVM in bench/attach: Loadline in its modes, and its peers. Each attaches to a running JVM and leaves it.

An observer is made for one cell. `options` are those of the JVM, `unfit()` says why this machine or JDK cannot have
it, `attach` returns when it says that it is attached, `leave` when it was told to go; `finish`, called when nothing is
measured any more, waits for what it left running and gives what went wrong, or None.
"""

import os
import signal
import subprocess
import time

import harness
import jars

LOADLINE = harness.built("loadline")
AGENT = harness.built("loadline-agent.jar")
# A recorder writes its tables when it is told to stop: on a busy machine that takes a while.
STOP_S = 180
JCMD_S = 120


class Failed(Exception):
    """It could not attach or leave."""


class Control:
    """Nothing attaches."""

    options = ()

    def unfit(self):
        return None

    def attach(self, pid, home, folder, most_s):
        pass

    def leave(self):
        pass

    def finish(self):
        return None


class Recorder(Control):
    """`loadline record --pid`, with these options."""

    def __init__(self, *extra, agent=False):
        self.extra = extra
        self.options = (f"-javaagent:{AGENT}",) if agent else ()
        self.process = self.log = None
        self.told = False

    def unfit(self):
        known = subprocess.run([LOADLINE, "record", "--help"], capture_output=True, text=True, check=True).stdout
        missing = [e for e in self.extra if e not in known]
        return f"`loadline record` has no {missing[0]}" if missing else None

    def attach(self, pid, home, folder, most_s):
        self.log = os.path.join(folder, "recorder.log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([LOADLINE, "record", "--pid", str(pid), "-o", os.path.join(folder, "cell.trace"), *self.extra],
                                            stdout=log, stderr=log)
        end = time.monotonic() + most_s
        while time.monotonic() < end:
            if any(line.strip().startswith("recording") for line in self._said().splitlines()):
                return
            if self.process.poll() is not None:
                raise Failed(f"record ended with {self.process.returncode}: {self._said()[-400:].strip()}")
            time.sleep(0.05)
        raise Failed(f"not attached within {most_s:.0f} s")

    def leave(self):
        # Once: a second signal ends it at once, without its tables.
        if self.process and not self.told:
            self.told = True
            self.process.send_signal(signal.SIGTERM)

    def finish(self):
        if self.process is None:
            return None
        self.leave()
        try:
            code = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return f"record did not stop within {STOP_S} s"
        said = self._said()
        if code != 0:
            return f"record ended with {code}: {said[-400:].strip()}"
        return next((line.strip() for line in said.splitlines() if "LOST" in line), None)

    def _said(self):
        with open(self.log) as f:
            return f.read()


class ByJcmd(Control):
    """What is told by jcmd to begin and, if it can, to end. `begin` and `end` are given the cell's folder."""

    def __init__(self, begin, end=None, needs=None):
        self.begin, self.end, self.needs = begin, end, needs
        self.attached = None

    def unfit(self):
        try:
            if self.needs:
                self.needs()
        except jars.Missing as e:
            return str(e)
        return None

    def attach(self, pid, home, folder, most_s):
        self.attached = (pid, home, folder)
        self._jcmd(self.begin(folder))

    def leave(self):
        if self.end and self.attached:
            self._jcmd(self.end(self.attached[2]))

    def _jcmd(self, command):
        pid, home, _ = self.attached
        try:
            done = subprocess.run([os.path.join(home, "bin", "jcmd"), str(pid), *command], capture_output=True, text=True, timeout=JCMD_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"jcmd {command[0]}: no answer within {JCMD_S} s") from None
        wrong = done.returncode != 0 or ("return code:" in done.stdout and "return code: 0" not in done.stdout)
        if wrong:
            raise Failed(f"jcmd {' '.join(command)}: {(done.stdout + done.stderr)[-400:].strip()}")


def _async_profiler(options):
    # In quotes of its own, else jcmd takes what follows a "=" away.
    return lambda folder: ["JVMTI.agent_load", jars.async_profiler(), f'"{options.format(folder=folder)}"']


# wall and cpu each at async-profiler's default period of 10 ms for CPU, and 50 ms for wall, which its documents advise.
MODES = {
    "control": Control,
    "late": Recorder,
    "late --redefine": lambda: Recorder("--redefine"),
    "agent": lambda: Recorder(agent=True),
    "async-profiler": lambda: ByJcmd(_async_profiler("start,event=cpu,wall=50ms,jfr,file={folder}/profile.jfr"),
                                     _async_profiler("stop,file={folder}/profile.jfr"), jars.async_profiler),
    "jfr": lambda: ByJcmd(lambda folder: ["JFR.start", "name=bench", "settings=profile", f"filename={folder}/flight.jfr"],
                          lambda folder: ["JFR.stop", "name=bench"]),
    # It cannot leave: what was woven stays.
    "opentelemetry": lambda: ByJcmd(lambda folder: ["JVMTI.agent_load", jars.opentelemetry()], needs=jars.opentelemetry),
}
# Read by the OpenTelemetry agent only; every JVM has them, so that all are alike.
ENVIRONMENT = {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}
