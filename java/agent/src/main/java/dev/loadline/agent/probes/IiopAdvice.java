package dev.loadline.agent.probes;

import dev.loadline.agent.boot.IiopProbes;
import net.bytebuddy.asm.Advice;

/** In stubs' common superclass, and in every skeleton: CORBA's portable stubs and skeletons, which RMI over IIOP has too. */
final class IiopAdvice {
    private IiopAdvice() {}

    /** {@code ObjectImpl._request(operation, responseExpected)}. */
    static final class Asked {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) String operation) {
            IiopProbes.asked(operation);
        }
    }

    /** {@code ObjectImpl._invoke(output)}: sends, and waits for the reply. */
    static final class Call {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter() {
            return IiopProbes.callBegin();
        }
    }

    /** {@code InvokeHandler._invoke(operation, input, handler)}: unmarshals, runs the servant, marshals the reply. */
    static final class Serve {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.Argument(0) String operation) {
            return IiopProbes.serveBegin(operation);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter long span) {
            if (span != 0) {
                IiopProbes.serveEnd(span);
            }
        }
    }
}
