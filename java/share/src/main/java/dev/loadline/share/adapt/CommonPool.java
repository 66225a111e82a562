package dev.loadline.share.adapt;

import dev.loadline.share.Assignment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;

/**
 * The parallelism of {@link ForkJoinPool#commonPool()}, that of parallel streams: JDK 19 and later. One less than the
 * CPUs, as the JDK has it, because who calls works too.
 */
public final class CommonPool implements Consumer<Assignment> {
    private final Method setParallelism;

    private CommonPool(Method setParallelism) {
        this.setParallelism = setParallelism;
    }

    /** Empty where the JDK cannot change it, or where the user said what it is to be. */
    public static Optional<CommonPool> find() {
        if (System.getProperty("java.util.concurrent.ForkJoinPool.common.parallelism") != null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new CommonPool(ForkJoinPool.class.getMethod("setParallelism", int.class)));
        } catch (NoSuchMethodException e) {
            return Optional.empty();
        }
    }

    @Override
    public void accept(Assignment now) {
        try {
            setParallelism.invoke(ForkJoinPool.commonPool(), Math.max(1, now.threads() - 1));
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("parallelism of the common pool", e);
        }
    }
}
