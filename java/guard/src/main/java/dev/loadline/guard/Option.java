package dev.loadline.guard;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The options: one table gives parsing, defaults and documentation. */
enum Option {
    MODE("mode", "enforce", "off, observe (decides and reports, refuses nothing) or enforce"),
    REFUSE("refuse", "alert", "what a refused client sees: close, alert, or page (503 within pageShare of the CPUs)"),
    EXEMPT("exempt", "", "addresses and networks that always pass: 10.0.0.5, 192.168.0.0/16, ::1"),
    HIGH("high", "", "paths whose requests are shed last: /checkout/**, /pay"),
    LOW("low", "", "paths whose requests are shed first: /search/**, *.pdf"),
    HEALTH("health", "/health/**, /healthz/**, /healthcheck, /health-check, /livez/**, /readyz/**, /live, /ready, /liveness, /readiness,"
        + " /ping, /actuator/health/**, /manage/health/**, /q/health/**, /-/healthy, /-/ready",
        "paths that probes ask for: never shed, and who begins with one is known as a probe"),
    RETRY_AFTER("retryAfter", "5s", "what a 503 says in Retry-After"),
    PAGE_FILE("pageFile", "", "HTML file that a 503 carries; empty: a line of text"),
    PAGE_SHARE("pageShare", "0.05", "share of the CPUs that refusing by page may take"),
    PROBE_SHARE("probeShare", "0.05", "share of the CPUs that probes may take while others are refused; 0: none"),
    CPUS("cpus", "0", "CPUs at hand; 0: from the CPU manager, affinity, cgroup quota, as they change"),
    FULL_COST("fullCost", "0ms", "CPU time of a new connection over its life; 0: learnt"),
    RESUMED_COST("resumedCost", "0ms", "CPU time of a resumed connection over its life; 0: learnt"),
    INTERVAL("interval", "1s", "length of the interval that the budget is for"),
    TARGET_WAITING("targetWaiting", "6", "threads of the server that may wait for a CPU, per CPU at hand, while refusing"),
    RESUMED_CEILING("resumedCeiling", "0.95", "share of the CPUs that resumed connections may take"),
    HELLO_TIMEOUT("helloTimeout", "5s", "time within which a client must have sent its whole ClientHello"),
    TICKET_REUSE("ticketReuse", "64", "uses of one ticket by one address in 10 s, while refusing"),
    BAD_CLAIMS("badClaims", "20", "claims of one address that were not good, or left in mid-handshake, in 10 s, before it is barred while refusing");

    private final String key;
    private final String byDefault;
    private final String meaning;

    Option(String key, String byDefault, String meaning) {
        this.key = key;
        this.byDefault = byDefault;
        this.meaning = meaning;
    }

    String key() {
        return key;
    }

    String byDefault() {
        return byDefault;
    }

    String meaning() {
        return meaning;
    }

    static Option of(String key) {
        for (Option option : values()) {
            if (option.key.toLowerCase(Locale.ROOT).equals(key.toLowerCase(Locale.ROOT))) {
                return option;
            }
        }
        throw new IllegalArgumentException("guard: there is no option '" + key + "'; there are "
            + Stream.of(values()).map(Option::key).collect(Collectors.joining(", ")));
    }
}
