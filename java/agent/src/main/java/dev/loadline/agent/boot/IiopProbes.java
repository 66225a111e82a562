package dev.loadline.agent.boot;

/**
 * Called from CORBA's standard classes and from skeletons, whichever broker they run on. A call is a span by the name of its
 * operation, on the caller's thread {@code call locate}, on the server's {@code serve locate}.
 */
public final class IiopProbes {
    /** Of the current thread: what it marshals a request for. */
    private static final ThreadLocal<String> OPERATION = new ThreadLocal<>();

    private IiopProbes() {}

    /** A stub begins to marshal a request. */
    public static void asked(String operation) {
        if (Emit.server() != null) {
            OPERATION.set(operation);
        }
    }

    /** The request is marshalled; from now on until {@link #end} the caller waits. */
    public static long callBegin() {
        String operation = OPERATION.get();
        if (operation == null) {
            return 0;
        }
        OPERATION.remove();
        return begin("call ", operation);
    }

    /** A skeleton is given a request. */
    public static long serveBegin(String operation) {
        return begin("serve ", operation);
    }

    private static long begin(String what, String operation) {
        Session s = Emit.server();
        return s == null ? 0 : AppProbes.spanBegin(s, what + operation);
    }

    public static void end(long span) {
        AppProbes.spanEnd(span);
    }
}
