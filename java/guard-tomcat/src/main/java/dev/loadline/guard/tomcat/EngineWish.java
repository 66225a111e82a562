package dev.loadline.guard.tomcat;

import javax.net.ssl.SSLEngine;

/** What the thread's next TLS engine is to be told before its handshake begins. */
enum EngineWish {
    /** It may resume a session and not make one: JSSE then refuses by itself whoever it does not know. */
    RESUME_ONLY {
        @Override
        void tell(SSLEngine engine) {
            engine.setEnableSessionCreation(false);
        }
    },
    /** HTTP/1.1, whatever else the client offers: requests in streams of HTTP/2 are not seen. */
    HTTP_1 {
        @Override
        void tell(SSLEngine engine) {
            engine.setHandshakeApplicationProtocolSelector((e, offered) -> offered.contains("http/1.1") ? "http/1.1" : "");
        }
    };

    private static final ThreadLocal<EngineWish> NEXT = new ThreadLocal<>();

    abstract void tell(SSLEngine engine);

    void begin() {
        NEXT.set(this);
    }

    static void end() {
        NEXT.remove();
    }

    static SSLEngine apply(SSLEngine engine) {
        EngineWish wish = NEXT.get();
        if (wish != null) {
            wish.tell(engine);
        }
        return engine;
    }
}
