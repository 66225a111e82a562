package dev.loadline.auction.data;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.Collections;
import org.postgresql.PGConnection;

/** Where generated rows go: one table, in the database's fastest way. Closing sends what is left. */
abstract class Rows implements AutoCloseable {
    abstract void row(Object... values) throws SQLException;

    @Override
    public abstract void close() throws SQLException;

    static Rows into(Connection connection, Dialect dialect, String table, int columns) throws SQLException {
        return switch (dialect) {
            case H2 -> new Batch(connection, "INSERT INTO " + table + " VALUES ("
                + String.join(", ", Collections.nCopies(columns, "?")) + ")");
            case MARIADB -> new Text(connection, in -> {
                try (var statement = connection.createStatement()) {
                    // The driver asks for a file of any name and gets this stream.
                    statement.unwrap(org.mariadb.jdbc.Statement.class).setLocalInfileInputStream(in);
                    statement.execute("LOAD DATA LOCAL INFILE 'rows' INTO TABLE " + table + " CHARACTER SET utf8mb4");
                }
            });
            case POSTGRESQL -> new Text(connection, in -> {
                try {
                    connection.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY " + table + " FROM STDIN", in);
                } catch (IOException e) {
                    throw new SQLException("copying into " + table + ": " + e.getMessage(), e);
                }
            });
        };
    }

    /** Rows sent and committed a thousand at a time: a long transaction slows H2 down. */
    private static final class Batch extends Rows {
        private static final int ROWS = 1000;
        private final Connection connection;
        private final PreparedStatement statement;
        private int pending;

        Batch(Connection connection, String sql) throws SQLException {
            this.connection = connection;
            statement = connection.prepareStatement(sql);
        }

        @Override
        void row(Object... values) throws SQLException {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            statement.addBatch();
            if (++pending == ROWS) {
                statement.executeBatch();
                connection.commit();
                pending = 0;
            }
        }

        @Override
        public void close() throws SQLException {
            if (pending > 0) {
                statement.executeBatch();
            }
            statement.close();
            connection.commit();
        }
    }

    private interface Loader {
        void load(ByteArrayInputStream rows) throws SQLException;
    }

    /**
     * Lines of tab-separated values with backslash escapes, which PostgreSQL's COPY and MariaDB's
     * LOAD DATA both read without being told the format. Sent and committed a few megabytes at a time.
     */
    private static final class Text extends Rows {
        private static final int CHUNK_CHARS = 4 << 20;
        private final Connection connection;
        private final Loader loader;
        private final StringBuilder text = new StringBuilder();

        Text(Connection connection, Loader loader) {
            this.connection = connection;
            this.loader = loader;
        }

        @Override
        void row(Object... values) throws SQLException {
            for (int i = 0; i < values.length; i++) {
                if (i > 0) {
                    text.append('\t');
                }
                if (values[i] instanceof LocalDateTime time) {
                    text.append(time.toLocalDate()).append(' ').append(time.toLocalTime());
                } else if (values[i] instanceof String string) {
                    escaped(string);
                } else {
                    text.append(values[i]);
                }
            }
            text.append('\n');
            if (text.length() >= CHUNK_CHARS) {
                send();
            }
        }

        private void escaped(String value) {
            for (int i = 0; i < value.length(); i++) {
                char c = value.charAt(i);
                switch (c) {
                    case '\\' -> text.append("\\\\");
                    case '\t' -> text.append("\\t");
                    case '\n' -> text.append("\\n");
                    case '\r' -> text.append("\\r");
                    default -> text.append(c);
                }
            }
        }

        private void send() throws SQLException {
            if (text.length() > 0) {
                byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
                text.setLength(0);
                loader.load(new ByteArrayInputStream(bytes));
                connection.commit();
            }
        }

        @Override
        public void close() throws SQLException {
            send();
        }
    }
}
