package dev.loadline.auction.data;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** Running statements: values in, rows out. */
final class Sql {
    /** How often a transaction is tried that the database gave up to let another one pass. */
    private static final int ATTEMPTS = 5;

    private Sql() {
    }

    interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    interface Work<T> {
        T in(Connection c) throws SQLException, Declined;
    }

    static <T> List<T> many(Connection c, String sql, Row<T> row, Object... values) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            set(statement, values);
            var rows = new ArrayList<T>();
            try (ResultSet result = statement.executeQuery()) {
                while (result.next()) {
                    rows.add(row.read(result));
                }
            }
            return rows;
        }
    }

    static <T> Optional<T> one(Connection c, String sql, Row<T> row, Object... values) throws SQLException {
        List<T> rows = many(c, sql, row, values);
        return rows.isEmpty() ? Optional.empty() : Optional.of(rows.get(0));
    }

    /** How many rows it changed. */
    static int update(Connection c, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            set(statement, values);
            return statement.executeUpdate();
        }
    }

    /** The id of the new row. */
    static int insert(Connection c, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql, new String[] {"id"})) {
            set(statement, values);
            statement.executeUpdate();
            try (ResultSet keys = statement.getGeneratedKeys()) {
                if (!keys.next()) {
                    throw new SQLException("the database named no id for a new row");
                }
                return keys.getInt(1);
            }
        }
    }

    private static void set(PreparedStatement statement, Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
    }

    static LocalDateTime time(ResultSet row, int column) throws SQLException {
        return row.getObject(column, LocalDateTime.class);
    }

    static boolean isDuplicate(SQLException e) {
        return e.getSQLState() != null && e.getSQLState().startsWith("23");
    }

    /** Commits what {@code work} did, or none of it. */
    static <T> T transaction(DataSource source, Work<T> work) throws SQLException, Declined {
        for (int attempt = 1; ; attempt++) {
            try (Connection c = source.getConnection()) {
                c.setAutoCommit(false);
                boolean done = false;
                try {
                    T result = work.in(c);
                    c.commit();
                    done = true;
                    return result;
                } finally {
                    if (!done) {
                        c.rollback();
                    }
                    c.setAutoCommit(true);
                }
            } catch (SQLException e) {
                // Class 40: rolled back by the database (deadlock, serialization), and worth another try.
                if (attempt == ATTEMPTS || e.getSQLState() == null || !e.getSQLState().startsWith("40")) {
                    throw e;
                }
            }
        }
    }
}
