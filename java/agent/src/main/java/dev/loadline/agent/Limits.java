package dev.loadline.agent;

import dev.loadline.agent.boot.Emit;
import dev.loadline.agent.boot.PoolsSeen;
import dev.loadline.agent.boot.Type;
import dev.loadline.agent.hooks.Fields;
import dev.loadline.agent.hooks.Threads;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * Tells how many connections the pools may have that are asked for some, and how many threads the executors whose threads live.
 * That is configured, and may be changed while the program runs: so it is told again now and then, which also keeps it in a
 * recording that forgets. What does not say its limit has none here.
 */
final class Limits {
    /** Ticks from one telling to the next: ten seconds. */
    private static final int TICKS = 20;
    /** Above this a limit is none. */
    private static final int UNLIMITED = 1_000_000;
    /** Threads of one name to look at: some may just have ended, or do something else at the time. */
    private static final int ENOUGH = 4;
    /** Objects to look into for an executor's worker, which is wrapped once by Tomcat's threads, twice by Netty's and XNIO's. */
    private static final int MOST_LOOKS = 8;

    /** How pools say it: HikariCP; DBCP 2; Tomcat's and Druid's; c3p0; H2's; Agroal. */
    private static final String[] CONNECTIONS = {
        "getMaximumPoolSize", "getMaxTotal", "getMaxActive", "getMaxPoolSize", "getMaxConnections",
        "getConfiguration.connectionPoolConfiguration.maxSize",
    };

    /** How executors do: the JDK's, Tomcat's and JBoss's (Undertow); Jetty's; one of Netty's event loops. */
    private static final String[] THREADS = {"getMaximumPoolSize", "getMaxThreads", "parent.executorCount"};

    private final Instrumentation instrumentation;
    private final PoolsSeen pools;
    private int ticks;

    Limits(Instrumentation instrumentation, PoolsSeen pools) {
        this.instrumentation = instrumentation;
        this.pools = pools;
        Modules.open(instrumentation, ThreadPoolExecutor.class, Fields.class.getModule());
    }

    /** Half a second has passed. */
    void tick() {
        if (ticks++ % TICKS == 0) {
            tell();
        }
    }

    void tell() {
        for (PoolsSeen.Pool pool : pools.all()) {
            tell(Type.POOL_LIMIT, pool.name, most(pool.get(), CONNECTIONS));
        }
        Map<String, Integer> looks = new HashMap<>();
        for (Thread thread : Threads.all()) {
            String name = withoutNumber(thread.getName());
            if (looks.merge(name, 1, Integer::sum) <= ENOUGH) {
                int most = ofExecutor(thread);
                tell(Type.THREADS_LIMIT, name, most);
                if (most > 0) {
                    looks.put(name, ENOUGH);
                }
            }
        }
    }

    private static void tell(int type, String name, int most) {
        if (most > 0 && most < UNLIMITED) {
            Emit.limit(type, name, most);
        }
    }

    /** {@code http-nio-8080-exec-} of {@code http-nio-8080-exec-7}. */
    static String withoutNumber(String name) {
        int end = name.length();
        while (end > 0 && Character.isDigit(name.charAt(end - 1))) {
            end--;
        }
        return name.substring(0, end);
    }

    /** The most threads of the executor that a thread works for; 0 if it works for none that says so. */
    private int ofExecutor(Thread thread) {
        try {
            Deque<Object> wrapped = new ArrayDeque<>();
            Object at = Threads.task(thread);
            for (int looks = 0; at != null && looks < MOST_LOOKS; looks++) {
                for (Field field : at.getClass().getDeclaredFields()) {
                    boolean outer = field.getName().startsWith("this$");
                    if (!outer && !Runnable.class.isAssignableFrom(field.getType())) {
                        continue;
                    }
                    Modules.open(instrumentation, at.getClass(), Fields.class.getModule());
                    field.setAccessible(true);
                    Object value = field.get(at);
                    int most = outer && value instanceof Executor ? most(value, THREADS) : 0;
                    if (most > 0) {
                        return most;
                    }
                    if (value != null && value != at && value != thread) {
                        wrapped.add(value);
                    }
                }
                at = wrapped.poll();
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError unseen) {
            return 0; // a thread that is none of an executor's that we know
        }
        return 0;
    }

    /** What the first of these getters says that it has. */
    private int most(Object of, String[] getters) {
        if (of instanceof ThreadPoolExecutor executor && neverFull(executor)) {
            return executor.getCorePoolSize(); // it has more only once its queue is full
        }
        for (String path : getters) {
            Object at = of;
            for (String getter : path.split("\\.")) {
                at = at == null ? null : call(at, getter);
            }
            if (at instanceof Integer most) {
                return most;
            }
        }
        return 0;
    }

    /** Whether its queue has no bound; Tomcat's own says that it is full as long as there may be more threads. */
    private static boolean neverFull(ThreadPoolExecutor executor) {
        BlockingQueue<Runnable> queue = executor.getQueue();
        return queue.getClass().getName().startsWith("java.util.concurrent.") && queue.remainingCapacity() > UNLIMITED;
    }

    /** Null if it has no such method, or that throws. */
    private Object call(Object of, String getter) {
        try {
            Method method = of.getClass().getMethod(getter);
            if (!method.canAccess(of)) {
                Modules.open(instrumentation, method.getDeclaringClass(), Limits.class.getModule());
                method.setAccessible(true);
            }
            return method.invoke(of);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError none) {
            return null;
        }
    }
}
