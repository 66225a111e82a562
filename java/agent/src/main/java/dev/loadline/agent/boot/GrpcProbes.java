package dev.loadline.agent.boot;

/** Called from gRPC's server. A call is a request, and a connection of its own; its code is told as the status of HTTP that stands for it. */
public final class GrpcProbes {
    /** By code, from OK to UNAUTHENTICATED: as google/rpc/code.proto maps them. */
    private static final int[] STATUS = {
        200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
    };

    private GrpcProbes() {}

    /** @param method {@code package.Service/Method} */
    public static void arrived(Object call, String method) {
        if (Emit.server() != null) {
            ServerProbes.connectionOpen(call, null, 0);
            long visit = ServerProbes.visitBegin(call);
            ServerProbes.request("POST", "/" + method);
            ServerProbes.visitEnd(visit);
        }
    }

    /** The server has answered a call with this code; it may be in the midst of a visit to it. */
    public static void answered(Object call, int code) {
        ServerProbes.answersInPart(call, code >= 0 && code < STATUS.length ? STATUS[code] : 500, true);
    }
}
