package dev.loadline.share.adapt;

import dev.loadline.share.Assignment;
import java.lang.management.ManagementFactory;
import java.lang.management.PlatformManagedObject;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.function.Consumer;

/** The parallelism of the scheduler of virtual threads: JDK 24 and later. */
public final class VirtualThreads implements Consumer<Assignment> {
    private static final String BEAN = "jdk.management.VirtualThreadSchedulerMXBean";

    private final Object bean;
    private final Method setParallelism;

    private VirtualThreads(Object bean, Method setParallelism) {
        this.bean = bean;
        this.setParallelism = setParallelism;
    }

    /** Empty where the JDK cannot change it. */
    public static Optional<VirtualThreads> find() {
        try {
            // By its name: this is compiled for 17.
            var type = Class.forName(BEAN).asSubclass(PlatformManagedObject.class);
            Object bean = ManagementFactory.getPlatformMXBean(type);
            return bean == null ? Optional.empty()
                    : Optional.of(new VirtualThreads(bean, type.getMethod("setParallelism", int.class)));
        } catch (ReflectiveOperationException e) {
            return Optional.empty();
        }
    }

    @Override
    public void accept(Assignment now) {
        try {
            setParallelism.invoke(bean, now.threads());
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("parallelism of virtual threads", e);
        }
    }
}
