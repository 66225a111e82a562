"""Tables and plots of docs/server-characterization.md, from the figures of bench/server-characterization."""

import os
import re

import harness
import plots

PAGE = os.path.join(harness.ROOT, "docs", "server-characterization.md")
PICTURES = os.path.join(harness.ROOT, "docs", "server-characterization")

# A column: its heading, the figure, what to divide it by, how it is written.
MICROS, SHARE, TIMES, WHOLE = (1e3, ",.2f"), (1, ".0%"), (1, ".2f"), (1, ",.0f")
RATE, CPU, JIT = ("per second", "units_per_s", *WHOLE), ("CPU, µs", "work_ns", 1e3, ",.1f"), ("and JIT", "jit_share", *SHARE)
KERNEL, FAULTS, P99, RSS = ("kernel", "kernel_share", *SHARE), ("faults", "minor_faults", *TIMES), ("p99, ms", "p99_ms", *TIMES), ("memory, MB", "rss_mb", *WHOLE)
QUEUE, GC = ("run queue, ms", "run_queue_ns", 1e6, ",.2f"), ("GC", "gc_share", 1, ".1%")
SWITCHES = [("switches, voluntary", "voluntary_switches", *TIMES), ("involuntary", "involuntary_switches", 1, ".3f")]
FINE = ("CPU, µs", "work_ns", *MICROS)
TABLES = {
    "chat": ("chat", "connections", [RATE, CPU, KERNEL, QUEUE, *SWITCHES, FAULTS, P99, JIT]),
    "wholesale": ("wholesale", "warehouses", [RATE, FINE, ("with no GC", "own_ns", *MICROS), KERNEL, QUEUE, ("switches, involuntary", "involuntary_switches", 1, ".4f"), FAULTS, GC,
                                              ("new-order p99, µs", "p99_ms", 1e-3, ",.0f"), JIT]),
    "kernels": ("kernels", "kernel", [("per second", "units_per_s", 1, ",.1f"), ("CPU, ms", "work_ns", 1e6, ",.1f"), KERNEL, *SWITCHES, ("faults", "minor_faults", *WHOLE), JIT]),
    "2,000 connections": ("2,000 connections", "", [RATE, CPU, KERNEL, QUEUE, *SWITCHES, P99, RSS, ("threads", "threads", *WHOLE), ("CPUs used", "cpus", *TIMES),
                                                    ("by its client", "client_cpus", *TIMES)]),
    "10,000 connections": ("10,000 connections", "", [RATE, CPU, KERNEL, QUEUE, *SWITCHES, P99, RSS, ("threads", "threads", *WHOLE)]),
    "collectors": ("collectors", "collector, -Xmx", [RATE, FINE, GC, ("new-order p99, µs", "p99_ms", 1e-3, ",.0f"), RSS, FAULTS]),
    "recordings": ("recordings", "", [("per second", "units_per_s", *WHOLE), ("running, µs", "running_us", 1, ",.1f"), ("run queue, µs", "runnable_us", 1, ",.1f"),
                                      ("times runnable", "times_runnable", *TIMES), ("in locks, µs", "lock_us", 1, ",.1f"), ("times", "lock_waits", 1, ".3f"),
                                      ("GC, µs", "gc_running_us", 1, ".2f"), ("paused", "pause_share", 1, ".1%"), ("broadcast, p99 µs", "broadcast_p99_us", 1, ",.0f")]),
    "requests": ("requests", "page", [RATE, CPU, KERNEL, QUEUE, *SWITCHES, FAULTS, P99, JIT]),
}


def of(row, key):
    return row[key]["median"] if isinstance(row[key], dict) else row[key]


def table(figures, name):
    part, head, columns = TABLES[name]
    lines = [f"| {head} | " + " | ".join(title for title, *_ in columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for row in figures["points"]:
        if row["part"] == part:
            cells = (f"{of(row, key) / by:{how}}" if key in row else "" for _, key, by, how in columns)
            lines.append(f"| {row['point']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def curve(figures, part, jdk, key, by=1.0):
    """A figure by the number that a point's label begins with."""
    rows = [r for r in figures["points"] if r["part"] == part and r["point"].endswith(f"JDK {jdk}")]
    return [(float(r["point"].split()[0]), of(r, key) / by) for r in rows]


def jdks(figures):
    return sorted({int(r["point"].rsplit(" ", 1)[1]) for r in figures["points"] if r["part"] == "chat"})


def draw(figures):
    def picture(name, title, part, x, unit, curves, **more):
        plots.write(os.path.join(PICTURES, f"{name}.svg"), title, x, curves, unit=unit, half=True, **more)
    versions = jdks(figures)

    def each(part, key, by=1.0):
        return [(f"JDK {v}", "dotted", curve(figures, part, v, key, by)) for v in versions]
    last = versions[-1]
    kinds = [(name, "dotted", curve(figures, "chat", last, key, 1e3)) for name, key in (("user", "user_ns"), ("kernel", "kernel_ns"))]
    picture("chat-cpu", f"CPU time of a message, JDK {last}", "chat", "connections", "µs", kinds)
    picture("chat-switches", "Voluntary switches of a message", "chat", "connections", "per message", each("chat", "voluntary_switches"))
    picture("chat-rate", "Messages", "chat", "connections", "per second", each("chat", "units_per_s"))
    picture("wholesale-cpu", "CPU time of a transaction", "wholesale", "warehouses", "µs", each("wholesale", "work_ns", 1e3))


def write(figures):
    """Puts tables between their marks in the page, and draws."""
    if harness.quick():
        return
    with open(PAGE) as f:
        text = f.read()
    for name in TABLES:
        mark = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->)", re.S)
        if len(mark.findall(text)) != 1:
            raise SystemExit(f"{PAGE}: there is not one place for the table {name!r}")
        text = mark.sub(lambda m, name=name: m[1] + table(figures, name) + "\n" + m[2], text)
    with open(PAGE, "w") as f:
        f.write(text)
    draw(figures)
    print(f"wrote {os.path.relpath(PAGE, harness.ROOT)}")
