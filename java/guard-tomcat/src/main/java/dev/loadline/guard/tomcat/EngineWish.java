package dev.loadline.guard.tomcat;

import dev.loadline.guard.EngineLimit;
import javax.net.ssl.SSLEngine;

/** What the thread's next TLS engine is to be told: Tomcat makes it where nothing of its connection is known. */
final class EngineWish {
    private static final ThreadLocal<EngineLimit> NEXT = new ThreadLocal<>();

    private EngineWish() {}

    /** @param limit null for none */
    static void begin(EngineLimit limit) {
        if (limit != null) {
            NEXT.set(limit);
        }
    }

    static void end() {
        NEXT.remove();
    }

    static SSLEngine apply(SSLEngine engine) {
        EngineLimit limit = NEXT.get();
        if (limit != null) {
            limit.tell(engine);
        }
        return engine;
    }
}
