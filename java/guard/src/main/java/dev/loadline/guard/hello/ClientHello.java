package dev.loadline.guard.hello;

import java.util.List;

/**
 * What matters of one hello. Arrays are the record's own, and are to be read only.
 *
 * @param legacyVersion the version field: 0x0303 for TLS 1.2 and for TLS 1.3
 * @param tls13Offered whether {@code supported_versions} lists TLS 1.3
 * @param sessionId the legacy session id; empty when there is none. In a hello that offers TLS 1.3 it is
 *     mostly 32 random bytes (RFC 8446 D.4) and says nothing
 * @param ticket the TLS 1.2 ticket; null when there is none, or an empty one, by which a client only
 *     says that it takes tickets
 * @param pskIdentity the first pre-shared key's identity, in a hello that offers TLS 1.3; else null
 * @param pskIdentities how many identities are offered; a server tries each
 * @param earlyData whether the client announces early data
 * @param sni the server name as sent, unchecked but for its length (at most 255); null when there is none
 * @param alpn the application protocols in the client's order
 * @param bytes size on the wire, record headers included, up to the message's last byte
 * @param records the number of records that carried it
 */
public record ClientHello(int legacyVersion, boolean tls13Offered, byte[] sessionId, byte[] ticket,
                          byte[] pskIdentity, int pskIdentities, boolean earlyData, String sni,
                          List<String> alpn, int bytes, int records) {

    /** What the client claims towards a server that has TLS 1.3 enabled. */
    public Kind kind() {
        return kind(true);
    }

    /**
     * What the client claims. A server that has TLS 1.3 takes it whenever it is offered, and then
     * ignores session id and ticket. A server without it ignores the pre-shared key, and cannot tell a
     * session id of its own from random bytes without looking it up: such an id is a claim.
     */
    public Kind kind(boolean serverSpeaksTls13) {
        if (tls13Offered && serverSpeaksTls13) {
            return pskIdentity != null ? Kind.CLAIMS_PSK : Kind.NEW;
        }
        // A client that sends a ticket makes up a session id, by whose echo it sees that the ticket
        // was taken (RFC 5077 3.4): the ticket goes first.
        return ticket != null ? Kind.CLAIMS_TICKET : sessionId.length > 0 ? Kind.CLAIMS_SESSION_ID : Kind.NEW;
    }

    /** What the claim rests on, towards a server that has TLS 1.3 enabled; null for {@link Kind#NEW}. */
    public byte[] claim() {
        return claim(true);
    }

    /** What the claim rests on: session id, ticket, or identity of the key; null for {@link Kind#NEW}. */
    public byte[] claim(boolean serverSpeaksTls13) {
        return switch (kind(serverSpeaksTls13)) {
            case NEW -> null;
            case CLAIMS_SESSION_ID -> sessionId;
            case CLAIMS_TICKET -> ticket;
            case CLAIMS_PSK -> pskIdentity;
        };
    }
}
