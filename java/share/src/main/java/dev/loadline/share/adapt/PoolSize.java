package dev.loadline.share.adapt;

import dev.loadline.share.Assignment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The size of a pool: so many threads or connections per CPU. For whatever has {@code setMaximumPoolSize(int)} and
 * perhaps {@code setCorePoolSize(int)} or {@code setMinimumIdle(int)}: {@link java.util.concurrent.ThreadPoolExecutor},
 * Tomcat's executor of the same name, HikariCP's data source.
 */
public final class PoolSize implements Consumer<Assignment> {
    private final Object pool;
    private final double perCpu;
    private final int least;
    private final Method setMaximum;
    private final Method getMaximum;
    private final Method setLower;
    private final Method getLower;

    private PoolSize(Object pool, double perCpu, int least) {
        this.pool = Objects.requireNonNull(pool);
        if (!(perCpu > 0) || least < 1) {
            throw new IllegalArgumentException(perCpu + " per CPU and at least " + least + ": both must be above 0");
        }
        this.perCpu = perCpu;
        this.least = least;
        setMaximum = method("setMaximumPoolSize", int.class);
        getMaximum = method("getMaximumPoolSize");
        if (setMaximum == null || getMaximum == null) {
            throw new IllegalArgumentException(pool.getClass().getName() + " has no setMaximumPoolSize(int): its size cannot be changed");
        }
        boolean threads = method("setCorePoolSize", int.class) != null;
        setLower = threads ? method("setCorePoolSize", int.class) : method("setMinimumIdle", int.class);
        getLower = threads ? method("getCorePoolSize") : method("getMinimumIdle");
    }

    /**
     * For one pool.
     *
     * @param perCpu threads or connections for each CPU, such as 50 for requests that mostly wait
     * @param least of them whatever happens
     * @throws IllegalArgumentException if it has no size that can be set
     */
    public static PoolSize of(Object pool, double perCpu, int least) {
        return new PoolSize(pool, perCpu, least);
    }

    private Method method(String name, Class<?>... parameters) {
        try {
            return pool.getClass().getMethod(name, parameters);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    @Override
    public void accept(Assignment now) {
        int size = Math.max(least, (int) Math.round(now.cpus() * perCpu));
        try {
            // The lower bound is never above the upper one: pools refuse that.
            if (setLower != null && getLower != null && (int) getLower.invoke(pool) > size) {
                setLower.invoke(pool, size);
            }
            if ((int) getMaximum.invoke(pool) != size) {
                setMaximum.invoke(pool, size);
            }
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("size of " + pool.getClass().getName(), e);
        }
    }
}
