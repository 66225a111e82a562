package dev.loadline.agent.boot;

import java.net.URI;
import java.net.URL;

/**
 * Called from clients of other services, by the thread that waits for the answer. What is told of a service is where it is,
 * and no path; of calls within each other the outermost counts, as in {@link JdbcProbes}.
 */
public final class CallProbes {
    /** Of the current thread: the recording that it is within a call of. */
    private static final ThreadLocal<Call> CALL = new ThreadLocal<>();

    private CallProbes() {}

    /** For {@link Rehearsal}: the calling thread is in no call, and never was. */
    static void forgetThread() {
        CALL.remove();
    }

    /** A service at an address; the result is for {@link #end}. */
    public static int begin(URI address) {
        return Emit.server() == null ? 0 : begin(address.getScheme(), address.getHost(), address.getPort());
    }

    public static int begin(URL address) {
        return Emit.server() == null ? 0 : begin(address.getProtocol(), address.getHost(), address.getPort());
    }

    public static int begin(String scheme, String authority) {
        return Emit.server() == null ? 0 : beginNamed(scheme + "://" + authority);
    }

    private static int begin(String scheme, String host, int port) {
        return begin(scheme, host + (port < 0 ? "" : ":" + port));
    }

    /** A service by what it is called, or null. */
    public static int beginNamed(Object service) {
        Session s = Emit.server();
        if (s == null) {
            return 0;
        }
        Call call = CALL.get();
        if (call == null) {
            call = new Call();
            CALL.set(call);
        }
        if (call.epoch == s.epoch) {
            return 0;
        }
        Emit.write(s, Type.CALL_BEGIN, service == null ? 0 : s.strings.id(service.toString()), 0, 0);
        return call.epoch = s.epoch;
    }

    public static void end(int epoch) {
        if (epoch != 0) {
            CALL.get().epoch = 0;
            Emit.end(epoch, Type.CALL_END, 0, 0);
        }
    }

    private static final class Call {
        int epoch;
    }
}
