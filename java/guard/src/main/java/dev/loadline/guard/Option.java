package dev.loadline.guard;

import java.util.Locale;
import java.util.Map;
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
    CPU_REQUEST("cpuRequest", "learnt", "what a CPU manager is asked for: learnt (from connection rates and their costs, refused ones too) or off (it estimates)"),
    OBJECTIVE("objective", "p95=250ms", "response time to hold, at a percentile from p50 to p99.9: nobody is refused while delay leaves it"),
    FULL_COST("fullCost", "0ms", "CPU time of a new session, all its requests included; 0: learnt"),
    RESUMED_COST("resumedCost", "0ms", "the same of a session that begins with a ticket; 0: learnt"),
    HELLO_TIMEOUT("helloTimeout", "5s", "time within which a client must have sent its whole ClientHello"),
    TICKET_REUSE("ticketReuse", "64", "uses of one ticket by one address in 10 s, while refusing"),
    BAD_CLAIMS("badClaims", "20", "claims of one address that were not good, or left in mid-handshake, in 10 s, before it is barred while CPU time is short"),
    SESSION_COOKIES("sessionCookies", "JSESSIONID, SESSION", "of requests: cookies by which a session is known, beside the server's own and Authorization"),
    SESSION_REQUESTS("sessionRequests", "200", "of requests: so many of one session in 10 s are of a session under way, while refusing; more begin new ones"),
    TRUSTED_PROXIES("trustedProxies", "", "addresses and networks of proxies that are believed when they name the client: of requests, by clientHeader; of connections, by proxyProtocol"),
    CLIENT_HEADER("clientHeader", "X-Forwarded-For", "of requests: header in which trusted proxies name the client: X-Forwarded-For, Forwarded, or one with an address"),
    PROXY_PROTOCOL("proxyProtocol", "off", "of Tomcat's TLS connections: whether those of trusted proxies begin with a header of the PROXY protocol, v1 or v2: off, required,"
        + " or optional (one without is the proxy's own)");

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

    /** What was an option before, and is said to whoever still sets it. */
    private static final Map<String, String> GONE = Map.of(
        "targetwaiting", "how long requests may wait follows from objective, such as objective=p95=250ms",
        "interval", "admission is paced continuously: remove it",
        "resumedceiling", "sessions under way are held back last, when objective cannot be held otherwise: remove it");

    static Option of(String key) {
        String gone = GONE.get(key.toLowerCase(Locale.ROOT));
        if (gone != null) {
            throw new IllegalArgumentException("guard: the option " + key + " is gone: " + gone);
        }
        for (Option option : values()) {
            if (option.key.toLowerCase(Locale.ROOT).equals(key.toLowerCase(Locale.ROOT))) {
                return option;
            }
        }
        throw new IllegalArgumentException("guard: there is no option '" + key + "'; there are "
            + Stream.of(values()).map(Option::key).collect(Collectors.joining(", ")));
    }
}
