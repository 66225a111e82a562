package dev.loadline.agent.probes;

import dev.loadline.agent.boot.ServletProbes;
import net.bytebuddy.asm.Advice;

/** In filters and servlets of any container, of {@code javax} and {@code jakarta}: what is told of servers that have no probes of their own. */
final class ServletAdvice {
    private ServletAdvice() {}

    /** {@code Filter.doFilter(request, response, chain)}. */
    static final class Filter {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.Argument(0) Object request) {
            return ServletProbes.begin(request);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.Enter long visit,
                @Advice.Argument(0) Object request,
                @Advice.Argument(1) Object response,
                @Advice.Thrown Throwable thrown) {
            ServletProbes.end(visit, request, response, thrown);
        }
    }

    /** {@code HttpServlet.service(request, response)}, the public one. */
    static final class Service {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(
                @Advice.This Object servlet, @Advice.Argument(0) Object request, @Advice.Local("service") int service) {
            long visit = ServletProbes.begin(request);
            service = ServletProbes.serviceBegin(servlet, request);
            return visit;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.Enter long visit,
                @Advice.Local("service") int service,
                @Advice.Argument(0) Object request,
                @Advice.Argument(1) Object response,
                @Advice.Thrown Throwable thrown) {
            ServletProbes.serviceEnd(service);
            ServletProbes.end(visit, request, response, thrown);
        }
    }
}
