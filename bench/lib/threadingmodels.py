"""What the shipped models of the strategies say of bed/threading, from what one client saw and nothing else.

One client never waits for another: what it saw of CPU time is the demand of a request, and what is left of its cycle is
spent outside of the server. Of a request without work the CPU time is the broker's; of one with work, what is more is the
servant's. Every other constant of the models (they are of a Pentium III and Linux 2.4) is taken out."""

import json
import os
import subprocess

import harness
import threadingbed

LEAST_S = 1e-6
# The kernel's: EEVDF since 6.6. Its timers are of high resolution.
SCHEDULER = "eevdf"
# The JDK's of virtual threads: on its one carrier each runs until it waits, in the order of waking; all have one priority.
OF_VIRTUAL = "priority"
NONE = {
    "thread-per-client": {},
    "threaded": {"locked": 0, "mutex_queue": "fifo", "requests_each": 0},
    "thread-per-request": {"handover": 0, "create": 0, "end": 0},
    "thread-pool": {"handover": 0, "wake": 0, "receiver_second": 0, "dispatcher_second": 0},
}


def constants(alone):
    """Of a variant, from its slices with one client, {work: medians}: seconds of the broker's CPU and outside of the server,
    and of the servant's CPU by work."""
    cpu = {work: seen["server_cpus"] / seen["per_s"] for work, seen in alone.items()}
    nothing = alone[threadingbed.NOTHING]
    broker = cpu[threadingbed.NOTHING]
    outside = max(LEAST_S, 1 / nothing["per_s"] - broker)
    servant = {work: max(LEAST_S, cpu[work] - broker) if threadingbed.WORKS[work][0] else 0 for work in alone}
    return {"broker_s": broker, "outside_s": outside, "servant_s": servant}


def predicted(name, found, work, clients, requests):
    """Throughput per second, mean and 95th percentile of response times in ms, and the server's CPUs in use."""
    *_, model, more = threadingbed.VARIANTS[name]
    settings = {"clients": clients, "servant_cpu": found["servant_s"][work], "servant_delay": threadingbed.WORKS[work][1] / 1e6, "broker": found["broker_s"],
                "client_pause": found["outside_s"], "timer_tick": "1us", "scheduler": OF_VIRTUAL if "virtual" in name else SCHEDULER, **NONE[model], **more}
    command = [harness.built("loadline"), "simulate", os.path.join(harness.ROOT, "models", "threading", f"{model}.toml"), "--json", "--solver", "simulate",
               "--requests", str(requests), "--seed", "1"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    # A client's time outside of the server is part of its response, but for the turn from a reply to the next request.
    response = answer["all"]["response_time"]
    ms = lambda seconds: round(1e3 * (seconds + found["outside_s"]), 4)
    return {"per_s": round(answer["all"]["throughput"]["value"], 2), "mean_ms": ms(response["mean"]["value"]), "p95_ms": ms(response["p95"]),
            "server_cpus": round(answer["stations"]["server"]["utilization"]["value"], 4)}
