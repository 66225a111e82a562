package dev.loadline.agent.boot;

import java.util.Locale;

/** What a handshake's end says of whether it resumed a session. */
public final class Resumption {
    /** Stands for an engine of which nothing is known. */
    public static final Object UNTOLD = new Object();

    /** It did unless {@link Type#TLS_KEY} was told. */
    static final int BY_KEY = 0;

    static final int FULL = 1;
    static final int RESUMED = 2;
    static final int UNKNOWN = 3;

    private static final String NETTYS = "netty.handler.ssl.";

    private Resumption() {}

    /**
     * Of an engine that is done; null where it is the JDK's.
     *
     * <p>Those of OpenSSL and its kin give what they resume a new time of creation with TLS 1.3, and ask no key manager, or
     * every time. Netty's say which it was.
     */
    static int of(Object engine) {
        if (engine == null) {
            return BY_KEY;
        }
        if (engine == UNTOLD) {
            return UNKNOWN;
        }
        String name = engine.getClass().getName();
        if (isOpenSsl(name)) {
            int at = name.indexOf(NETTYS);
            return at < 0 ? UNKNOWN : ofNettys(engine, name.substring(0, at));
        }
        return BY_KEY;
    }

    /** Whether engines of this class are OpenSSL's, BoringSSL's or Conscrypt's. */
    private static boolean isOpenSsl(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.contains("openssl") || lower.contains("conscrypt");
    }

    /** Netty may have been moved into packages of this prefix. */
    private static int ofNettys(Object engine, String prefix) {
        try {
            Class<?> type = engine.getClass();
            Class<?> library = Class.forName(prefix + "netty.internal.tcnative.SSL", true, type.getClassLoader());
            synchronized (engine) { // as who frees what the pointer is of
                long pointer = (long) type.getMethod("sslPointer").invoke(engine);
                return pointer == 0 ? UNKNOWN
                        : (boolean) library.getMethod("isSessionReused", long.class).invoke(null, pointer) ? RESUMED : FULL;
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError otherVersion) {
            return UNKNOWN;
        }
    }
}
