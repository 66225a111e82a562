package dev.loadline.agent.probes;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.util.List;
import java.util.function.Consumer;

/** Redefines loaded classes, through the transformers that there are. */
public final class Retransformation {
    private Retransformation() {}

    /** All at once; where that fails one by one, so that {@code warn} is told which cannot be. */
    public static void of(Instrumentation instrumentation, List<Class<?>> classes, Consumer<String> warn) {
        if (classes.isEmpty()) {
            return;
        }
        try {
            instrumentation.retransformClasses(classes.toArray(Class<?>[]::new));
        } catch (UnmodifiableClassException | LinkageError | InternalError together) {
            for (Class<?> one : classes) {
                try {
                    instrumentation.retransformClasses(one);
                } catch (UnmodifiableClassException | LinkageError | InternalError alone) {
                    warn.accept(one.getName() + " cannot be probed: " + alone);
                }
            }
        }
    }
}
