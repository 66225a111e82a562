package dev.loadline.guard;

import java.util.List;
import javax.net.ssl.SSLEngine;

/** What a TLS engine is to be told before its handshake begins. */
public enum EngineLimit {
    /** It may resume a session and not make one: JSSE then refuses by itself whoever it does not know. */
    RESUME_ONLY {
        @Override
        public void tell(SSLEngine engine) {
            engine.setEnableSessionCreation(false);
        }
    },
    /** HTTP/1.1, whatever else the client offers: requests in streams of HTTP/2 are not seen. */
    HTTP_1 {
        @Override
        public void tell(SSLEngine engine) {
            var servers = engine.getHandshakeApplicationProtocolSelector();
            engine.setHandshakeApplicationProtocolSelector((e, offered) -> {
                if (!offered.contains(PROTOCOL)) {
                    return "";
                }
                // A server that chooses by itself has to know what was chosen.
                return servers == null ? PROTOCOL : servers.apply(e, List.of(PROTOCOL));
            });
        }
    };

    private static final String PROTOCOL = "http/1.1";

    public abstract void tell(SSLEngine engine);

    /** That of a connection about which this was decided; null for none. */
    public static EngineLimit of(Action decided, GuardedConnection connection) {
        return decided == Action.SERVE_RESUMED_ONLY ? RESUME_ONLY : connection.seesRequests() ? HTTP_1 : null;
    }
}
