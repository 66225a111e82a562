package dev.loadline.agent.probes;

import dev.loadline.agent.boot.JdbcProbes;
import net.bytebuddy.asm.Advice;

/**
 * In every implementation of JDBC's interfaces: pools, their proxies, drivers. Of calls that nest on
 * one thread the outermost counts.
 */
final class JdbcAdvice {
    private JdbcAdvice() {}

    /** {@code DataSource.getConnection}. */
    static final class GetConnection {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.This Object self) {
            return self instanceof javax.sql.DataSource ? JdbcProbes.poolWaitBegin(self) : 0;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch, @Advice.Return Object connection) {
            JdbcProbes.poolWaitEnd(epoch, connection);
        }
    }

    /** {@code Connection.prepareStatement} and {@code prepareCall}. */
    static final class Prepare {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter() {
            return JdbcProbes.prepareBegin();
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch, @Advice.Argument(0) String sql, @Advice.Return Object statement) {
            JdbcProbes.prepareEnd(epoch, statement, sql);
        }
    }

    /** {@code Statement.execute*(sql, …)}. */
    static final class ExecuteText {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.This Object self, @Advice.Argument(0) String sql) {
            return self instanceof java.sql.Statement ? JdbcProbes.sqlBegin(self, sql) : 0;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch) {
            JdbcProbes.sqlEnd(epoch);
        }
    }

    /** {@code PreparedStatement.execute*()} and {@code executeBatch()}. */
    static final class ExecutePrepared {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.This Object self) {
            return self instanceof java.sql.Statement ? JdbcProbes.sqlBegin(self, null) : 0;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch) {
            JdbcProbes.sqlEnd(epoch);
        }
    }

    /** {@code Connection.close}, at its begin: after it, another thread may have the connection already. */
    static final class Close {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object self) {
            if (self instanceof java.sql.Connection) {
                JdbcProbes.release(self);
            }
        }
    }
}
