package dev.loadline.guard.hello;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Parses the body of one whole hello: version, random, session id, cipher suites, compression methods,
 * extensions. Every read is inside the limits of what surrounds it: a vector is entered by checking its
 * length once, and left at exactly its end.
 */
final class HelloParser {
    private static final int MAX_EXTENSIONS = 128;
    private static final int MAX_SNI = 255;
    private static final int TLS13 = 0x0304;

    private static final int SERVER_NAME = 0;
    private static final int ALPN = 16;
    private static final int SESSION_TICKET = 35;
    private static final int PRE_SHARED_KEY = 41;
    private static final int EARLY_DATA = 42;
    private static final int SUPPORTED_VERSIONS = 43;

    private static final byte[] NONE = new byte[0];

    private final byte[] b;
    private final int end;
    private int at;

    private int legacyVersion;
    private boolean tls13Offered;
    private byte[] sessionId = NONE;
    private byte[] ticket;
    private byte[] pskIdentity;
    private int pskIdentities;
    private boolean earlyData;
    private String sni;
    private List<String> alpn = List.of();

    HelloParser(byte[] bytes, int from, int end) {
        this.b = bytes;
        this.at = from;
        this.end = end;
    }

    ClientHello hello(int bytes, int records) {
        return new ClientHello(legacyVersion, tls13Offered, sessionId, ticket, pskIdentity, pskIdentities,
            earlyData, sni, alpn, bytes, records);
    }

    /** What is wrong, or null. */
    NotTls parse() {
        if (end - at < 2 + 32 + 1) {
            return NotTls.MALFORMED;
        }
        legacyVersion = u16(at);
        if (legacyVersion >> 8 != 3) {
            return NotTls.MALFORMED;
        }
        at += 2 + 32;
        int idLength = b[at++] & 0xff;
        if (idLength > 32 || idLength > end - at) {
            return NotTls.MALFORMED;
        }
        if (idLength > 0) {
            sessionId = Arrays.copyOfRange(b, at, at + idLength);
        }
        at += idLength;
        if (end - at < 2) {
            return NotTls.MALFORMED;
        }
        int suites = u16(at);
        at += 2;
        if (suites < 2 || (suites & 1) != 0 || suites > end - at) {
            return NotTls.MALFORMED;
        }
        at += suites;
        if (at == end) {
            return NotTls.MALFORMED;
        }
        int compressions = b[at++] & 0xff;
        if (compressions < 1 || compressions > end - at) {
            return NotTls.MALFORMED;
        }
        at += compressions;
        // SSL 3.0 and TLS 1.0 clients may end here.
        return at == end ? null : extensions();
    }

    private NotTls extensions() {
        if (end - at < 2 || u16(at) != end - at - 2) {
            return NotTls.MALFORMED;
        }
        at += 2;
        long seen = 0;
        int count = 0;
        int psk = -1;
        int pskEnd = -1;
        while (at < end) {
            if (end - at < 4) {
                return NotTls.MALFORMED;
            }
            int type = u16(at);
            int from = at + 4;
            int to = from + u16(at + 2);
            if (to > end) {
                return NotTls.MALFORMED;
            }
            if (++count > MAX_EXTENSIONS) {
                return NotTls.TOO_MANY_EXTENSIONS;
            }
            // Types that matter here are all below 64; of others a copy changes nothing that is read.
            if (type < Long.SIZE) {
                if ((seen & 1L << type) != 0) {
                    return NotTls.DUPLICATE_EXTENSION;
                }
                seen |= 1L << type;
            }
            boolean good = switch (type) {
                case SERVER_NAME -> serverName(from, to);
                case ALPN -> alpn(from, to);
                case SUPPORTED_VERSIONS -> versions(from, to);
                case SESSION_TICKET -> ticket(from, to);
                case EARLY_DATA -> earlyData = true;
                case PRE_SHARED_KEY -> {
                    psk = from;
                    pskEnd = to;
                    yield true;
                }
                default -> true;
            };
            if (!good) {
                return NotTls.MALFORMED;
            }
            at = to;
        }
        // Without TLS 1.3 on offer the key is an unknown extension, whatever it holds.
        return psk < 0 || !tls13Offered ? null : pskEnd != end ? NotTls.PSK_NOT_LAST : preSharedKey(psk, pskEnd);
    }

    private boolean serverName(int from, int to) {
        if (to - from < 2 || u16(from) != to - from - 2) {
            return false;
        }
        for (int p = from + 2; p < to; ) {
            if (to - p < 3) {
                return false;
            }
            int length = u16(p + 1);
            if (length > to - p - 3) {
                return false;
            }
            if (b[p] == 0) {
                if (length == 0 || length > MAX_SNI || sni != null) {
                    return false;
                }
                sni = new String(b, p + 3, length, StandardCharsets.ISO_8859_1);
            }
            p += 3 + length;
        }
        return true;
    }

    private boolean alpn(int from, int to) {
        if (to - from < 2 || u16(from) != to - from - 2) {
            return false;
        }
        var names = new ArrayList<String>(4);
        for (int p = from + 2; p < to; ) {
            int length = b[p] & 0xff;
            if (length == 0 || length > to - p - 1) {
                return false;
            }
            names.add(new String(b, p + 1, length, StandardCharsets.ISO_8859_1));
            p += 1 + length;
        }
        alpn = names;
        return true;
    }

    private boolean versions(int from, int to) {
        int length = to - from - 1;
        if (length < 2 || (length & 1) != 0 || (b[from] & 0xff) != length) {
            return false;
        }
        for (int p = from + 1; p < to; p += 2) {
            tls13Offered |= u16(p) == TLS13;
        }
        return true;
    }

    private boolean ticket(int from, int to) {
        if (to > from) {
            ticket = Arrays.copyOfRange(b, from, to);
        }
        return true;
    }

    /** Identities (each with its age), then as many binders of 32 to 255 bytes. */
    private NotTls preSharedKey(int from, int to) {
        if (to - from < 2) {
            return NotTls.MALFORMED;
        }
        int p = from + 2;
        int identitiesEnd = p + u16(from);
        if (identitiesEnd == p || identitiesEnd > to) {
            return NotTls.MALFORMED;
        }
        while (p < identitiesEnd) {
            int length = identitiesEnd - p < 2 ? 0 : u16(p);
            if (length == 0 || length > identitiesEnd - p - 2 - 4) {
                return NotTls.MALFORMED;
            }
            if (pskIdentities++ == 0) {
                pskIdentity = Arrays.copyOfRange(b, p + 2, p + 2 + length);
            }
            p += 2 + length + 4;
        }
        if (to - p < 2 || u16(p) != to - p - 2) {
            return NotTls.BAD_BINDERS;
        }
        int binders = 0;
        for (p += 2; p < to; binders++) {
            int length = b[p] & 0xff;
            if (length < 32 || length > to - p - 1) {
                return NotTls.BAD_BINDERS;
            }
            p += 1 + length;
        }
        return binders == pskIdentities ? null : NotTls.BAD_BINDERS;
    }

    private int u16(int i) {
        return (b[i] & 0xff) << 8 | b[i + 1] & 0xff;
    }
}
