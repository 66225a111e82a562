package dev.loadline.guard.hello;

/** What a client says of itself in its hello. */
public enum Kind {
    /** It claims nothing: a full handshake is the only way to serve it. */
    NEW,
    /** It names a session by its id, which the server keeps (TLS 1.2 and earlier). */
    CLAIMS_SESSION_ID,
    /** It sends a ticket, in which the server once put the session (TLS 1.2, RFC 5077). */
    CLAIMS_TICKET,
    /** It offers a pre-shared key (TLS 1.3, RFC 8446 4.2.11). */
    CLAIMS_PSK;

    /** Whether the client says that it has been here before. */
    public boolean claims() {
        return this != NEW;
    }
}
