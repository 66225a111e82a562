package dev.loadline.auction.data.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * A database server of this run alone: empty, on a free port of 127.0.0.1, with a user
 * {@code auction} whose password is drawn for the run.
 */
public final class PrivateServer implements AutoCloseable {
    /** The user, and the database. */
    public static final String NAME = "auction";
    private static final long READY_NANOS = 60_000_000_000L;
    /** More than the pool, for whoever wants to look inside. */
    private static final int SPARE_CONNECTIONS = 10;

    private final ServerProcess process;
    private final String url;
    private final String password;

    private PrivateServer(ServerProcess process, String url, String password) {
        this.process = process;
        this.url = url;
        this.password = password;
    }

    /** Its address for JDBC. */
    public String url() {
        return url;
    }

    /** The password of {@link #NAME}. */
    public String password() {
        return password;
    }

    /** Whether {@code mariadbd} is installed. */
    public static boolean hasMariaDb() {
        return mariaDb() != null;
    }

    /** Whether PostgreSQL's server is installed. */
    public static boolean hasPostgreSql() {
        return postgreSql() != null;
    }

    private static Path mariaDb() {
        return find("mariadbd", List.of());
    }

    private static Path postgreSql() {
        // Debian keeps them out of the path, one folder a version.
        try (Stream<Path> versions = Files.list(Path.of("/usr/lib/postgresql"))) {
            Path newest = find("initdb", versions.sorted((a, b) -> Integer.compare(number(b), number(a)))
                .map(v -> v.resolve("bin")).toList());
            return newest;
        } catch (IOException e) {
            return find("initdb", List.of());
        }
    }

    private static int number(Path version) {
        String name = version.getFileName().toString();
        return name.matches("\\d{1,4}") ? Integer.parseInt(name) : 0;
    }

    private static Path find(String program, List<Path> first) {
        var places = Stream.concat(first.stream(),
            Stream.concat(Stream.of(System.getenv().getOrDefault("PATH", "").split(":")),
                Stream.of("/usr/sbin", "/usr/local/sbin", "/usr/local/bin")).map(Path::of));
        return places.map(p -> p.resolve(program)).filter(Files::isExecutable).findFirst().orElse(null);
    }

    /** Starts MariaDB for a pool of {@code connections}, in a directory below {@code work} (null: temporary). */
    public static PrivateServer mariaDb(Path work, int connections) throws IOException, InterruptedException {
        Path server = mariaDb();
        Path install = find("mariadb-install-db", List.of());
        if (server == null || install == null) {
            throw new IOException("no MariaDB server on this machine: apt-get install mariadb-server"
                + " (it need not run), or name one that runs: --jdbc jdbc:mariadb://...");
        }
        var process = new ServerProcess("mariadb", work, "mysql", "nobody");
        try {
            Path data = process.dir().resolve("data");
            String password = password(16);
            process.run(install.toString(), "--no-defaults", "--datadir=" + data, "--skip-test-db",
                "--auth-root-authentication-method=socket");
            Path init = process.write("init.sql", "CREATE DATABASE auction CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;\n"
                + "CREATE USER 'auction'@'%' IDENTIFIED BY '" + password + "';\n"
                + "GRANT ALL ON *.* TO 'auction'@'%';\n");
            int port = ServerProcess.freePort();
            process.serve("KILL", server.toString(), "--no-defaults", "--datadir=" + data,
                "--socket=" + process.dir().resolve("m.sock"), "--port=" + port, "--bind-address=127.0.0.1",
                "--init-file=" + init, "--skip-name-resolve", "--max-connections=" + (connections + SPARE_CONNECTIONS),
                "--innodb-buffer-pool-size=512M", "--innodb-log-file-size=256M", "--thread-cache-size=" + connections,
                "--performance-schema=0");
            return ready(new PrivateServer(process, "jdbc:mariadb://127.0.0.1:" + port + "/auction", password));
        } catch (IOException | InterruptedException | RuntimeException e) {
            process.close();
            throw e;
        }
    }

    /** Starts PostgreSQL for a pool of {@code connections}, in a directory below {@code work} (null: temporary). */
    public static PrivateServer postgreSql(Path work, int connections) throws IOException, InterruptedException {
        Path initdb = postgreSql();
        if (initdb == null) {
            throw new IOException("no PostgreSQL server on this machine: apt-get install postgresql"
                + " (it need not run), or name one that runs: --jdbc jdbc:postgresql://...");
        }
        var process = new ServerProcess("postgresql", work, "postgres", "nobody");
        try {
            Path data = process.dir().resolve("data");
            String password = password(16);
            Path secret = process.write("password", password + "\n");
            process.run(initdb.toString(), "-D", data.toString(), "-U", NAME, "--auth=scram-sha-256",
                "--pwfile=" + secret, "--encoding=UTF8", "--locale=C", "--no-sync");
            int port = ServerProcess.freePort();
            process.serve("QUIT", initdb.resolveSibling("postgres").toString(), "-D", data.toString(), "-p",
                Integer.toString(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
                "-c", "max_connections=" + (connections + SPARE_CONNECTIONS), "-c", "shared_buffers=512MB",
                "-c", "max_wal_size=2GB");
            return ready(new PrivateServer(process, "jdbc:postgresql://127.0.0.1:" + port + "/postgres", password));
        } catch (IOException | InterruptedException | RuntimeException e) {
            process.close();
            throw e;
        }
    }

    private static PrivateServer ready(PrivateServer server) throws IOException, InterruptedException {
        long begin = System.nanoTime();
        while (true) {
            server.process.mustBeAlive();
            try {
                DriverManager.getConnection(server.url, NAME, server.password).close();
                return server;
            } catch (SQLException e) {
                if (System.nanoTime() - begin > READY_NANOS) {
                    throw new IOException("the database server does not answer: " + e.getMessage() + "\n"
                        + server.process.tail("server"), e);
                }
                Thread.sleep(50);
            }
        }
    }

    private static String password(int bytes) {
        byte[] random = new byte[bytes];
        new SecureRandom().nextBytes(random);
        return HexFormat.of().formatHex(random);
    }

    /** Leaves the end of the server to whoever calls {@link #close}, even when the JVM ends. */
    public void closedByCaller() {
        process.closedByCaller();
    }

    /** Ends the server at once and deletes its data. */
    @Override
    public void close() throws IOException {
        process.close();
    }
}
