"""Recordings of bed/threading: what the server's threads did for a request, by state."""

import json
import os
import tempfile
import time

import servers

# Where strategies differ most: requests that cost as much as the broker does, and more clients than CPUs.
WORK, CLIENTS = "0.5 ms of CPU", 16
VARIANTS = ("sockets per-client", "sockets threaded", "sockets per-request", "sockets pool of 64", "sockets pool of 4", "sockets per-client, virtual",
            "jacorb threaded", "jacorb per-request", "jacorb pool of 64", "glassfish pool of 64")
REQUESTS = "SELECT count(*) AS n FROM spans WHERE kind = 'user' AND name = 'work' AND complete AND end_ns BETWEEN {begin} AND {end}"
# Threads of the application: Java's, and carriers while nothing is mounted on them.
OWN = ("platform", "virtual", "carrier")


def recorded(bed, name, warm_s, seconds):
    """Of one slice under recording, per request: microseconds of the application's threads by state, and how often they ran."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "threading.trace")
        recording = servers.Recording(bed.servers[name].pid, trace)
        # The trace's clock is this one.
        begin = time.monotonic_ns() + int(1e9 * warm_s)
        bed.call(name, WORK, CLIENTS, warm_s, seconds)
        recording.end()
        window = {"begin": begin, "end": begin + int(1e9 * seconds)}
        requests, states = (servers.query(trace, sql.format(**window)) for sql in (REQUESTS, servers.STATES))
        with open(os.path.join(trace, "trace.json")) as f:
            lost = sum(json.load(f)["losses"].values())
    n = requests[0]["n"]
    if n == 0:
        raise SystemExit(f"no request to {name} was recorded")

    def of(what, field):
        return sum(s[field] for s in states if s["what"] == what and s["kind"] in OWN)
    return {"per_s": n / seconds, "running_us": of("running", "ns") / n / 1e3, "runs": of("running", "n") / n, "runnable_us": of("runnable", "ns") / n / 1e3,
            "lock_us": of("lock", "ns") / n / 1e3, "lost": lost}
