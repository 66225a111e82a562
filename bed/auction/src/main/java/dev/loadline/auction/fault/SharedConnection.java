package dev.loadline.auction.fault;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/**
 * Servlets that keep their connection and their statements in fields (Guitart 2005, 3.4.2.2): every
 * thread works on the same ones. Parameters of one request reach another's statement, a result is
 * closed under whoever reads it, one commits what another has half done.
 */
final class SharedConnection extends Fault {
    SharedConnection(String name) {
        super(name);
    }

    @Override
    public DataSource source(DataSource sound, Connect connect, int poolSize) {
        return new Source(sound);
    }

    private static final class Source extends PlainSource {
        private final DataSource sound;
        private final Map<String, PreparedStatement> statements = new ConcurrentHashMap<>();
        private Connection connection;
        private Connection handedOut;

        Source(DataSource sound) {
            this.sound = sound;
        }

        /** Even taking it from the pool is done once. */
        @Override
        public synchronized Connection getConnection() throws SQLException {
            if (connection == null || connection.isClosed()) {
                statements.clear();
                connection = sound.getConnection();
                Connection shared = connection;
                handedOut = wrap(Connection.class, (proxy, method, arguments) -> switch (method.getName()) {
                    case "close" -> null;
                    case "prepareStatement" -> {
                        String key = Arrays.deepToString(arguments);
                        PreparedStatement statement = statements.get(key);
                        if (statement == null || statement.isClosed()) {
                            statement = keptOpen((PreparedStatement) call(shared, method, arguments));
                            statements.put(key, statement);
                        }
                        yield statement;
                    }
                    default -> call(shared, method, arguments);
                });
            }
            return handedOut;
        }

        private static PreparedStatement keptOpen(PreparedStatement statement) {
            return wrap(PreparedStatement.class,
                (proxy, method, arguments) -> method.getName().equals("close") ? null : call(statement, method, arguments));
        }
    }
}
