"""CPUs that do not halt between requests."""

import subprocess


def keep_awake(cpus):
    """Spinners of idle priority, one a CPU: a half idle virtual CPU halts and is clocked down by its host, so that a request
    takes half as long again at 0.3 of the load line as at it (0.82 and 0.45 ms of CPU were measured). That is a property
    of the host; what is to be predicted is the server."""
    spin = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"
    return [subprocess.Popen(["taskset", "-c", cpu, "python3", "-c", spin]) for cpu in cpus.split(",")]
