package dev.loadline.agent.boot;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.Socket;

/**
 * Called from Helidon's server, from 4 on, which has a virtual thread for each connection and, over HTTP/2, for each stream. Its classes are
 * of Java 21: what is asked of them goes by handles.
 */
public final class HelidonProbes {
    private static final Apis APIS = new Apis();

    private HelidonProbes() {}

    /** A connection begins to be handled. */
    public static void connectionOpen(Object connection, Object socket) {
        ServerProbes.connectionOpen(connection, socket instanceof Socket ? ((Socket) socket).getRemoteSocketAddress() : null);
    }

    /** A request's head was read, and whoever is to answer it does so now; what it returns is for {@link #end}. */
    public static long begin(Object connection, Object request) {
        return Emit.server() == null ? 0 : arrives(connection, request);
    }

    private static long arrives(Object connection, Object request) {
        Api api = APIS.get(request.getClass());
        if (api == null) {
            return 0;
        }
        try {
            Object head = (Object) api.head.invokeExact(request);
            String method = (String) api.method.invokeExact(head);
            String path = (String) api.path.invokeExact(head);
            boolean stream = api.isStream(head);
            if (stream) {
                ServerProbes.streamOpen(request, (Object) api.peer.invokeExact(connection));
            }
            long visit = ServerProbes.visitBegin(stream ? request : connection);
            ServerProbes.request(method, path);
            return visit;
        } catch (Throwable e) {
            Faults.caught(e);
            return 0;
        }
    }

    /** It is answered. */
    public static void end(long visit, Object request, Object response, Throwable thrown) {
        if (visit != 0) {
            leave(visit, request, response, thrown);
        }
    }

    private static void leave(long visit, Object request, Object response, Throwable thrown) {
        boolean stream = false;
        try {
            Api api = APIS.get(request.getClass());
            if (api != null) { // else it was rehearsed
                stream = api.isStream((Object) api.head.invokeExact(request));
                ServerProbes.status(thrown == null ? (int) api.status.invokeExact(response) : 500);
            }
        } catch (Throwable e) {
            Faults.caught(e);
        }
        ServerProbes.requestEnd();
        ServerProbes.visitEnd(visit);
        if (stream) {
            ServerProbes.connectionClose(request);
        }
    }

    /** What is asked of one copy of its classes. */
    private static final class Api {
        private final MethodHandle head;
        private final MethodHandle version;
        private final MethodHandle method;
        private final MethodHandle path;
        private final MethodHandle status;
        private final MethodHandle peer;

        Api(ClassLoader loader) throws ReflectiveOperationException {
            head = chain(loader, Object.class, "io.helidon.webserver.http.HttpRequest", "prologue", "io.helidon.http.HttpPrologue");
            version = chain(loader, String.class, "io.helidon.http.HttpPrologue", "protocolVersion", "java.lang.String");
            method = chain(loader, String.class, "io.helidon.http.HttpPrologue", "method", "io.helidon.http.Method", "text", "java.lang.String");
            path = chain(loader, String.class, "io.helidon.http.HttpPrologue", "uriPath", "io.helidon.common.uri.UriPath", "rawPath", "java.lang.String");
            status = chain(loader, int.class, "io.helidon.webserver.http.ServerResponse", "status", "io.helidon.http.Status", "code", "int");
            peer = chain(loader, Object.class, "io.helidon.webserver.ConnectionContext", "remotePeer", "io.helidon.common.socket.PeerInfo",
                    "address", "java.net.SocketAddress");
        }

        /** Calls one method after another: the class of which the first is, then each one's name and what it returns. */
        private static MethodHandle chain(ClassLoader loader, Class<?> result, String of, String... calls) throws ReflectiveOperationException {
            Class<?> at = Class.forName(of, false, loader);
            MethodHandle chain = null;
            for (int i = 0; i < calls.length; i += 2) {
                Class<?> returns = calls[i + 1].equals("int") ? int.class : Class.forName(calls[i + 1], false, loader);
                MethodHandle next = MethodHandles.publicLookup().findVirtual(at, calls[i], MethodType.methodType(returns));
                chain = chain == null ? next : MethodHandles.filterReturnValue(chain, next);
                at = returns;
            }
            return chain.asType(MethodType.methodType(result, Object.class));
        }

        /** Whether it has a thread of its own, beside others of its connection. */
        boolean isStream(Object head) throws Throwable {
            String spoken = (String) version.invokeExact(head);
            return !spoken.startsWith("1.");
        }
    }

    /** By class of requests; null for what is none, or of a release that has others. */
    private static final class Apis extends ClassValue<Api> {
        @Override
        protected Api computeValue(Class<?> type) {
            try {
                return type.getClassLoader() == null ? null : new Api(type.getClassLoader());
            } catch (ReflectiveOperationException | LinkageError other) {
                return null;
            }
        }
    }
}
