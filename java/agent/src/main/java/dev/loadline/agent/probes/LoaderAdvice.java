package dev.loadline.agent.probes;

import dev.loadline.agent.boot.Faults;
import net.bytebuddy.asm.Advice;

/** In class loaders that hide the boot loader's classes from their own: what probes call they find there. */
final class LoaderAdvice {
    private LoaderAdvice() {}

    /** {@code loadClass(name, resolve)} of a loader of Equinox's. */
    static final class Load {
        @Advice.OnMethodEnter(suppress = Throwable.class, skipOn = Advice.OnNonDefaultValue.class)
        static Class<?> enter(@Advice.Argument(0) String name) throws ClassNotFoundException {
            return name.startsWith("dev.loadline.agent.boot.") ? Class.forName(name, false, Faults.class.getClassLoader()) : null;
        }

        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.Enter Class<?> found, @Advice.Return(readOnly = false) Class<?> loaded) {
            if (found != null) {
                loaded = found;
            }
        }
    }
}
