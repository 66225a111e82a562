package dev.loadline.auction.fault;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import javax.sql.DataSource;

/**
 * A pool that notifies a waiter only when it was empty (Guitart 2005, 3.4.2.3). Two connections that
 * come back before the first waiter has run wake one waiter: another goes on waiting beside a free
 * connection, until some later release finds the pool empty again, or it looks again by itself.
 *
 * <p>The pool tests its connections now and then: those that are free are taken, tested one by one, and given back. So
 * several come back at once at every load.
 */
final class LostNotify extends Fault {
    private static final long CHECK_EVERY_MS = 500;
    private static final long LOOK_AGAIN_MS = 1000;

    private Pool pool;
    private Thread checks;

    LostNotify(String name) {
        super(name);
    }

    /** Half the connections asked for, so that there are waiters at all. */
    @Override
    public DataSource source(DataSource sound, Connect connect, int poolSize) throws SQLException {
        pool = new Pool(connect, Math.max(1, poolSize / 2));
        checks = new Thread(this::check, "pool-checks");
        checks.setDaemon(true);
        checks.start();
        return pool;
    }

    private void check() {
        try {
            while (true) {
                Thread.sleep(CHECK_EVERY_MS);
                pool.check();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The site closes.
        } catch (SQLException e) {
            System.err.println("auction: testing the connections of the pool: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        if (pool != null) {
            checks.interrupt();
            pool.close();
        }
    }

    static final class Pool extends PlainSource {
        private static final int TEST_S = 1;
        /** What a test costs over a network; here none is between. */
        private static final long TEST_MS = 3;

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
                    wait(LOOK_AGAIN_MS);
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

        /** Tests the connections that are free; those that are in use show by themselves whether they work. */
        void check() throws SQLException, InterruptedException {
            List<Connection> tested;
            synchronized (this) {
                tested = new ArrayList<>(free);
                free.clear();
            }
            try {
                for (Connection connection : tested) {
                    if (!connection.isValid(TEST_S)) {
                        throw new SQLException("a connection is broken");
                    }
                    Thread.sleep(TEST_MS);
                }
            } finally { // The pool may be closing meanwhile: what is given back then is closed.
                for (Connection connection : tested) {
                    release(connection);
                }
            }
        }

        synchronized int waiting() {
            return waiting;
        }

        synchronized int free() {
            return free.size();
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
