package dev.loadline.agent.boot;

/** Called from gRPC, its server and its client. A call is a request, and a connection of its own; its code is told as the status of HTTP that stands for it. */
public final class GrpcProbes {
    /** By code, from OK to UNAUTHENTICATED: as google/rpc/code.proto maps them. */
    private static final int[] STATUS = {
        200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
    };
    private static final String BY_SERVLET = "io.grpc.servlet.";

    /** Calls that are requests of their own. */
    private static final Identities TOLD = new Identities();
    /** Of the client's calls. */
    private static final Identities CLIENTS = new Identities();

    private GrpcProbes() {}

    /**
     * A call that a servlet brings, or that is made in this process in the midst of a request, is a part of that.
     *
     * @param method {@code package.Service/Method}
     */
    public static void arrived(Object call, Object stream, String method) {
        if (Emit.server() == null) {
            return;
        }
        Visit around = Visit.current();
        if (around != null && !around.leaves || stream.getClass().getName().startsWith(BY_SERVLET)) {
            return;
        }
        TOLD.put(call, 1);
        ServerProbes.streamOpen(call, null, 0);
        long visit = ServerProbes.visitBegin(call);
        ServerProbes.request("POST", "/" + method);
        ServerProbes.visitEnd(visit);
    }

    private static boolean isTold(Object call) {
        return Emit.server() != null && TOLD.get(call) != 0;
    }

    /** The application's code is called for it. */
    public static long visitBegin(Object call) {
        return isTold(call) ? ServerProbes.visitBegin(call) : 0;
    }

    /** The server has answered a call with this code; it may be in the midst of a visit to it. */
    public static void answered(Object call, int code) {
        if (isTold(call)) {
            ServerProbes.answersInPart(call, status(code), true);
        }
    }

    /** The status of HTTP that stands for a code. */
    static int status(int code) {
        return code >= 0 && code < STATUS.length ? STATUS[code] : 500;
    }

    /** The transport is done with it, however it ended. */
    public static void closed(Object call) {
        if (isTold(call)) {
            ServerProbes.connectionClose(call);
        }
    }

    /** A client has a call to make. @param authority whom it will ask */
    public static void made(Object call, String authority) {
        if (Emit.server() != null) {
            CLIENTS.put(call, new Client(call, authority));
        }
    }

    /** It asks; none whose thread waits for the answer, which is told as that. */
    public static void asks(Object call) {
        Client client = client(call);
        if (client != null) {
            client.asked = AskProbes.askNamed("grpc://" + client.authority);
        }
    }

    /** It has its answer, or never will. */
    public static void hasAnswer(Object call) {
        Client client = client(call);
        if (client != null && client.asked != null) {
            client.asked.run();
        }
    }

    private static Client client(Object call) {
        return Emit.server() == null ? null : (Client) CLIENTS.entry(call);
    }

    private static final class Client extends Identities.Entry {
        final String authority;
        AskProbes.Asked asked;

        Client(Object call, String authority) {
            super(call, 1);
            this.authority = authority;
        }
    }
}
