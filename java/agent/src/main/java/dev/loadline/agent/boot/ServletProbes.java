package dev.loadline.agent.boot;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;

/**
 * Requests of a servlet container that has no probes of its own: from its first filter, or its servlet, to their end, or to that
 * of what is asynchronous. Of what lies before and behind, connections, handshakes, queues, the servlet's specification says
 * nothing: each request is a connection of its own. Where a server tells its requests itself, this tells none.
 *
 * <p>What probes call asks only whether anybody listens; the rest is apart, so that code that was compiled while nobody did
 * stays (see {@link Rehearsal}).
 */
public final class ServletProbes {
    /** Under which a request that became asynchronous has its {@link Completion}. */
    private static final String ASYNCHRONOUS = "dev.loadline.request";

    private static final Apis APIS = new Apis();
    private static volatile boolean toldByServer;
    private static volatile String container;

    private ServletProbes() {}

    /** There is a server that tells its requests itself. */
    public static void serverTells() {
        serverTells(true);
    }

    /** For {@link Rehearsal}, which comes before any server. */
    static void serverTells(boolean tells) {
        toldByServer = tells;
    }

    /** Name and version of the container that told of a request here; null if none did. */
    public static String container() {
        return container;
    }

    /** A filter or a servlet is given a request; what it returns is for {@link #end}. Within another it is a part of that. */
    public static long begin(Object request) {
        return Emit.server() == null ? 0 : visit(request);
    }

    private static long visit(Object request) {
        if (toldByServer || ServerProbes.isVisiting()) {
            return 0;
        }
        ServletApi api = APIS.get(request.getClass());
        if (api == null) {
            return 0;
        }
        try {
            switch (api.dispatcher(request)) {
                case "REQUEST":
                    return arrives(api, request);
                case "ASYNC":
                    Completion goesOn = (Completion) api.attribute(request, ASYNCHRONOUS);
                    return goesOn == null ? 0 : ServerProbes.visitBegin(goesOn.request);
                default:
                    return 0; // the page for one that failed, or a part of one that came before the recording
            }
        } catch (Throwable e) {
            Faults.caught(e);
            return 0;
        }
    }

    private static long arrives(ServletApi api, Object request) throws Throwable {
        if (container == null) {
            container = api.container(request);
        }
        ServerProbes.streamOpen(request, api.address(request), api.port(request));
        long visit = ServerProbes.visitBegin(request);
        ServerProbes.request(api.method(request), api.uri(request));
        return visit;
    }

    /** It is done with the request, which may go on all the same. */
    public static void end(long visit, Object request, Object response, Throwable thrown) {
        if (visit != 0) {
            leave(visit, request, response, thrown);
        }
    }

    private static void leave(long visit, Object request, Object response, Throwable thrown) {
        boolean over = true;
        try {
            ServletApi api = APIS.get(request.getClass());
            if (api != null) { // else it was rehearsed
                ServerProbes.status(thrown == null ? api.status(response) : 500);
                over = !goesOn(api, request, response);
            }
        } catch (Throwable e) {
            Faults.caught(e);
        }
        if (over) {
            ServerProbes.requestEnd();
        }
        ServerProbes.visitEnd(visit);
        if (over) {
            ServerProbes.connectionClose(request);
        }
    }

    /** Whether a request that was asynchronous, or has become so, ends with its {@link Completion}. */
    private static boolean goesOn(ServletApi api, Object request, Object response) throws Throwable {
        Completion completion = (Completion) api.attribute(request, ASYNCHRONOUS);
        if (api.isAsynchronous(request)) {
            if (completion == null) {
                completion = new Completion(api, request, response);
                api.attribute(request, ASYNCHRONOUS, completion);
            }
            api.listen(request, completion);
        }
        return completion != null;
    }

    /** The servlet itself is given a request; one within it is a part of that. */
    public static int serviceBegin(Object servlet, Object request) {
        return Emit.server() == null ? 0 : service(servlet, request);
    }

    private static int service(Object servlet, Object request) {
        ServletApi api = toldByServer || !ServerProbes.isVisiting() ? null : APIS.get(request.getClass());
        try {
            return api == null ? 0 : ServerProbes.outermostServiceBegin(api.servletName(servlet));
        } catch (Throwable e) {
            Faults.caught(e);
            return 0;
        }
    }

    public static void serviceEnd(int epoch) {
        ServerProbes.outermostServiceEnd(epoch);
    }

    /** Listens to what becomes of an asynchronous request, as an {@code AsyncListener}. */
    private static final class Completion implements InvocationHandler {
        private final ServletApi api;
        /** As it came first: dispatched again, it may be wrapped. */
        private final Object request;

        private final Object response;

        Completion(ServletApi api, Object request, Object response) {
            this.api = api;
            this.request = request;
            this.response = response;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) {
            switch (method.getName()) {
                case "onComplete":
                    complete();
                    return null;
                case "equals":
                    return proxy == arguments[0];
                case "hashCode":
                    return System.identityHashCode(proxy);
                case "toString":
                    return "Loadline's listener";
                default:
                    return null; // whatever it is, it goes on until it is complete
            }
        }

        private void complete() {
            try {
                api.attribute(request, ASYNCHRONOUS, null);
                ServerProbes.visitEnd(ServerProbes.responded(request, api.status(response)));
            } catch (Throwable e) {
                Faults.caught(e);
            }
            ServerProbes.connectionClose(request);
        }
    }

    /** By class of requests. */
    private static final class Apis extends ClassValue<ServletApi> {
        @Override
        protected ServletApi computeValue(Class<?> type) {
            return ServletApi.of(type);
        }
    }
}
