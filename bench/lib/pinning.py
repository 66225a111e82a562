"""Moving a running program to other CPUs."""

import os
import sys


def pin(pid, cpus):
    """Moves all its threads to these: until a pass finds none elsewhere, for threads come and go meanwhile, on which taskset
    gives up."""
    wanted = set(cpus)
    for _ in range(100):
        moved = False
        for tid in map(int, os.listdir(f"/proc/{pid}/task")):
            try:
                if os.sched_getaffinity(tid) != wanted:
                    os.sched_setaffinity(tid, wanted)
                    moved = True
            except ProcessLookupError:
                pass  # it has ended, and whom it may have started is seen in the next pass
        if not moved:
            return
    sys.exit(f"the threads of {pid} cannot be moved to CPUs {sorted(wanted)}: new ones come all the time")
