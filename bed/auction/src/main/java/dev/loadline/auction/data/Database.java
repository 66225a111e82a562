package dev.loadline.auction.data;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.loadline.auction.data.server.PrivateServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import javax.sql.DataSource;

/** The database of one site behind a pool of connections: in this process, a private server, or one that somebody runs. */
public final class Database implements AutoCloseable {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final long LONGEST_WAIT_MS = 5_000;
    private static final List<String> TABLES =
        List.of("comments", "buy_now", "bids", "items", "old_items", "users", "regions", "categories");

    private final Dialect dialect;
    private final PrivateServer server;
    private final String url;
    private final Properties login = new Properties();
    private final HikariDataSource pool;

    private Database(Dialect dialect, PrivateServer server, String url, int connections) {
        this.dialect = dialect;
        this.server = server;
        this.url = url;
        if (server != null) {
            login.setProperty("user", PrivateServer.NAME);
            login.setProperty("password", server.password());
        }
        var config = new HikariConfig();
        config.setPoolName("auction");
        config.setJdbcUrl(url);
        config.setDataSourceProperties(login);
        config.setMaximumPoolSize(connections);
        // Fixed size: the pool neither grows under load nor shrinks between two measurements.
        config.setMinimumIdle(connections);
        config.setConnectionTimeout(LONGEST_WAIT_MS);
        config.setAutoCommit(true);
        // The same on all, though MariaDB's default is another.
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        pool = new HikariDataSource(config);
    }

    /** Gives the address under which a database is reached instead of its own. */
    public interface Reach {
        /** Never null. */
        String through(String url) throws IOException;
    }

    /** An empty database of this run alone, reached at its own address. */
    public static Database open(Dialect dialect, int connections, Path work) throws IOException, InterruptedException {
        return open(dialect, connections, work, url -> url);
    }

    /** An empty database of this run alone; MariaDB and PostgreSQL keep their files below {@code work} (null: temporary). */
    public static Database open(Dialect dialect, int connections, Path work, Reach reach) throws IOException, InterruptedException {
        PrivateServer server = switch (dialect) {
            case H2 -> null;
            case MARIADB -> PrivateServer.mariaDb(work, connections);
            case POSTGRESQL -> PrivateServer.postgreSql(work, connections);
        };
        // H2: a name of its own, so that two sites in one JVM (tests) do not share tables.
        String url = switch (dialect) {
            case H2 -> "jdbc:h2:mem:auction" + COUNT.incrementAndGet() + ";LOCK_TIMEOUT=10000";
            case MARIADB -> server.url() + "?useServerPrepStmts=true";
            case POSTGRESQL -> server.url();
        };
        try {
            return new Database(dialect, server, reach.through(url), connections);
        } catch (IOException | RuntimeException e) {
            if (server != null) {
                server.close();
            }
            throw e;
        }
    }

    /** A database that somebody runs; user and password are part of the address. */
    public static Database at(String url, int connections) throws IOException {
        try {
            return new Database(Dialect.of(url), null, url, connections);
        } catch (RuntimeException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException("--jdbc: no connection: " + cause.getMessage(), e);
        }
    }

    /** What it speaks. */
    public Dialect dialect() {
        return dialect;
    }

    /** A connection outside the pool; the caller closes it. */
    public Connection connect() throws SQLException {
        return DriverManager.getConnection(url, login);
    }

    /** Creates the tables, without indexes. */
    public void createTables() throws SQLException, IOException {
        execute("schema.sql", statement -> true);
    }

    /** Creates those indexes and references that {@code wanted} says yes to. */
    public void createIndexes(Predicate<String> wanted) throws SQLException, IOException {
        execute("indexes.sql", wanted);
        if (dialect != Dialect.H2) {
            // The planner knows nothing about rows that have just been loaded.
            try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
                statement.execute(dialect == Dialect.MARIADB ? "ANALYZE TABLE " + String.join(", ", TABLES) : "ANALYZE");
            }
        }
    }

    private void execute(String script, Predicate<String> wanted) throws SQLException, IOException {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            if (dialect == Dialect.MARIADB) {
                // Our own rows refer to what exists: checking them again would copy each table.
                statement.execute("SET SESSION foreign_key_checks = 0");
            }
            for (String sql : text(script).split(";\n")) {
                if (!sql.isBlank() && wanted.test(sql)) {
                    statement.execute(dialect.ddl(sql));
                }
            }
            if (dialect == Dialect.MARIADB) {
                statement.execute("SET SESSION foreign_key_checks = 1");
            }
        }
    }

    /** Whether the site's tables are there already. */
    public boolean hasTables() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            for (String name : List.of("items", "ITEMS")) {
                try (var found = connection.getMetaData().getTables(connection.getCatalog(), connection.getSchema(), name, null)) {
                    if (found.next()) {
                        return true;
                    }
                }
            }
            return false;
        }
    }

    /** Drops the site's tables, and nothing else. */
    public void dropTables() throws SQLException {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute("DROP TABLE IF EXISTS " + table);
            }
        }
    }

    private static String text(String script) throws IOException {
        try (InputStream in = Database.class.getResourceAsStream(script)) {
            if (in == null) {
                throw new IOException(script + " is missing from the jar: rebuild it with mvn package");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replaceAll("(?m)^--.*\n", "");
        }
    }

    /** Where connections come from. */
    public DataSource dataSource() {
        return pool;
    }

    /** Leaves the end of the private server, if there is one, to {@link #close}, even when the JVM ends. */
    public void closedByCaller() {
        if (server != null) {
            server.closedByCaller();
        }
    }

    @Override
    public void close() throws IOException {
        pool.close();
        if (server != null) {
            server.close();
        }
    }
}
