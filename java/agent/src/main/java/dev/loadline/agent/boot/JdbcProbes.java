package dev.loadline.agent.boot;

import jdk.internal.vm.annotation.DontInline;

/**
 * Called from implementations of JDBC's interfaces, which the boot loader cannot see: hence Objects.
 *
 * <p>A pool's proxy calls its superclass, that the driver, and each has probes: the outermost call
 * counts. Those within it begin with 0, which has no end; neither has what began before the recording. To tell is not for
 * the code that calls: a branch that it never took would be compiled without (see {@link Rehearsal}).
 */
public final class JdbcProbes {
    private static final ThreadLocal<Outermost> OUTERMOST = new ThreadLocal<>();

    private JdbcProbes() {}

    /** What the calling thread is in. */
    @DontInline
    private static Outermost outermost() {
        Outermost in = OUTERMOST.get();
        if (in == null) {
            in = new Outermost();
            OUTERMOST.set(in);
        }
        return in;
    }

    /** For {@link Rehearsal}: the calling thread is in no call, and never was. */
    static void forgetThread() {
        OUTERMOST.remove();
    }

    public static int poolWaitBegin(Object dataSource) {
        Session s = Emit.server();
        if (s == null) {
            return 0;
        }
        Outermost in = outermost();
        if (in.poolWait == s.epoch) {
            return 0;
        }
        Emit.write(s, Type.POOL_WAIT_BEGIN, poolName(s, dataSource), 0, 0);
        return in.poolWait = s.epoch;
    }

    public static void poolWaitEnd(int epoch, Object connection) {
        if (epoch != 0) {
            outermost().poolWait = 0;
            Emit.end(epoch, Type.POOL_WAIT_END, connection == null ? 0 : System.identityHashCode(connection), 0);
        }
    }

    /** A pool with this name is asked for a connection; {@link #poolGave} follows. */
    public static void poolAsked(String pool) {
        Session s = Emit.server();
        if (s != null) {
            Emit.write(s, Type.POOL_WAIT_BEGIN, s.strings.id(pool), 0, 0);
        }
    }

    /** There is a pool with this name, which tells its limit. */
    public static void pool(Object pool, String name) {
        Session s = Emit.server();
        if (s != null) {
            s.pools.add(pool, name);
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

    public static int prepareBegin() {
        Session s = Emit.server();
        if (s == null) {
            return 0;
        }
        Outermost in = outermost();
        return in.prepare == s.epoch ? 0 : (in.prepare = s.epoch);
    }

    /** @param statement null if there is none */
    public static void prepareEnd(int epoch, Object statement, String sql) {
        if (epoch == 0) {
            return;
        }
        outermost().prepare = 0;
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
        Outermost in = outermost();
        if (in.sql == s.epoch) {
            return 0;
        }
        int id = sql == null ? s.identities.get(statement) : s.sql.id(sql, s.strings);
        Emit.write(s, Type.SQL_BEGIN, id, 0, 0);
        return in.sql = s.epoch;
    }

    public static void sqlEnd(int epoch) {
        if (epoch != 0) {
            outermost().sql = 0;
            Emit.end(epoch, Type.SQL_END, 0, 0);
        }
    }

    private static int poolName(Session s, Object dataSource) {
        int known = s.identities.get(dataSource);
        return known != 0 ? known : askName(s, dataSource);
    }

    /** Once for each pool, so that what is rare in it is in no other's code. */
    @DontInline
    private static int askName(Session s, Object dataSource) {
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
            s.pools.add(dataSource, name);
        }
        return id;
    }

    /** The recording that a thread is within an outermost call of each kind of; 0: it is in none. */
    private static final class Outermost {
        int poolWait;
        int prepare;
        int sql;
    }
}
