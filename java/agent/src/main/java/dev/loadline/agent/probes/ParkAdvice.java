package dev.loadline.agent.probes;

import dev.loadline.agent.boot.JvmProbes;
import net.bytebuddy.asm.Advice;

/** Around {@code LockSupport.park*}. */
final class ParkAdvice {
    private ParkAdvice() {}

    /** With a blocker, the first argument. */
    static final class OnBlocker {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(0) Object blocker) {
            return JvmProbes.park(blocker);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch) {
            JvmProbes.unparked(epoch);
        }
    }

    /** Without. */
    static final class Bare {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter() {
            return JvmProbes.park(null);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch) {
            JvmProbes.unparked(epoch);
        }
    }
}
