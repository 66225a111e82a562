package dev.loadline.auction.data;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** The embedded database of one site, behind a pool of connections. In memory: it ends with {@link #close}. */
public final class Database implements AutoCloseable {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final HikariDataSource pool;

    /** Opens an empty database with a pool of {@code connections}. */
    public Database(int connections) {
        var config = new HikariConfig();
        config.setPoolName("auction");
        // A name of its own, so that two sites in one JVM (tests) do not share tables.
        config.setJdbcUrl("jdbc:h2:mem:auction" + COUNT.incrementAndGet());
        config.setMaximumPoolSize(connections);
        // Fixed size: the pool neither grows under load nor shrinks between two measurements.
        config.setMinimumIdle(connections);
        config.setConnectionTimeout(5_000);
        config.setAutoCommit(true);
        pool = new HikariDataSource(config);
    }

    /** Creates tables and indexes. */
    public void createTables() throws SQLException, IOException {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            for (String sql : script().split(";\n")) {
                if (!sql.isBlank()) {
                    statement.execute(sql);
                }
            }
        }
    }

    private static String script() throws IOException {
        try (InputStream in = Database.class.getResourceAsStream("schema.sql")) {
            if (in == null) {
                throw new IOException("schema.sql is missing from the jar: rebuild it with mvn package");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Where connections come from. */
    public DataSource dataSource() {
        return pool;
    }

    @Override
    public void close() {
        pool.close();
    }
}
