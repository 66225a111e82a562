package dev.loadline.agent.boot;

/**
 * Called from the JDK's own HTTP server. Only an exchange knows its connection, and what ends a response knows only the exchange,
 * on whichever thread: what connection it is on is remembered.
 */
public final class ExchangeProbes {
    private static final Identities KEYS = new Identities();

    private ExchangeProbes() {}

    /** A request was read, of the connection that the current thread visits. */
    public static void begins(Object exchange, Object connection, String method, String path) {
        if (Emit.server() != null) {
            KEYS.put(exchange, System.identityHashCode(connection));
            ServerProbes.request(method, path);
        }
    }

    /** Filters and the handler of a context, to which others may lead. */
    public static int serviceBegin(String path) {
        return ServerProbes.outermostServiceBegin(path);
    }

    public static void serviceEnd(int epoch) {
        ServerProbes.outermostServiceEnd(epoch);
    }

    /** The response is out, whoever wrote it. */
    public static void written(Object exchange) {
        Session s = Emit.server();
        int key = s == null ? 0 : KEYS.get(exchange);
        if (key != 0) {
            long visit = ServerProbes.visitBegin(s, key, 0, 0);
            ServerProbes.requestEnd();
            ServerProbes.visitEnd(visit);
        }
    }

    /** The server answers a request itself. @param line the request's first, or what came in its place, which is no name */
    public static void rejected(String line, int status) {
        if (Emit.server() != null) {
            String[] words = line.split(" ");
            boolean isRequest = words.length == 3 && words[2].startsWith("HTTP/");
            ServerProbes.request(isRequest ? words[0] : "?", isRequest ? words[1] : null);
            ServerProbes.status(status);
            ServerProbes.requestEnd();
        }
    }
}
