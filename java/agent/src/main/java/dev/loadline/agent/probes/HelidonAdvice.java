package dev.loadline.agent.probes;

import dev.loadline.agent.boot.HelidonProbes;
import dev.loadline.agent.boot.ServerProbes;
import net.bytebuddy.asm.Advice;

/** In Helidon's server, from 4 on. */
final class HelidonAdvice {
    private HelidonAdvice() {}

    /** {@code ConnectionHandler.run()}: all of a connection, on a thread of its own. */
    static final class Connection {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object connection, @Advice.FieldValue("socket") Object socket) {
            HelidonProbes.connectionOpen(connection, socket);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.This Object connection) {
            ServerProbes.connectionClose(connection);
        }
    }

    /** {@code HttpRoutingImpl.route(connection, request, response)}: all that is done for a request, of whichever protocol. */
    static final class Route {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.Argument(0) Object connection, @Advice.Argument(1) Object request) {
            return HelidonProbes.begin(connection, request);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.Enter long visit,
                @Advice.Argument(1) Object request,
                @Advice.Argument(2) Object response,
                @Advice.Thrown Throwable thrown) {
            HelidonProbes.end(visit, request, response, thrown);
        }
    }
}
