"""Predictions of bench/predict: by the simulator, and by textbook formulas with the same demands."""

import json
import math
import re
import subprocess
import tomllib

import harness

LOADLINE = harness.built("loadline")
# Classes of the model by interactions of the scenario. Several interactions of one class are compared by their mean only.
INTERACTIONS = {
    "root": ["home"], "browse": ["browse"], "categories": ["browse_categories", "browse_categories_in_region"],
    "search": ["search_category", "search_region"], "regions": ["browse_regions"], "item": ["view_item"], "user": ["view_user"],
    "bids": ["view_bids"], "images_photo_png": ["photo"],
}


def interactions(program):
    """Interactions of the scenario by classes of the model, which are called by method and path."""
    if program.ours:
        return INTERACTIONS
    with open(program.walk, "rb") as f:
        walk = tomllib.load(f)
    found = {}
    for one in walk["interaction"]:
        path = re.sub(r"\{[^}]*\}|\d", "", one["path"].split("?")[0])
        words = [w.lower() for w in re.split(r"[^A-Za-z]+", path) if w] or ["root"]
        found.setdefault("_".join(["post"] * ("form" in one) + words), []).append(one["name"])
    return found


def client_cpu(run):
    """Seconds that the generator took of a CPU per reply."""
    load = run["load"]
    return load["generator"]["cpu_seconds"] / (load["seconds"] * load["replies_per_s"])


def measured(run, cpus):
    load = run["load"]
    return {"throughput": load["replies_per_s"], "utilization": run["cpu"] / cpus, "mean_ms": load["response"]["mean_ms"],
            "p95_ms": load["response"]["p95_ms"], "failures": load["failures"], "generator": load["generator"]["cpu_share"]}


# Sessions are of random length: of 60,000 requests two per cent of the throughput are chance, as much as the goal.
REQUESTS = 600_000


def answer(model, rate, settings, requests=REQUESTS):
    command = [LOADLINE, "simulate", model, "--json", "--requests", str(requests), "--set", f"rate={rate}"]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode not in (0, 1) or not out.stdout:
        raise RuntimeError(f"{' '.join(command)}: {out.stderr}")
    return json.loads(out.stdout)


def ms(seconds):
    """Of a time that an overload may leave without a value."""
    return None if seconds is None else 1e3 * seconds


def simulated(model, rate, settings, client=0.0):
    """`client` is the generator's CPU per reply on the same machine, which is not the server's utilization."""
    a = answer(model, rate, settings)
    everything = a["all"]
    classes = {n: (1e3 * c["response_time"]["mean"]["value"], 1e3 * c["response_time"]["p95"]) for n, c in a["classes"].items()
               if c["throughput"]["value"] > 0 and c["response_time"]["p95"] is not None}
    machine = next(s for s in a["stations"].values() if s["kind"] == "machine")
    throughput = everything["throughput"]["value"]
    others = throughput * client / float(settings.get("cpus", 1))
    return {"throughput": throughput, "utilization": machine["utilization"]["value"] - others,
            "mean_ms": ms(everything["response_time"]["mean"]["value"]), "p95_ms": ms(everything["response_time"]["p95"]),
            "steady": "problem" not in a, "classes": classes}


def textbook(model, recorded, rate, settings, cpus, client=0.0):
    """M/M/c with all demands in one exponential service, and an open product-form model (processor sharing, the pauses of
    clients in handshakes as delays). The demand is what the utilization law gives at the recorded rate, by the same fitted
    file; what the response time there has beside it is delay."""
    light = answer(model, recorded, settings, 20_000)
    requests = light["all"]["throughput"]["value"]
    machine = next(s for s in light["stations"].values() if s["kind"] == "machine")
    demand = machine["utilization"]["value"] * cpus / requests
    delay = max(light["all"]["response_time"]["mean"]["value"] - demand / (1 - machine["utilization"]["value"]), 0.0)
    offered = requests * rate / recorded
    used = offered * demand / cpus
    stable = used < 1
    carried = min(offered, cpus / demand)
    none = {"throughput": carried, "utilization": min(used, 1.0) - carried * client / cpus, "mean_ms": None, "p95_ms": None}
    if not stable:
        return {"mmc": none, "product_form": dict(none)}
    wait = erlang_c(cpus, offered * demand)
    response = demand + wait * demand / (cpus * (1 - used))
    mmc = {**none, "mean_ms": 1e3 * response, "p95_ms": 1e3 * mmc_p95(cpus, used, demand, wait)}
    shared = demand / (1 - used) if cpus == 1 else response
    # Means are all that a product form gives; its percentile is that of an exponential with its mean.
    form = {**none, "mean_ms": 1e3 * (shared + delay), "p95_ms": 1e3 * math.log(20) * (shared + delay)}
    return {"mmc": mmc, "product_form": form}


def settings_of(cell, row, recording, placeholder):
    """What a cell's model is told; with the rate of a row that was measured, where there is one."""
    settings = {k: f"{client_cpu(recording):.9f}" if v == placeholder else v for k, v in cell.settings.items()}
    return {**settings, **({"rate": row["sessions_per_s"]} if row else {})}


def layered(answer, rate):
    """What a layered solver says of an exported model, in the words of the others: of all requests of visitors together, by
    class and how often each comes. Its percentile is that of an exponential with its mean."""
    entries = [r for r in answer.get("rows", []) if r["kind"] == "Entry" and r["name"].startswith("visitors:") and r["tput"]]
    server = next((r for r in answer.get("rows", []) if r["kind"] == "Processor" and r["name"] == "server"), None)
    if not entries or server is None or any(r["resp"] is None for r in entries):
        return {"refused": answer.get("refused", "no answer for the visitors"), "rate": rate}
    throughput = sum(r["tput"] for r in entries)
    mean = sum(r["tput"] * r["resp"] for r in entries) / throughput
    return {"throughput": throughput, "utilization": server["util"], "mean_ms": 1e3 * mean, "p95_ms": 1e3 * math.log(20) * mean}


def erlang_c(c, load):
    """Probability of waiting in M/M/c (Erlang, 1917)."""
    term, total = 1.0, 1.0
    for k in range(1, c):
        term *= load / k
        total += term
    last = term * load / c * c / (c - load)
    return last / (total + last)


def mmc_p95(c, used, service, wait):
    """95th percentile of an M/M/c response by bisection of its distribution function."""
    mu, free = 1 / service, c * (1 - used) / service

    def above(t):
        if abs(free - mu) < 1e-9 * mu:
            return math.exp(-mu * t) * (1 + wait * mu * t)
        return (1 - wait) * math.exp(-mu * t) + wait * (free * math.exp(-mu * t) - mu * math.exp(-free * t)) / (free - mu)

    low, high = 0.0, 100 * service / (1 - used)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) > 0.05 else (low, middle)
    return high


def by_class(name, load, run, predicted, program):
    """Mean and 95th percentile per class, where interactions and classes are the same."""
    known = interactions(program)
    seen = {i["name"]: i["response"] for i in run["load"]["interactions"]}
    rows = []
    for cls, (mean, p95) in predicted.items():
        parts = [seen[i] for i in known.get(cls, []) if i in seen and seen[i]["count"] > 0]
        count = sum(p["count"] for p in parts)
        if not count:
            continue
        m = sum(p["mean_ms"] * p["count"] for p in parts) / count
        rows.append({"cell": name, "load": load, "class": cls, "count": count, "mean_ms": round(m, 3),
                     "mean_error": round(100 * (mean / m - 1), 1), "p95_ms": round(parts[0]["p95_ms"], 3) if len(parts) == 1 else None,
                     "p95_error": round(100 * (p95 / parts[0]["p95_ms"] - 1), 1) if len(parts) == 1 else None})
    return rows


def measured_line(rows, objective):
    """The largest measured load that holds and the smallest that does not, on 1 CPU, by the definition of characterize."""
    points = sorted((r["sessions_per_s"], r["measured"]) for r in rows if r["cell"] == "1 CPU")
    holds = [rate for rate, m in points if m["failures"] == 0 and m["p95_ms"] <= 1e3 * objective]
    fails = [rate for rate, m in points if m["failures"] > 0 or m["p95_ms"] > 1e3 * objective]
    return {"holds": max(holds, default=None), "fails": min(fails, default=None)}
