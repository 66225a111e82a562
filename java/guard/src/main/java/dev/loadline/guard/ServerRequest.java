package dev.loadline.guard;

/** A request as its server has it: what an adapter tells {@link RequestGate}. Asked on the thread that serves it. */
public interface ServerRequest {
    /** What the server says of the session that the request claims by the server's own cookie. */
    enum Session {
        /** It knows it. */
        VALID,
        /** There is none by that name, any more or ever. */
        INVALID,
        /** The request claims none, or the server cannot tell. */
        UNKNOWN
    }

    String method();

    /** The path as sent, without the query. */
    String path();

    /** The path without that of the application; where there is one application, {@link #path}. */
    String pathInApplication();

    /** A header's values in their order, one a line; empty when it was not sent. */
    Iterable<String> headers(String name);

    /** The address of who is connected, as a literal. */
    String peer();

    /** Whether its connection is guarded and brings one request at a time: then that guard has let it in, and sees its requests. */
    default boolean onGuardedConnection() {
        return false;
    }

    /** Name of the cookie by which the server itself knows sessions; null when it has none. */
    String sessionCookie();

    /** Asked for claims that are not known, before the request is served while others are refused, and after it. */
    Session session();
}
