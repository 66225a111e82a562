package dev.loadline.guard;

import dev.loadline.guard.hello.ClientHello;
import dev.loadline.guard.hello.ClientHelloReader;
import dev.loadline.guard.hello.NotTls;
import java.nio.ByteBuffer;

/**
 * What a connection says first, until it is decided about: between an adapter, which has the bytes and acts, and the guard. Not
 * thread-safe; {@link #reset} makes it ready for another connection.
 */
public final class Greeting {
    private final ClientHelloReader reader = new ClientHelloReader();

    /**
     * Hears what came.
     *
     * @param fresh bytes that it has not seen; those behind the hello are left
     * @param serverSpeaksTls13 whether TLS 1.3 is enabled here
     * @param canRestrict whether an engine can be told to resume only, and which protocol to speak
     * @return what is to be done with the connection; null while its hello is not whole
     */
    public Action hear(ByteBuffer fresh, Guard guard, GuardedConnection connection, boolean serverSpeaksTls13, boolean canRestrict) {
        return switch (reader.feed(fresh)) {
            case NEED_MORE -> null;
            case NOT_TLS -> notTls(guard, reader.notTls());
            case HELLO -> connection.decide(reader.hello(), serverSpeaksTls13, canRestrict);
        };
    }

    private static Action notTls(Guard guard, NotTls why) {
        // Servers answer plain HTTP with a hint that this port speaks TLS, or close; and JSSE knows the oldest hellos.
        if (guard.mode() != Mode.ENFORCE || why == NotTls.PLAIN_HTTP || why == NotTls.SSLV2_HELLO) {
            return Action.SERVE;
        }
        guard.refused(Refused.NOT_TLS);
        return Action.CLOSE;
    }

    /** The hello, once it is whole; else null. */
    public ClientHello hello() {
        return reader.status() == ClientHelloReader.Status.HELLO ? reader.hello() : null;
    }

    public void reset() {
        reader.reset();
    }
}
