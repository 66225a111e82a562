package dev.loadline.guard.tomcat;

import javax.net.ssl.SSLEngine;

/** Says to the thread's next TLS engine that it may resume a session and not make one. */
final class ResumeOnly {
    private static final ThreadLocal<Boolean> ASKED = new ThreadLocal<>();

    private ResumeOnly() {}

    static void begin() {
        ASKED.set(true);
    }

    static void end() {
        ASKED.remove();
    }

    /** Before its handshake begins; JSSE then refuses by itself whoever it does not know. */
    static SSLEngine apply(SSLEngine engine) {
        if (ASKED.get() != null) {
            engine.setEnableSessionCreation(false);
        }
        return engine;
    }
}
