package dev.loadline.agent.boot;

/** Called from implementations of JDBC's interfaces, which the boot loader cannot see: hence Objects. */
public final class JdbcProbes {
    private JdbcProbes() {}

    public static int poolWaitBegin(Object dataSource) {
        Session s = Emit.server();
        return s == null ? 0 : Emit.begin(s, Type.POOL_WAIT_BEGIN, poolName(s, dataSource), 0, 0);
    }

    public static void poolWaitEnd(int epoch, Object connection) {
        Emit.end(epoch, Type.POOL_WAIT_END, connection == null ? 0 : System.identityHashCode(connection), 0);
    }

    /** A pool with this name is asked for a connection; {@link #poolGave} follows. */
    public static void poolAsked(String pool) {
        Session s = Emit.server();
        if (s != null) {
            Emit.write(s, Type.POOL_WAIT_BEGIN, s.strings.id(pool), 0, 0);
        }
    }

    /** The pool gave a connection, or, with null, none. */
    public static void poolGave(Object connection) {
        Session s = Emit.server();
        if (s != null) {
            Emit.write(s, Type.POOL_WAIT_END, 0, connection == null ? 0 : System.identityHashCode(connection), 0);
        }
    }

    public static void release(Object connection) {
        Session s = Emit.server();
        if (s != null) {
            Emit.write(s, Type.POOL_RELEASE, 0, System.identityHashCode(connection), 0);
        }
    }

    public static void prepared(Object statement, String sql) {
        Session s = Emit.server();
        if (s != null && statement != null) {
            int id = s.sql.id(sql, s.strings);
            if (id != 0) {
                s.identities.put(statement, id);
            }
        }
    }

    /** A statement runs the SQL that it was given, or, with null, the one that it was prepared with. */
    public static int sqlBegin(Object statement, String sql) {
        Session s = Emit.server();
        if (s == null) {
            return 0;
        }
        int id = sql == null ? s.identities.get(statement) : s.sql.id(sql, s.strings);
        return Emit.begin(s, Type.SQL_BEGIN, id, 0, 0);
    }

    public static void sqlEnd(int epoch) {
        Emit.end(epoch, Type.SQL_END, 0, 0);
    }

    private static int poolName(Session s, Object dataSource) {
        int known = s.identities.get(dataSource);
        if (known != 0) {
            return known;
        }
        String name = dataSource.getClass().getSimpleName();
        try {
            String own = (String) dataSource.getClass().getMethod("getPoolName").invoke(dataSource);
            if (own == null) {
                return s.strings.id(name); // HikariCP names it with the first connection: ask again
            }
            name = own;
        } catch (ReflectiveOperationException | ClassCastException unnamed) {
            // Only some pools have a name.
        }
        int id = s.strings.id(name);
        if (id != 0) {
            s.identities.put(dataSource, id);
        }
        return id;
    }
}
