package dev.loadline.auction;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;

/**
 * What one run of the site was asked to be.
 *
 * @param port HTTPS port on 127.0.0.1; 0 takes a free one
 * @param httpPort plain HTTP port; 0 takes a free one, -1 opens none
 * @param items items for sale
 * @param users registered users
 * @param threads most worker threads of Tomcat
 * @param pool database connections
 * @param seed seed of the generated data
 * @param key key of the server's certificate
 * @param work where the work directory is made; null for the system's temporary directory
 * @param portFile file that receives the HTTPS port once the site is ready; null for none
 * @param maxSeconds ends by itself after so many seconds; 0 never
 */
public record Config(int port, int httpPort, int items, int users, int threads, int pool, long seed,
                     Key key, Path work, Path portFile, int maxSeconds) {

    /** Key of the self-signed certificate. */
    public enum Key {
        /** RSA, 2048 bits. */
        RSA,
        /** ECDSA on P-256. */
        EC
    }

    static final String HELP = """
        The auction site: a test bed for Loadline (Tomcat 11, HTTPS, H2 in memory).

        java -jar auction.jar [options]

          --port N         HTTPS port on 127.0.0.1; 0 takes a free one          [8443]
          --http-port N    also plain HTTP on this port; 0 takes a free one     [none]
          --items N        items for sale, 1 to 1000000                         [3000]
          --users N        registered users, 1 to 1000000                       [1000]
          --threads N      most worker threads of Tomcat, 1 to 10000            [50]
          --pool N         database connections, 1 to 1000                      [10]
          --seed N         seed of the generated data: same seed, same data     [1]
          --key rsa|ec     certificate: RSA-2048 or P-256                       [rsa]
          --work DIR       make the work directory below DIR        [system's temporary]
          --port-file F    write the HTTPS port into F when ready
          --max-seconds N  end by itself after N seconds; 0 never               [0]
          --help           this text

        Examples:
          java -jar auction.jar --port 8443
          java -jar auction.jar --port 0 --port-file port --key ec --max-seconds 60

        It ends cleanly on Ctrl-C and SIGTERM, and leaves nothing behind.
        """;

    /** The defaults, as {@link #HELP} states them. */
    public static Config defaults() {
        return new Config(8443, -1, 3000, 1000, 50, 10, 1, Key.RSA, null, null, 0);
    }

    /** Reads a command line. */
    static Config parse(List<String> args) throws UsageException {
        Config c = defaults();
        var rest = new ArrayDeque<>(args);
        while (!rest.isEmpty()) {
            String option = rest.poll();
            String value;
            int equals = option.indexOf('=');
            if (equals > 0) {
                value = option.substring(equals + 1);
                option = option.substring(0, equals);
            } else {
                value = rest.poll();
            }
            c = c.with(option, value);
        }
        return c;
    }

    private Config with(String option, String value) throws UsageException {
        return switch (option) {
            case "--port" -> port(number(option, value, 0, 65535));
            case "--http-port" -> httpPort(number(option, value, 0, 65535));
            case "--items" -> size(number(option, value, 1, 1_000_000), users);
            case "--users" -> size(items, number(option, value, 1, 1_000_000));
            case "--threads" -> threads(number(option, value, 1, 10_000));
            case "--pool" -> pool(number(option, value, 1, 1_000));
            case "--seed" -> seed(number(option, value, Long.MIN_VALUE, Long.MAX_VALUE));
            case "--key" -> key(key(value));
            case "--work" -> work(Path.of(text(option, value)));
            case "--port-file" -> portFile(Path.of(text(option, value)));
            case "--max-seconds" -> maxSeconds(number(option, value, 0, Integer.MAX_VALUE));
            default -> throw new UsageException("unknown option " + option + " (--help lists them)");
        };
    }

    private static int number(String option, String value, int low, int high) throws UsageException {
        return (int) number(option, value, (long) low, (long) high);
    }

    private static long number(String option, String value, long low, long high) throws UsageException {
        try {
            long n = Long.parseLong(text(option, value));
            if (n >= low && n <= high) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Said below, with the range, as for a number outside it.
        }
        throw new UsageException(option + " is " + value + "; it must be a whole number from " + low + " to " + high);
    }

    private static String text(String option, String value) throws UsageException {
        if (value == null || value.isEmpty()) {
            throw new UsageException(option + " needs a value (--help says which)");
        }
        return value;
    }

    private static Key key(String value) throws UsageException {
        return switch (text("--key", value)) {
            case "rsa" -> Key.RSA;
            case "ec" -> Key.EC;
            default -> throw new UsageException("--key is " + value + "; it must be rsa or ec");
        };
    }

    public Config port(int n) {
        return new Config(n, httpPort, items, users, threads, pool, seed, key, work, portFile, maxSeconds);
    }

    public Config httpPort(int n) {
        return new Config(port, n, items, users, threads, pool, seed, key, work, portFile, maxSeconds);
    }

    public Config size(int itemCount, int userCount) {
        return new Config(port, httpPort, itemCount, userCount, threads, pool, seed, key, work, portFile, maxSeconds);
    }

    public Config threads(int n) {
        return new Config(port, httpPort, items, users, n, pool, seed, key, work, portFile, maxSeconds);
    }

    public Config pool(int n) {
        return new Config(port, httpPort, items, users, threads, n, seed, key, work, portFile, maxSeconds);
    }

    public Config seed(long n) {
        return new Config(port, httpPort, items, users, threads, pool, n, key, work, portFile, maxSeconds);
    }

    public Config key(Key k) {
        return new Config(port, httpPort, items, users, threads, pool, seed, k, work, portFile, maxSeconds);
    }

    public Config work(Path dir) {
        return new Config(port, httpPort, items, users, threads, pool, seed, key, dir, portFile, maxSeconds);
    }

    public Config portFile(Path file) {
        return new Config(port, httpPort, items, users, threads, pool, seed, key, work, file, maxSeconds);
    }

    public Config maxSeconds(int n) {
        return new Config(port, httpPort, items, users, threads, pool, seed, key, work, portFile, n);
    }
}
