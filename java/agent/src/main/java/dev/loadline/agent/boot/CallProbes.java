package dev.loadline.agent.boot;

import java.net.URI;
import java.net.URL;
import jdk.internal.vm.annotation.DontInline;

/**
 * Called from clients of other services whose thread waits for the answer. What is told of a service is where it is, and no path.
 * Of calls within each other the outermost counts, as in {@link JdbcProbes}.
 */
public final class CallProbes {
    private static final ThreadLocal<Call> CALL = new ThreadLocal<>();

    private CallProbes() {}

    /** For {@link Rehearsal}: the calling thread is in no call, and never was. */
    static void forgetThread() {
        CALL.remove();
    }

    /** The calling thread waits for a service at an address; the result is for {@link #end}. */
    public static int begin(URI address) {
        return Emit.server() == null ? 0 : beginNamed(at(address.getScheme(), address.getHost(), address.getPort()));
    }

    public static int begin(URL address) {
        return Emit.server() == null ? 0 : beginNamed(at(address.getProtocol(), address.getHost(), address.getPort()));
    }

    /** @param port less than 0 if that is the scheme's */
    public static int begin(String scheme, String host, int port) {
        return Emit.server() == null ? 0 : beginNamed(at(scheme, host, port));
    }

    /** @param authority what reads as host and port */
    public static int begin(String scheme, Object authority) {
        return Emit.server() == null ? 0 : beginNamed(scheme + "://" + authority);
    }

    static String at(String scheme, String host, int port) {
        return scheme + "://" + host + (port < 0 ? "" : ":" + port);
    }

    /** A service by what it is called, or null. */
    public static int beginNamed(Object service) {
        Session s = Emit.server();
        if (s == null) {
            return 0;
        }
        Call call = ofThread();
        if (call.epoch == s.epoch) {
            return 0;
        }
        write(s, service, 0);
        return call.epoch = s.epoch;
    }

    public static void end(int epoch) {
        if (epoch != 0) {
            CALL.get().epoch = 0;
            Emit.end(epoch, Type.CALL_END, 0, 0);
        }
    }

    static void write(Session s, Object service, long id) {
        Emit.write(s, Type.CALL_BEGIN, service == null ? 0 : s.strings.id(service.toString()), id, 0);
    }

    @DontInline
    static Call ofThread() {
        Call call = CALL.get();
        if (call == null) {
            call = new Call();
            CALL.set(call);
        }
        return call;
    }

    /** What a thread is at. */
    static final class Call {
        /** The recording that it is within a call of. */
        int epoch;
        /** {@link AskProbes}: it is about to ask once more for what it has just asked for. */
        boolean asksAgain;
    }
}
