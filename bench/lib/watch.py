"""Beside a point: how fast the server's CPU was, and how much of it the server used.

On a virtual machine the same work takes a quarter more CPU time at one minute than at another, which no counter of
the guest shows. So fixed work of a millisecond is done five times a second on the server's CPU, at half a percent
of it, and its CPU time taken: when it doubles, whatever else ran took twice as long too. It computes on few bytes;
what a neighbour does to the memory shows less in it than in a server.

Run as a program: watch.py PID AFTER_S SECONDS, on the CPU in question; prints one JSON object. watch.py SECONDS prints
the fixed work's CPU time along these seconds instead.
"""

import json
import os
import statistics
import subprocess
import sys
import time

PAUSE_S = 0.2
TICKS = os.sysconf("SC_CLK_TCK")


def begin(cpu, pid, after_s, seconds):
    """Begins to watch that process on that CPU, after a while and for so long; `result` waits for it."""
    return subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, os.path.realpath(__file__), str(pid), str(after_s), str(seconds)],
                            stdout=subprocess.PIPE, text=True)


def result(process):
    """`fixed_work_us`, the mean CPU time of the fixed work, and `server_cpu`, CPU seconds per second."""
    out, _ = process.communicate(timeout=3600)
    if process.returncode != 0:
        sys.exit(f"{' '.join(process.args)} ended with {process.returncode}")
    return json.loads(out)


def along(cpu, seconds):
    """Begins to watch a CPU alone, before whatever else runs there if we may; `result` has [[seconds since then, us], …]."""
    first = ["chrt", "-f", "2"] if os.geteuid() == 0 else []
    return subprocess.Popen([*first, "taskset", "-c", str(cpu), sys.executable, os.path.realpath(__file__), str(seconds)],
                            stdout=subprocess.PIPE, text=True)


def cpu_seconds(pid):
    """CPU time of a process so far."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def fixed_work():
    """Its CPU time, in ns."""
    begin_ns = time.thread_time_ns()
    x = 0
    for i in range(12_000):
        x = (x * 1_103_515_245 + i) & 0xFFFF_FFFF
    return time.thread_time_ns() - begin_ns


def main():
    if len(sys.argv) == 2:
        begin_s, seen = time.monotonic(), []
        while time.monotonic() < begin_s + float(sys.argv[1]):
            time.sleep(PAUSE_S)
            took = fixed_work()
            seen.append([round(time.monotonic() - begin_s, 2), round(took / 1e3, 1)])
        print(json.dumps(seen))
        return
    pid, after_s, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    time.sleep(after_s)
    begin_s, before, took = time.monotonic(), cpu_seconds(pid), []
    while time.monotonic() < begin_s + seconds:
        time.sleep(PAUSE_S)
        took.append(fixed_work())
    print(json.dumps({"fixed_work_us": round(statistics.mean(took) / 1e3, 1),
                      "server_cpu": round((cpu_seconds(pid) - before) / (time.monotonic() - begin_s), 3)}))


if __name__ == "__main__":
    main()
