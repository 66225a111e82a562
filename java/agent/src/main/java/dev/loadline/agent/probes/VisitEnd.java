package dev.loadline.agent.probes;

import dev.loadline.agent.boot.ServerProbes;
import net.bytebuddy.asm.Advice;

/** The end of each method that is a visit, whose begin is what an advice of its server returns. */
final class VisitEnd {
    private VisitEnd() {}

    @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
    static void exit(@Advice.Enter long visit) {
        ServerProbes.visitEnd(visit);
    }
}
