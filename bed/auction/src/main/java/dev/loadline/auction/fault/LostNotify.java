package dev.loadline.auction.fault;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayDeque;
import java.util.Deque;
import javax.sql.DataSource;

/**
 * A pool that notifies a waiter only when it was empty (Guitart 2005, 3.4.2.3). Two connections that
 * come back before the first waiter has run wake one waiter: another goes on waiting beside a free
 * connection, until some later release finds the pool empty again.
 */
final class LostNotify extends Fault {
    private Pool pool;

    LostNotify(String name) {
        super(name);
    }

    /** Half the connections asked for, so that there are waiters at all. */
    @Override
    public DataSource source(DataSource sound, Connect connect, int poolSize) throws SQLException {
        pool = new Pool(connect, Math.max(1, poolSize / 2));
        return pool;
    }

    @Override
    public void close() {
        if (pool != null) {
            pool.close();
        }
    }

    static final class Pool extends PlainSource {
        private final Deque<Connection> free = new ArrayDeque<>();
        private int waiting;
        private boolean closed;

        Pool(Connect connect, int size) throws SQLException {
            for (int i = 0; i < size; i++) {
                free.push(connect.open());
            }
        }

        @Override
        public synchronized Connection getConnection() throws SQLException {
            while (free.isEmpty() && !closed) {
                waiting++;
                try {
                    wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new SQLTransientConnectionException("interrupted while waiting for a connection", e);
                } finally {
                    waiting--;
                }
            }
            if (closed) {
                throw new SQLTransientConnectionException("the pool is closed");
            }
            return handOut(free.pop());
        }

        private Connection handOut(Connection connection) {
            boolean[] released = new boolean[1];
            return wrap(Connection.class, (proxy, method, arguments) -> {
                if (!method.getName().equals("close")) {
                    return call(connection, method, arguments);
                }
                if (!released[0]) {
                    released[0] = true;
                    release(connection);
                }
                return null;
            });
        }

        synchronized void release(Connection connection) throws SQLException {
            if (closed) {
                connection.close();
                return;
            }
            boolean wasEmpty = free.isEmpty();
            free.push(connection);
            if (wasEmpty) { // The fault: whoever still waits is not told of this one.
                notify();
            }
        }

        synchronized int waiting() {
            return waiting;
        }

        /** Threads waiting, if at the same time connections are free; otherwise 0. */
        synchronized int waitingInVain() {
            return free.isEmpty() ? 0 : waiting;
        }

        synchronized void close() {
            closed = true;
            notifyAll();
            for (Connection connection : free) {
                try {
                    connection.close();
                } catch (SQLException e) {
                    System.err.println("auction: closing a connection: " + e.getMessage());
                }
            }
            free.clear();
        }
    }
}
