package dev.loadline.agent.boot;

/**
 * Called from CORBA's standard classes and from skeletons, whichever broker they run on. On the caller's thread it is a call
 * ({@link CallProbes}) of {@code locate}, on the server's a span {@code serve locate}, by the name of its operation.
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

    /** The request is marshalled; from now on until the call's end the caller waits. */
    public static int callBegin() {
        String operation = OPERATION.get();
        if (operation == null) {
            return 0;
        }
        OPERATION.remove();
        return CallProbes.beginNamed(operation);
    }

    /** A skeleton is given a request. */
    public static long serveBegin(String operation) {
        Session s = Emit.server();
        return s == null ? 0 : AppProbes.spanBegin(s, "serve " + operation);
    }

    public static void serveEnd(long span) {
        AppProbes.spanEnd(span);
    }
}
