package dev.loadline.agent.boot;

/** Called where a server may shake hands before it makes its connection, as Undertow where a client chooses the protocol in its handshake. */
public final class HandshakeProbes {
    private static final int SHAKES_HANDS = 1;
    private static final int IS_CONNECTED = 2;

    /** What is told of as a connection: by its handshake alone, or as one that the server made. */
    private static final Identities TOLD = new Identities();

    private HandshakeProbes() {}

    /**
     * The server works on a handshake.
     *
     * @param socket of its connection, or what stands for it
     * @param peer its address; null if it is not known
     * @param engine what shakes hands
     * @return for the step's end
     */
    public static long stepBegin(Object socket, Object peer, Object engine) {
        if (Emit.server() == null) {
            return 0;
        }
        long visit = 0;
        if (Visit.current() == null) {
            if (TOLD.get(socket) == 0) {
                TOLD.put(socket, SHAKES_HANDS);
                ServerProbes.connectionOpen(socket, peer);
            }
            visit = ServerProbes.visitBegin(socket);
        }
        ServerProbes.engineShakesHands(engine);
        return visit;
    }

    /** It has done what it could. */
    public static void stepEnd(long visit) {
        ServerProbes.visitEnd(visit);
    }

    /** That was the handshake's last step. */
    public static void lastStepEnd(long visit, boolean succeeded) {
        ServerProbes.engineIsDone(succeeded, false);
        ServerProbes.visitEnd(visit);
    }

    /** The server has made a connection, with or without a handshake: it tells of its end. */
    public static void connected(Object socket, Object peer) {
        if (Emit.server() == null) {
            return;
        }
        if (TOLD.get(socket) == 0) {
            ServerProbes.connectionOpen(socket, peer);
        }
        TOLD.put(socket, IS_CONNECTED);
    }

    /** A socket with TLS was closed: if the server has made no connection of it, as for streams, that is over with it. */
    public static void closed(Object socket) {
        if (Emit.server() != null && TOLD.get(socket) == SHAKES_HANDS) {
            TOLD.put(socket, IS_CONNECTED); // it may be closed again
            ServerProbes.connectionClose(socket);
        }
    }
}
