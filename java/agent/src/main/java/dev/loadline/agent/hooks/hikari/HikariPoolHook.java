package dev.loadline.agent.hooks.hikari;

import com.zaxxer.hikari.pool.HikariPool;
import com.zaxxer.hikari.util.SuspendResumeLock;
import dev.loadline.agent.boot.JdbcProbes;
import dev.loadline.agent.hooks.Fields;
import dev.loadline.agent.hooks.Hook;
import dev.loadline.agent.hooks.Hooks;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;

/**
 * Hooks in one pool: the lock by which a pool can be suspended, which every request for a connection
 * passes first, and the pool's own tracker of metrics, which is told who got one and gave it back.
 */
public final class HikariPoolHook implements Hook {
    private static final String LOCK = "suspendResumeLock";
    private static final String TRACKER = "metricsTracker";

    private final HikariPool pool;
    private final Object config;
    private final String name;
    private final SuspendResumeLock lock;
    private final SuspendResumeLock recordedLock;
    private final Object tracker;
    private final Object recordedTracker;

    private HikariPoolHook(HikariPool pool) throws ReflectiveOperationException {
        this.pool = pool;
        config = Fields.get(pool, "config");
        name = (String) Fields.get(pool, "poolName");
        Field trackerField = Fields.of(HikariPool.class, TRACKER);
        lock = (SuspendResumeLock) Fields.get(pool, LOCK);
        recordedLock = new RecordedLock(lock, name);
        tracker = trackerField.get(pool);
        Class<?> type = trackerField.getType();
        recordedTracker = Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, new RecordedTracker(tracker, type));
    }

    /** Puts the hooks into a pool: called by name. */
    public static Hook into(Object pool, Hooks.Access access) throws ReflectiveOperationException {
        access.open(HikariPool.class);
        HikariPoolHook hook = new HikariPoolHook((HikariPool) pool);
        Fields.replace(pool, TRACKER, hook.tracker, hook.recordedTracker);
        Fields.replace(pool, LOCK, hook.lock, hook.recordedLock);
        return hook;
    }

    @Override
    public void refresh() {
        JdbcProbes.pool(config, name);
    }

    @Override
    public void remove() {
        try {
            Fields.replace(pool, LOCK, recordedLock, lock);
            Fields.replace(pool, TRACKER, recordedTracker, tracker);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // they were set
        }
    }

    /** Tells that a connection is asked for. */
    private static final class RecordedLock extends SuspendResumeLock {
        private final SuspendResumeLock lock;
        private final String pool;

        RecordedLock(SuspendResumeLock lock, String pool) {
            this.lock = lock;
            this.pool = pool;
        }

        @Override
        public void acquire() throws java.sql.SQLException {
            JdbcProbes.poolAsked(pool);
            lock.acquire();
        }

        @Override
        public void release() {
            lock.release();
        }

        @Override
        public void suspend() {
            lock.suspend();
        }

        @Override
        public void resume() {
            lock.resume();
        }
    }

    /** Tells who got a connection, and who gives it back. */
    private static final class RecordedTracker implements InvocationHandler {
        private final Object tracker;
        private final Map<String, Method> methods = new HashMap<>();

        RecordedTracker(Object tracker, Class<?> type) {
            this.tracker = tracker;
            for (Method method : type.getMethods()) {
                method.setAccessible(true); // the interface is not public
                methods.put(method.getName(), method);
            }
        }

        @Override
        public Object invoke(Object proxy, Method called, Object[] arguments) throws Throwable {
            String name = called.getName();
            switch (name) {
                case "recordBorrowStats":
                    JdbcProbes.poolGave(arguments[0]);
                    break;
                case "recordBorrowTimeoutStats":
                    JdbcProbes.poolGave(null);
                    break;
                case "recordConnectionUsage":
                    JdbcProbes.release(arguments[0]);
                    break;
                case "equals":
                    return proxy == arguments[0];
                default:
                    break;
            }
            Method method = methods.getOrDefault(name, called);
            try {
                return method.invoke(tracker, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }
}
