"""Tables and plots of docs/strategies.md, from the figures of bench/threading-strategies."""

import os
import re
import statistics

import harness
import plots
import threadingbed

PAGE = os.path.join(harness.ROOT, "docs", "strategies.md")
PICTURES = os.path.join(harness.ROOT, "docs", "strategies")
BEGIN, END = "<!-- measured: written by bench/threading-strategies -->", "<!-- end -->"
# Drawn measured and predicted: each has a model of its own.
PREDICTED = ("sockets per-client", "sockets threaded", f"sockets pool of {threadingbed.SMALL_POOL}")


def works(figures):
    return [w for w in dict.fromkeys(r["work"] for r in figures["cells"]) if w != threadingbed.NOTHING]


def variants(figures, broker=""):
    return [v for v in dict.fromkeys(r["variant"] for r in figures["cells"]) if v.startswith(broker)]


def cell(figures, variant, work, clients):
    return next((r for r in figures["cells"] if (r["variant"], r["work"], r["clients"]) == (variant, work, clients)), None)


def by_clients(figures, work, key, how):
    """A row a variant, a column a number of clients."""
    clients = sorted({r["clients"] for r in figures["cells"]})
    lines = ["| clients | " + " | ".join(str(c) for c in clients) + " |", "| --- |" + " ---: |" * len(clients)]
    for variant in variants(figures):
        rows = [cell(figures, variant, work, c) for c in clients]
        lines.append(f"| {variant} | " + " | ".join(f"{r[key]['median']:{how}}" if r else "" for r in rows) + " |")
    return "\n".join(lines)


def costs(figures):
    """What a request without work costs, one client."""
    lines = ["| | server CPU, µs | round trip, µs |", "| --- | ---: | ---: |"]
    for variant in variants(figures):
        row = cell(figures, variant, threadingbed.NOTHING, 1)
        lines.append(f"| {variant} | {1e6 * figures['one_client'][variant]['broker_s']:,.0f} | {1e3 * row['mean_ms']['median']:,.0f} |")
    return "\n".join(lines)


def misses(figures):
    columns = (("throughput", "per_s"), ("mean response", "mean_ms"), ("p95", "p95_ms"))
    lines = ["| | cells | " + " | ".join(title for title, _ in columns) + " |", "| --- | ---: |" + " ---: |" * len(columns)]
    for line in figures["errors"]:
        bold = "**" if line["variant"] == "all" else ""
        lines.append(f"| {bold}{line['variant']}{bold} | {line['cells']} | " + " | ".join(f"{line[k]['mean']:.0%} ({line[k]['largest']:.0%})" for _, k in columns) + " |")
    return "\n".join(lines)


def recordings(figures):
    columns = (("replies/s", "per_s", ",.0f"), ("running, µs", "running_us", ",.0f"), ("runnable, µs", "runnable_us", ",.0f"), ("in locks, µs", "lock_us", ",.0f"),
               ("times on a CPU", "runs", ".1f"))
    lines = ["| | " + " | ".join(title for title, *_ in columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for row in figures["recordings"]:
        lines.append(f"| {row['variant']} | " + " | ".join(f"{row[key]:{how}}" for _, key, how in columns) + " |")
    return "\n".join(lines)


def image(*words):
    return f"![{', '.join(words)}](strategies/{file_of(*words)})"


def section(figures, work):
    lines = [f"### {work}", "", "Replies per second by the number of clients:", "", by_clients(figures, work, "per_s", ",.0f" if work.startswith("0.5") else ",.1f"), "",
             "95th percentile of response times, ms:", "", by_clients(figures, work, "p95_ms", ",.1f"), ""]
    return "\n".join(lines + [image(broker, work) for broker in threadingbed.JARS if variants(figures, broker)])


def body(figures):
    """All that was measured, as it stands in the page."""
    taken = [r["taken"]["median"] for r in figures["cells"]]
    parts = [f"JDK {figures['jdk']}; medians of {figures['rounds']} rounds, {figures['slices_missing']} slices missing. Others than the server had "
             f"{statistics.median(taken):.0%} of its CPU in the median cell, {max(taken):.0%} in the worst.",
             "### What a broker costs", "One client, no work: CPU time of the server for a request, and the round trip.", costs(figures),
             *(section(figures, work) for work in works(figures))]
    if figures["recordings"]:
        parts += ["### What the threads did", "Recorded by Loadline, 16 clients, 0.5 ms of CPU; all of the server's Java threads, per request. *In locks* is of owned locks "
                  "and monitors; a thread that waits for a request, or for work of a pool, is not counted.", recordings(figures)]
    parts += ["### Errors of the predictions", "Mean and largest over the cells:", misses(figures), "\n".join(image("predicted", work) for work in works(figures))]
    return "\n\n".join(parts)


def file_of(*words):
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()) + ".svg"


def curve(figures, variant, work, of):
    return [(r["clients"], of(r)) for r in figures["cells"] if r["variant"] == variant and r["work"] == work]


def draw(figures):
    measured = lambda r: r["per_s"]["median"]
    for work in works(figures):
        for broker in threadingbed.JARS:
            series = [(v.removeprefix(broker).strip(), "dotted", curve(figures, v, work, measured)) for v in variants(figures, broker)]
            if series:
                plots.write(os.path.join(PICTURES, file_of(broker, work)), f"{broker}: {work}", "clients", series, unit="replies/s", half=True)
        series = []
        for colour, variant in enumerate(v for v in PREDICTED if v in variants(figures)):
            series.append((variant.removeprefix("sockets "), "dots", curve(figures, variant, work, measured), colour))
            series.append(("predicted", "line", curve(figures, variant, work, lambda r: r["predicted"]["per_s"] if "predicted" in r else r["per_s"]["median"]), colour))
        plots.write(os.path.join(PICTURES, file_of("predicted", work)), f"sockets, predicted from one client: {work}", "clients", series, unit="replies/s", half=True)


def write(figures):
    """Puts what was measured between its marks in the page, and draws."""
    if harness.quick():
        return
    with open(PAGE) as f:
        head, rest = f.read().split(BEGIN)
    tail = rest.split(END)[1]
    with open(PAGE, "w") as f:
        f.write(f"{head}{BEGIN}\n\n{body(figures)}\n\n{END}{tail}")
    draw(figures)
    print(f"wrote {os.path.relpath(PAGE, harness.ROOT)}")
