package dev.loadline.auction;

import dev.loadline.auction.data.Dialect;
import dev.loadline.auction.fault.Faults;
import dev.loadline.bed.KeyStoreFile;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Every option of the command line: its name, what it takes, its default and its help, in the order of {@code --help}. */
enum Option {
    PORT("--port", "N", 8443, number(0, 65_535), "HTTPS port on 127.0.0.1; 0 takes a free one"),
    HTTP_PORT("--http-port", "N", -1, number(0, 65_535), "also plain HTTP on this port; 0 takes a free one"),
    ITEMS("--items", "N", 3000, number(1, 10_000_000), "items for sale"),
    OLD_ITEMS("--old-items", "N", 5000, number(0, 100_000_000), "auctions that have ended"),
    USERS("--users", "N", 1000, number(1, 100_000_000), "registered users"),
    FULL_SIZE("--full-size", null, false, null, "RUBiS's size: 33,000 items, 500,000 old, 1 million users"),
    SEED("--seed", "N", 1L, longNumber(), "seed of the generated data: same seed, same data"),
    DATABASE("--database", "NAME", Dialect.H2, Option::dialect, "h2 (in memory), mariadb or postgresql (own server)"),
    JDBC("--jdbc", "URL", null, Option::jdbc, "a database that runs already, user and password included"),
    DATA("--data", "HOW", Config.Data.CREATE, choice(Config.Data.class), "with --jdbc: create, reuse or replace the tables"),
    POOL("--pool", "N", 10, number(1, 1_000), "database connections"),
    THREADS("--threads", "N", 50, number(1, 10_000), "most worker threads of Tomcat"),
    VIRTUAL_THREADS("--virtual-threads", null, false, null, "a virtual thread per request instead; JDK 21 and later"),
    TLS("--tls", "1.2|1.3|both", Config.Tls.BOTH, Option::tls, "TLS versions"),
    KEY("--key", "rsa|ec", KeyStoreFile.Key.RSA, choice(KeyStoreFile.Key.class), "certificate: RSA-2048 or P-256"),
    HTTP2("--http2", null, false, null, "HTTP/2 as well as HTTP/1.1"),
    FAULT("--fault", "NAME", null, Option::fault, "plants a fault; see below"),
    WORK("--work", "DIR", null, Option::path, "make the work directory below DIR"),
    PORT_FILE("--port-file", "F", null, Option::path, "write the HTTPS port into F when ready"),
    MAX_SECONDS("--max-seconds", "N", 0, number(0, Integer.MAX_VALUE), "end by itself after N seconds; 0 never");

    private interface Reader {
        Object read(String option, String value) throws UsageException;
    }

    private static final int FIRST_COLUMN = 24;

    final String flag;
    final Object standard;
    private final String takes;
    private final Reader reader;
    private final String help;

    Option(String flag, String takes, Object standard, Reader reader, String help) {
        this.flag = flag;
        this.takes = takes;
        this.standard = standard;
        this.reader = reader;
        this.help = help;
    }

    /** The option of that name. */
    static Option named(String flag) throws UsageException {
        for (Option o : values()) {
            if (o.flag.equals(flag)) {
                return o;
            }
        }
        throw new UsageException("unknown option " + flag + " (--help lists them)");
    }

    boolean takesValue() {
        return takes != null;
    }

    Object read(String value) throws UsageException {
        if (value == null || value.isEmpty()) {
            throw new UsageException(flag + " needs a value (--help says which)");
        }
        return reader.read(flag, value);
    }

    /** One line of the help text. */
    String help() {
        String left = "  " + flag + (takes == null ? "" : " " + takes);
        return left + " ".repeat(Math.max(2, FIRST_COLUMN - left.length())) + help + shownDefault() + "\n";
    }

    private String shownDefault() {
        if (standard == null || Integer.valueOf(-1).equals(standard) || Boolean.FALSE.equals(standard)) {
            return this == WORK ? " [system's temporary]" : "";
        }
        return " [" + (standard instanceof Enum<?> e ? lower(e) : standard) + "]";
    }

    static String lower(Enum<?> e) {
        return e.name().toLowerCase(java.util.Locale.ROOT);
    }

    private static Reader number(int low, int high) {
        return (option, value) -> (int) parse(option, value, low, high);
    }

    private static Reader longNumber() {
        return (option, value) -> parse(option, value, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    private static long parse(String option, String value, long low, long high) throws UsageException {
        try {
            long n = Long.parseLong(value);
            if (n >= low && n <= high) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Said below, with the range, as for a number outside it.
        }
        throw new UsageException(option + " is " + value + "; it must be a whole number from " + low + " to " + high);
    }

    private static <E extends Enum<E>> Reader choice(Class<E> type) {
        return (option, value) -> {
            List<E> all = Arrays.asList(type.getEnumConstants());
            for (E e : all) {
                if (lower(e).equals(value)) {
                    return e;
                }
            }
            throw wrongChoice(option, value, all.stream().map(Option::lower).toList());
        };
    }

    private static UsageException wrongChoice(String option, String value, List<String> all) {
        int last = all.size() - 1;
        return new UsageException(option + " is " + value + "; it must be "
            + all.subList(0, last).stream().collect(Collectors.joining(", ")) + " or " + all.get(last));
    }

    private static Object dialect(String option, String value) throws UsageException {
        return choice(Dialect.class).read(option, value);
    }

    private static Object tls(String option, String value) throws UsageException {
        return switch (value) {
            case "1.2" -> Config.Tls.V1_2;
            case "1.3" -> Config.Tls.V1_3;
            case "both" -> Config.Tls.BOTH;
            default -> throw wrongChoice(option, value, List.of("1.2", "1.3", "both"));
        };
    }

    private static Object jdbc(String option, String value) throws UsageException {
        if (Dialect.of(value) == null) {
            throw new UsageException(option + " is " + value + "; it must begin with jdbc:mariadb:, jdbc:postgresql: or jdbc:h2:");
        }
        return value;
    }

    private static Object fault(String option, String value) throws UsageException {
        if (!Faults.names().contains(value)) {
            throw new UsageException("unknown fault " + value + Faults.closest(value).map(n -> ": did you mean " + n + "?").orElse("")
                + " (--help lists them)");
        }
        return value;
    }

    private static Object path(String option, String value) {
        return Path.of(value);
    }
}
