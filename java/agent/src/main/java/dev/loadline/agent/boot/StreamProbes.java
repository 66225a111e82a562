package dev.loadline.agent.boot;

/**
 * Called where HTTP/2's streams are numbers, and what they belong to an object. A stream is told of as a connection of its own, from
 * the headers of its request until it is closed.
 */
public final class StreamProbes {
    private static final int SPREAD = 0x9E3779B9;
    /** Connections of which requests were told: those of clients, and gRPC's, have streams as well. */
    private static final Identities TOLD = new Identities();

    private StreamProbes() {}

    /** Whether what goes through a handler is told of here: {@link GrpcProbes} tells of what goes through gRPC's. */
    public static boolean areHeardHere(Object handler) {
        return areHeardIn(handler.getClass().getName());
    }

    static boolean areHeardIn(String className) {
        return !className.startsWith("io.grpc.");
    }

    /**
     * Headers of a stream were read, and are about to be handled.
     *
     * @param peer its address
     * @param method null of those behind a body
     * @return for the visit's end
     */
    public static long headersRead(Object connection, int stream, Object peer, CharSequence method, CharSequence path) {
        long key = key(connection, stream);
        if (method == null) {
            return ServerProbes.loopVisitBegin(key);
        }
        if (Emit.server() != null && TOLD.get(connection) == 0) {
            TOLD.put(connection, 1);
        }
        ServerProbes.streamOpen(key, peer);
        long visit = ServerProbes.loopVisitBegin(key);
        ServerProbes.request(method.toString(), path == null ? null : path.toString());
        return visit;
    }

    /** What was read of a stream is about to be handled. @return for the visit's end; 0 of one that was asked before the recording */
    public static long visitBegin(Object connection, int stream) {
        return isTold(connection) ? ServerProbes.loopVisitBegin(key(connection, stream)) : 0;
    }

    /**
     * Headers of a response are on their way.
     *
     * @param status null of those behind a body
     * @param grpcCode how the call ended, if it was one of gRPC's; else null
     * @param ends nothing comes behind them
     */
    public static void headersWritten(Object connection, int stream, CharSequence status, CharSequence grpcCode, boolean ends) {
        if (isTold(connection)) {
            ServerProbes.answersInPart(key(connection, stream), status(status, grpcCode), ends);
        }
    }

    /** 0 if headers, of which these are two, say nothing of it. */
    public static int status(CharSequence status, CharSequence grpcCode) {
        return grpcCode == null ? number(status, 0) : GrpcProbes.status(number(grpcCode, -1));
    }

    /** All of a response is on its way. */
    public static void answered(Object connection, int stream) {
        if (isTold(connection)) {
            ServerProbes.answersInPart(key(connection, stream), 0, true);
        }
    }

    /** A stream is over, however it ended. */
    public static void closed(Object connection, int stream) {
        if (isTold(connection)) {
            ServerProbes.connectionClose(key(connection, stream));
        }
    }

    private static boolean isTold(Object connection) {
        return Emit.server() != null && TOLD.get(connection) != 0;
    }

    /** As likely to be another's as identity hashes are. */
    private static long key(Object connection, int stream) {
        return (ServerProbes.key(connection) ^ stream * SPREAD) & Visit.KEY;
    }

    private static int number(CharSequence text, int otherwise) {
        if (text == null || text.length() == 0) {
            return otherwise;
        }
        int number = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9 || i == 3) {
                return otherwise;
            }
            number = number * 10 + digit;
        }
        return number;
    }
}
