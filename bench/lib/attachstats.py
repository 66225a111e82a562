"""What bench/attach counts in a cell: pure functions of its seconds and CPU times.

Terms: *after* is from attaching to the end. What is compared with is the same cell before attaching. Windows follow
each other from the moment of attaching; one that is not whole does not count. The p99 of some seconds is the mean of
theirs, weighted by their replies: the generator keeps percentiles by the second. A second that was offered requests
and answered none has the client's patience as its p99.
"""

OFFERED_SHARE = 0.95
P99_TIMES = 2.0
P99_WINDOW_S = 5
CPU_TIMES = 1.1
CPU_WINDOW_S = 10
PATIENCE_MS = 10_000.0


def p99_ms(seconds):
    """Of some seconds; None if nothing was offered."""
    weighed = [(max(1, s["replies"]), s["p99_ms"] if s["replies"] else PATIENCE_MS) for s in seconds if s["offered"] or s["replies"]]
    whole = sum(w for w, _ in weighed)
    return sum(w * p for w, p in weighed) / whole if whole else None


def cpu_us_per_request(cell, first, last, kind="total"):
    """CPU time of the server's threads per reply, from second `first` to before `last`; None without a reply."""
    replies = sum(s["replies"] for s in cell["seconds"][first:last])
    used = cell["cpu"][kind][last - 1] - (cell["cpu"][kind][first - 1] if first else 0.0)
    return 1e6 * used / replies if replies else None


def seconds_below(cell, first):
    """Seconds from `first` on in which fewer than 95% of what was offered were answered."""
    return sum(s["replies"] < OFFERED_SHARE * s["offered"] for s in cell["seconds"][first:])


def _windows(first, end, length):
    return [(at, at + length) for at in range(first, end - length + 1, length)]


def slow_windows(cell, first):
    """Windows of 5 s with twice the p99 of before."""
    seconds, usual = cell["seconds"], p99_ms(cell["seconds"][:first])
    found = [p99_ms(seconds[a:b]) for a, b in _windows(first, len(seconds), P99_WINDOW_S)]
    return sum(p is None or (usual is not None and p > P99_TIMES * usual) for p in found)


def dear_windows(cell, first):
    """Windows of 10 s with 10% more CPU per request than before."""
    return _dear(cell, first, lambda a, b: cpu_us_per_request(cell, a, b))


def dear_windows_in_work(cell, first):
    """The same, of CPU per request in terms of what fixed work on the site's CPU took in that window: a second witness, for
    such work feels the machine's clock and its hypervisor, but not all that a server feels of its caches. None in a cell
    that was measured without it."""
    work = cell.get("fixed_work_us")
    if not work:
        return None
    def in_work(a, b):
        used, known = cpu_us_per_request(cell, a, b), [us for us in work[a:b] if us is not None]
        return used / (sum(known) / len(known)) if used and known else None
    return _dear(cell, first, in_work)


def _dear(cell, first, cost):
    usual = cost(0, first)
    found = [cost(a, b) for a, b in _windows(first, len(cell["seconds"]), CPU_WINDOW_S)]
    return sum(c is None or (usual is not None and c > CPU_TIMES * usual) for c in found)


def cpu_profile(cell, before, hold):
    """CPU per request, in µs, of workers, the JIT and all: before, and in each window of 10 s from attaching and from leaving."""
    def of(first, last):
        return {kind: _rounded(cpu_us_per_request(cell, first, last, kind)) for kind in ("total", "worker", "jit")}
    end = len(cell["seconds"])
    return {"before": of(0, before),
            "after_attaching": [of(a, b) for a, b in _windows(before, before + hold, CPU_WINDOW_S)],
            "after_leaving": [of(a, b) for a, b in _windows(before + hold, end, CPU_WINDOW_S)]}


def _rounded(value):
    return None if value is None else round(value)


def figures(cell, before, hold):
    """What the table and the results show of a cell."""
    seconds, late = cell["seconds"], before + hold // 2
    usual = cpu_us_per_request(cell, 0, before)
    settled = cpu_us_per_request(cell, late, before + hold)
    after = seconds[before:]
    return {
        "offered_per_s": cell["rate"],
        "seconds_below": seconds_below(cell, before),
        "slow_windows": slow_windows(cell, before),
        "dear_windows": dear_windows(cell, before),
        "dear_windows_in_work": dear_windows_in_work(cell, before),
        "failures": sum(s["failures"] for s in after),
        "p99_before_ms": round(p99_ms(seconds[:before]) or PATIENCE_MS, 2),
        "p99_worst_second_ms": round(max(p99_ms([s]) or PATIENCE_MS for s in after), 2),
        "settled_cpu_ratio": round(settled / usual, 4) if settled and usual else None,
        "attach_s": cell["attach_s"],
        "leave_s": cell["leave_s"],
        "cpu_us_per_request": cpu_profile(cell, before, hold),
        "wrong": cell["wrong"],
    }
