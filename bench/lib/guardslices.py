"""Slices of load on variants of a site, and how the guarded one compares with the others: a slice is a table of figures with
its `round`, `load` (a multiple of the load line) and `variant`."""

import statistics

import guardsite
import harness
import watch
from server import cpus

# Share of the replies within the objective from which a site counts as serving all within it: its percentile, 95.
SERVED = 0.95


def measured(site, scenario, rate, seconds, objective, seed, lead_s=guardsite.LEAD_S, think="700ms", extra=()):
    """Loads a site that has collected its garbage and become idle, for so long after a lead-in, and until it is idle again; its figures. `objective`: p95=TIME."""
    site.collect()
    site.wait_idle()
    watching = watch.begin(cpus()[0], site.process.pid, lead_s, seconds)
    before = site.switches()
    told = guardsite.load(site.port, scenario, rate, seconds, think=think, seed=seed,
                          warmup_s=lead_s, extra=("--objective", objective.removeprefix("p95="), *extra))
    switches = site.switches() - before
    site.wait_idle()
    figures = guardsite.figures(told) | watch.result(watching)
    sessions = told["sessions"]
    figures |= {"good_per_s": round(sessions["good_replies"] / told["seconds"], 1), "good_sessions_per_s": round(sessions["good"] / told["seconds"], 2),
                "started": sessions["started"], "refused": sessions["refused"], "broken": sessions["broken"] - sessions["refused"],
                "cpu_us_per_reply": round(1e6 * guardsite.ratio(figures["server_cpu"], figures["replies_per_s"]), 1),
                "switches_per_reply": round(guardsite.ratio(switches, (seconds + lead_s) * figures["replies_per_s"]), 2)}
    return figures


def of(slices, load, variant, key):
    """A figure of a variant at a load, by round."""
    return [s[key] for s in slices if s["load"] == load and s["variant"] == variant]


def ratios(slices, load, others, key):
    """The guarded site's to the best other variant at that load (by its mean), by round."""
    best = max(others, key=lambda v: statistics.mean(of(slices, load, v, key)))
    pairs = zip(of(slices, load, "guarded", key), of(slices, load, best, key))
    return best, harness.interval([guardsite.ratio(a, b) for a, b in pairs])


def at_same_speed(slices, loads):
    """By load, the guarded site's goodput to its own at the load where it has most, by round, each put at one speed of the host by the fixed work that was timed in its slice."""
    at = {load: [g * work for g, work in zip(of(slices, load, "guarded", "good_per_s"), of(slices, load, "guarded", "fixed_work_us"))] for load in loads}
    most = max(at.values(), key=statistics.mean)
    return {load: harness.interval([guardsite.ratio(a, b) for a, b in zip(here, most)]) for load, here in at.items()}


def compare(slices, loads):
    """By load, what the heads of the benches list of `guarded`."""
    same_speed = at_same_speed(slices, loads)
    variants = list(dict.fromkeys(s["variant"] for s in slices))
    others = [v for v in variants if v not in ("guarded", "other")]
    highest = max(statistics.mean(of(slices, l, v, "good_per_s")) for l in loads for v in variants)
    guarded = {}
    for load in loads:
        best, goodput = ratios(slices, load, others, "good_per_s")
        best_of_sessions, sessions = ratios(slices, load, others, "good_sessions_per_s")
        shares = zip(of(slices, load, "unguarded", "good_per_s"), of(slices, load, "unguarded", "replies_per_s"),
                     of(slices, load, "guarded", "refused"), of(slices, load, "guarded", "started"))
        needless = [refused / max(1, started) for good, replies, refused, started in shares if good >= SERVED * replies > 0]
        guarded[f"{load:g}"] = {
            "goodput_ratio": goodput, "best_other": best, "sessions_ratio": sessions, "best_other_of_sessions": best_of_sessions,
            "goodput_of_highest": round(guardsite.ratio(statistics.mean(of(slices, load, "guarded", "good_per_s")), highest), 4),
            "goodput_at_same_speed": same_speed[load],
            "p95_ms": round(statistics.median(of(slices, load, "guarded", "p95_ms")), 1),
            "refused_needlessly": round(statistics.mean(needless), 4) if needless else None,
            "broken": round(guardsite.ratio(sum(of(slices, load, "guarded", "broken")), sum(of(slices, load, "guarded", "started"))), 5),
        }
    return guarded


def table(slices, loads):
    """Means and medians by load and variant."""
    rows = []
    for load in loads:
        for variant in dict.fromkeys(s["variant"] for s in slices):
            mean = lambda key: statistics.mean(of(slices, load, variant, key))
            rows.append({"load": load, "variant": variant, **{k: round(mean(k), 2) for k in (
                "good_per_s", "replies_per_s", "good_sessions_per_s", "sessions_per_s", "server_cpu", "cpu_us_per_reply", "switches_per_reply", "fixed_work_us")},
                "p95_ms": round(statistics.median(of(slices, load, variant, "p95_ms")), 1),
                "refused_share": round(guardsite.ratio(sum(of(slices, load, variant, "refused")), sum(of(slices, load, variant, "started"))), 4),
                "broken_share": round(guardsite.ratio(sum(of(slices, load, variant, "broken")), sum(of(slices, load, variant, "started"))), 4)})
    return rows
