package dev.loadline.auction;

import dev.loadline.auction.data.Dialect;
import dev.loadline.auction.fault.Faults;
import dev.loadline.bed.KeyStoreFile;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What one run of the site was asked to be. Immutable: the setters return another one. {@link Option} has the meanings. */
public final class Config {
    /** TLS versions offered. */
    public enum Tls {
        /** TLS 1.2 alone. */
        V1_2("TLSv1.2"),
        /** TLS 1.3 alone. */
        V1_3("TLSv1.3"),
        /** Either. */
        BOTH("TLSv1.2+TLSv1.3");

        final String protocols;

        Tls(String protocols) {
            this.protocols = protocols;
        }
    }

    /** What to do with the tables of a database that somebody runs. */
    public enum Data {
        /** Make and fill them; there must be none. */
        CREATE,
        /** Use those that are there, as they are. */
        REUSE,
        /** Drop those of the site first. */
        REPLACE
    }

    private static final int FULL_ITEMS = 33_000;
    private static final int FULL_OLD_ITEMS = 500_000;
    private static final int FULL_USERS = 1_000_000;
    private static final int FIRST_VIRTUAL_THREADS = 21;

    private final Map<Option, Object> given;

    private Config(Map<Option, Object> given) {
        this.given = given;
    }

    /** The text of {@code --help}. */
    static String help() {
        var text = new StringBuilder("""
            The auction site: a test bed for Loadline (Tomcat, HTTPS, a database).

            java -jar auction.jar [options]

            """);
        for (Option o : Option.values()) {
            text.append(o.help());
        }
        text.append("  --help                this text\n\nFaults, each one thing wrong with an otherwise sound site:\n");
        Faults.summaries().forEach((name, summary) ->
            text.append(String.format("  %-20s  %s%n", name, summary)));
        return text.append("""

            Examples:
              java -jar auction.jar --port 8443
              java -jar auction.jar --port 0 --port-file port --key ec --max-seconds 60
              java -jar auction.jar --database postgresql --full-size
              java -jar auction.jar --jdbc 'jdbc:mariadb://127.0.0.1/shop?user=me&password=secret'
              java -jar auction.jar --fault lost-notify

            It ends cleanly on Ctrl-C and SIGTERM, and leaves nothing behind.
            """).toString();
    }

    /** The defaults, as the help states them. */
    public static Config defaults() {
        return new Config(Map.of());
    }

    /** Reads a command line. */
    static Config parse(List<String> args) throws UsageException {
        Config c = defaults();
        var rest = new ArrayDeque<>(args);
        while (!rest.isEmpty()) {
            String word = rest.poll();
            int equals = word.indexOf('=');
            Option option = Option.named(equals > 0 ? word.substring(0, equals) : word);
            if (option.takesValue()) {
                c = c.with(option, option.read(equals > 0 ? word.substring(equals + 1) : rest.poll()));
            } else if (equals > 0) {
                throw new UsageException(option.flag + " takes no value");
            } else {
                c = c.with(option, true);
            }
        }
        return c.checked();
    }

    private Config checked() throws UsageException {
        if (given.containsKey(Option.JDBC) && given.containsKey(Option.DATABASE)) {
            throw new UsageException("--jdbc names the database already: leave --database away");
        }
        if (given.containsKey(Option.DATA) && !given.containsKey(Option.JDBC)) {
            throw new UsageException("--data is about the tables of --jdbc; the site's own databases always begin empty");
        }
        if (virtualThreads() && Runtime.version().feature() < FIRST_VIRTUAL_THREADS) {
            throw new UsageException((given.containsKey(Option.VIRTUAL_THREADS) ? "--virtual-threads" : "--fault " + fault())
                + " needs JDK " + FIRST_VIRTUAL_THREADS + " or later; this is JDK " + Runtime.version().feature());
        }
        return this;
    }

    private Config with(Option option, Object value) {
        var copy = new EnumMap<Option, Object>(Option.class);
        copy.putAll(given);
        copy.put(option, value);
        return new Config(copy);
    }

    @SuppressWarnings("unchecked")
    private <T> T get(Option option) {
        return (T) given.getOrDefault(option, option.standard);
    }

    /** HTTPS port; 0 takes a free one. */
    public int port() {
        return this.<Integer>get(Option.PORT);
    }

    /** Plain HTTP port; 0 takes a free one, -1 opens none. */
    public int httpPort() {
        return this.<Integer>get(Option.HTTP_PORT);
    }

    /** Items for sale. */
    public int items() {
        return size(Option.ITEMS, FULL_ITEMS);
    }

    /** Auctions that have ended. */
    public int oldItems() {
        return size(Option.OLD_ITEMS, FULL_OLD_ITEMS);
    }

    /** Registered users. */
    public int users() {
        return size(Option.USERS, FULL_USERS);
    }

    private int size(Option option, int full) {
        return this.<Boolean>get(Option.FULL_SIZE) && !given.containsKey(option) ? full : this.<Integer>get(option);
    }

    /** Seed of the generated data. */
    public long seed() {
        return this.<Long>get(Option.SEED);
    }

    /** The site's own database; meaningless if {@link #jdbc} names one. */
    public Dialect database() {
        return get(Option.DATABASE);
    }

    /** A database that runs already, or null. */
    public String jdbc() {
        return get(Option.JDBC);
    }

    /** What to do with the tables of {@link #jdbc}. */
    public Data data() {
        return get(Option.DATA);
    }

    /** Database connections. */
    public int pool() {
        return this.<Integer>get(Option.POOL);
    }

    /** Most worker threads of Tomcat. */
    public int threads() {
        return this.<Integer>get(Option.THREADS);
    }

    /** Whether each request gets a virtual thread of its own. */
    public boolean virtualThreads() {
        return this.<Boolean>get(Option.VIRTUAL_THREADS) || fault() != null && Faults.needsVirtualThreads(fault());
    }

    /** TLS versions. */
    public Tls tls() {
        return get(Option.TLS);
    }

    /** Key of the certificate. */
    public KeyStoreFile.Key key() {
        return get(Option.KEY);
    }

    /** Whether HTTP/2 is offered. */
    public boolean http2() {
        return this.<Boolean>get(Option.HTTP2);
    }

    /** The fault to plant, or null. */
    public String fault() {
        return get(Option.FAULT);
    }

    /** Where the work directory is made; null for the system's temporary directory. */
    public Path work() {
        return get(Option.WORK);
    }

    /** File that receives the HTTPS port once the site is ready; null for none. */
    public Path portFile() {
        return get(Option.PORT_FILE);
    }

    /** Ends by itself after so many seconds; 0 never. */
    public int maxSeconds() {
        return this.<Integer>get(Option.MAX_SECONDS);
    }

    public Config port(int n) {
        return with(Option.PORT, n);
    }

    public Config httpPort(int n) {
        return with(Option.HTTP_PORT, n);
    }

    public Config size(int items, int oldItems, int users) {
        return with(Option.ITEMS, items).with(Option.OLD_ITEMS, oldItems).with(Option.USERS, users);
    }

    public Config threads(int n) {
        return with(Option.THREADS, n);
    }

    public Config pool(int n) {
        return with(Option.POOL, n);
    }

    public Config seed(long n) {
        return with(Option.SEED, n);
    }

    public Config key(KeyStoreFile.Key k) {
        return with(Option.KEY, k);
    }

    public Config tls(Tls t) {
        return with(Option.TLS, t);
    }

    public Config http2(boolean on) {
        return with(Option.HTTP2, on);
    }

    public Config database(Dialect d) {
        return with(Option.DATABASE, d);
    }

    public Config fault(String name) {
        return with(Option.FAULT, name);
    }

    public Config work(Path dir) {
        return with(Option.WORK, dir);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Config c && c.given.equals(given);
    }

    @Override
    public int hashCode() {
        return given.hashCode();
    }

    @Override
    public String toString() {
        return given.toString();
    }
}
