package dev.loadline.guard;

import dev.loadline.guard.policy.Objective;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * How a guard is set. Everything has a default, and none needs to be set.
 *
 * <pre>{@code
 * GuardSettings.of("mode=observe; high=/checkout/**, /pay; exempt=10.0.0.0/8")
 * }</pre>
 *
 * @param mode what to do with decisions, at first: it is switched at run time
 * @param refusal what a refused client sees
 * @param exempt addresses that always pass
 * @param high paths that are shed last
 * @param low paths that are shed first
 * @param health paths that probes ask for, which are never shed
 * @param retryAfter what a 503 says
 * @param page body of a 503; it is HTML if it begins with '<'
 * @param pageShare share of the CPUs for pages
 * @param probeShare share of the CPUs for probes while others are refused
 * @param cpus CPUs at hand; 0 to find out
 * @param cpuRequest who tells a CPU manager what is needed
 * @param fullCost CPU time of a new session; zero to learn
 * @param resumedCost CPU time of a session that begins with a ticket; zero to learn
 * @param objective of response times
 * @param helloTimeout time for a ClientHello
 * @param ticketReuse uses of one ticket
 * @param badClaims bad claims of one address
 * @param sessionCookies cookies that sessions are known by
 * @param sessionRequests requests of one session
 * @param trustedProxies proxies that are believed
 * @param clientHeader in which they name the client
 * @param proxyProtocol whether they do so before the first byte of a connection
 */
public record GuardSettings(Mode mode, Refusal refusal, Addresses exempt, PathPatterns high, PathPatterns low,
                            PathPatterns health, Duration retryAfter, String page, double pageShare, double probeShare, double cpus,
                            CpuRequest cpuRequest, Duration fullCost, Duration resumedCost, Objective objective, Duration helloTimeout, int ticketReuse, int badClaims,
                            List<String> sessionCookies, int sessionRequests, Addresses trustedProxies, String clientHeader,
                            ProxyProtocol proxyProtocol) {

    private static final Duration DAY = Duration.ofDays(1);
    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    /**
     * An option, for whoever offers them in another form.
     *
     * @param key as it is written
     * @param byDefault what holds without it
     * @param meaning in a sentence
     */
    public record Described(String key, String byDefault, String meaning) {}

    /** All options, in the order of the documentation. */
    public static List<Described> described() {
        return Stream.of(Option.values()).map(o -> new Described(o.key(), o.byDefault(), o.meaning())).toList();
    }

    /** The defaults. */
    public static GuardSettings defaults() {
        return of("");
    }

    /**
     * Reads {@code key=value; key=value}; values are lists with commas where several make sense.
     *
     * @throws IllegalArgumentException naming key, value and what is allowed
     */
    public static GuardSettings of(String text) {
        var values = new EnumMap<Option, String>(Option.class);
        for (String entry : text.split(";")) {
            if (entry.isBlank()) {
                continue;
            }
            int equals = entry.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("guard: '" + entry.trim() + "' is no option: key=value; key=value");
            }
            values.put(Option.of(entry.substring(0, equals).trim()), entry.substring(equals + 1).trim());
        }
        return of(values);
    }

    /**
     * The same from a table of options.
     *
     * @throws IllegalArgumentException naming key, value and what is allowed
     */
    public static GuardSettings ofTable(Map<String, String> options) {
        var values = new EnumMap<Option, String>(Option.class);
        options.forEach((key, value) -> values.put(Option.of(key.trim()), value.trim()));
        return of(values);
    }

    private static GuardSettings of(Map<Option, String> values) {
        var read = new Reader(values);
        return new GuardSettings(
            read.oneOf(Option.MODE, Mode.class), read.oneOf(Option.REFUSE, Refusal.class),
            read.parsed(Option.EXEMPT, Addresses::parse),
            read.parsed(Option.HIGH, PathPatterns::parse), read.parsed(Option.LOW, PathPatterns::parse),
            read.parsed(Option.HEALTH, PathPatterns::parse),
            read.duration(Option.RETRY_AFTER, Duration.ofSeconds(1), DAY),
            read.page(), read.number(Option.PAGE_SHARE, 0, 1), read.number(Option.PROBE_SHARE, 0, 1), read.number(Option.CPUS, 0, 65_536),
            read.oneOf(Option.CPU_REQUEST, CpuRequest.class),
            read.duration(Option.FULL_COST, Duration.ZERO, DAY), read.duration(Option.RESUMED_COST, Duration.ZERO, DAY),
            read.parsed(Option.OBJECTIVE, Objective::parse),
            read.duration(Option.HELLO_TIMEOUT, Duration.ofMillis(100), DAY),
            (int) read.number(Option.TICKET_REUSE, 1, 1e9), (int) read.number(Option.BAD_CLAIMS, 1, 1e9),
            read.tokens(Option.SESSION_COOKIES), (int) read.number(Option.SESSION_REQUESTS, 1, 1e9),
            read.parsed(Option.TRUSTED_PROXIES, Addresses::parse), read.token(Option.CLIENT_HEADER), read.proxyProtocol());
    }

    /**
     * These, for a server that reads the PROXY protocol itself.
     *
     * @param instead what is to be done there
     * @throws IllegalArgumentException saying so, when the guard was to read it
     */
    public GuardSettings withoutProxyProtocol(String instead) {
        if (proxyProtocol != ProxyProtocol.OFF) {
            throw new IllegalArgumentException("guard: " + Option.PROXY_PROTOCOL.key() + " is of Tomcat's connector alone: " + instead);
        }
        return this;
    }

    private record Reader(Map<Option, String> values) {
        String text(Option option) {
            return values.getOrDefault(option, option.byDefault());
        }

        <T> T parsed(Option option, java.util.function.Function<String, T> parser) {
            try {
                return parser.apply(text(option));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("guard: " + option.key() + ": " + e.getMessage(), e);
            }
        }

        <E extends Enum<E>> E oneOf(Option option, Class<E> type) {
            for (E value : type.getEnumConstants()) {
                if (value.name().toLowerCase(Locale.ROOT).equals(text(option).toLowerCase(Locale.ROOT))) {
                    return value;
                }
            }
            throw wrong(option, "one of " + String.join(", ",
                java.util.Arrays.stream(type.getEnumConstants()).map(v -> v.name().toLowerCase(Locale.ROOT)).toList()));
        }

        double number(Option option, double least, double most) {
            try {
                double value = Double.parseDouble(text(option));
                if (value >= least && value <= most) {
                    return value;
                }
            } catch (NumberFormatException e) {
                // Said below, with the range.
            }
            throw wrong(option, "a number from " + least + " to " + most);
        }

        Duration duration(Option option, Duration least, Duration most) {
            String text = text(option);
            String unit = text.replaceFirst("^[0-9.]+", "").trim();
            double nanos = switch (unit) {
                case "us" -> 1e3;
                case "ms" -> 1e6;
                case "s" -> 1e9;
                case "min" -> 60e9;
                default -> -1;
            };
            try {
                nanos *= Double.parseDouble(text.substring(0, text.length() - unit.length()).trim());
                if (nanos >= least.toNanos() && nanos <= most.toNanos()) {
                    return Duration.ofNanos((long) nanos);
                }
            } catch (NumberFormatException e) {
                // Said below, with an example.
            }
            throw wrong(option, "a time from " + least.toMillis() + "ms to " + most.toSeconds() + "s, such as 250ms or 2s");
        }

        /** Names as HTTP has them: RFC 9110, 5.6.2. */
        List<String> tokens(Option option) {
            List<String> names = Stream.of(text(option).split(",")).map(String::trim).filter(n -> !n.isEmpty()).toList();
            for (String name : names) {
                if (!TOKEN.matcher(name).matches()) {
                    throw wrong(option, "names with commas between them, such as JSESSIONID, SESSION");
                }
            }
            return names;
        }

        String token(Option option) {
            String name = text(option).trim();
            if (!TOKEN.matcher(name).matches()) {
                throw wrong(option, "the name of a header, such as X-Forwarded-For");
            }
            return name;
        }

        /** Who believes nobody has nobody to listen to. */
        ProxyProtocol proxyProtocol() {
            ProxyProtocol value = oneOf(Option.PROXY_PROTOCOL, ProxyProtocol.class);
            if (value != ProxyProtocol.OFF && Addresses.parse(text(Option.TRUSTED_PROXIES)).isEmpty()) {
                throw new IllegalArgumentException("guard: " + Option.PROXY_PROTOCOL.key() + " is '" + text(Option.PROXY_PROTOCOL) + "', and "
                    + Option.TRUSTED_PROXIES.key() + " is empty: name the addresses of the proxies whose headers are to be believed");
            }
            return value;
        }

        String page() {
            String file = text(Option.PAGE_FILE);
            if (file.isEmpty()) {
                return "The server is busy. Please try again in a moment.\n";
            }
            try {
                return Files.readString(Path.of(file));
            } catch (IOException e) {
                throw new IllegalArgumentException("guard: " + Option.PAGE_FILE.key() + ": cannot read '" + file
                    + "' (" + e + "): name a readable file of UTF-8", e);
            }
        }

        private IllegalArgumentException wrong(Option option, String allowed) {
            return new IllegalArgumentException("guard: " + option.key() + " is '" + text(option) + "'; it must be " + allowed);
        }
    }
}
