package dev.loadline.agent.probes;

import dev.loadline.agent.boot.ThreadProbes;
import net.bytebuddy.asm.Advice;

/** In {@code java.lang.VirtualThread}. */
final class ThreadAdvice {
    private ThreadAdvice() {}

    /** {@code unpark} and {@code unblock}: whoever calls lets a virtual thread go on. */
    static final class GoesOn {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object thread) {
            ThreadProbes.goesOn(thread);
        }
    }
}
