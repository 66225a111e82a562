package dev.loadline.guard.hello;

/** Why bytes are not a hello that a TLS server would answer. */
public enum NotTls {
    /** A request line: a capital word and a space. Someone speaks HTTP to the TLS port. */
    PLAIN_HTTP,
    /** A hello in the format of SSL 2.0, which may ask for a later version. */
    SSLV2_HELLO,
    /** Neither TLS nor anything else that is known here. */
    GARBAGE,
    /** A TLS record that is not of type handshake. */
    NOT_HANDSHAKE,
    /** A handshake record without content (forbidden by RFC 8446 5.1). */
    EMPTY_RECORD,
    /** A record of more than 16,384 bytes. */
    RECORD_TOO_LONG,
    /** A handshake message other than ClientHello. */
    NOT_CLIENT_HELLO,
    /** A hello longer than the limit. */
    TOO_LONG,
    /** A hello cut into more records than the limit. */
    TOO_MANY_RECORDS,
    /** A hello with more extensions than the limit. */
    TOO_MANY_EXTENSIONS,
    /** A length inside the hello that does not fit what surrounds it, or a field of impossible length. */
    MALFORMED,
    /** The same extension twice (forbidden by RFC 8446 4.2). */
    DUPLICATE_EXTENSION,
    /** A pre-shared key that is not the last extension (forbidden by RFC 8446 4.2.11). */
    PSK_NOT_LAST,
    /** A pre-shared key whose binders are missing, too short, or not as many as its identities. */
    BAD_BINDERS
}
