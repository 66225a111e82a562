package dev.loadline.bed;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;

/** As much of ASN.1's distinguished encoding (ITU-T X.690) as a certificate needs. */
final class Der {
    private static final DateTimeFormatter UTC_TIME = DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'");

    private Der() {
    }

    /** Tag, length, content. */
    static byte[] of(int tag, byte[]... parts) {
        var content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        var out = new ByteArrayOutputStream();
        out.write(tag);
        int length = content.size();
        if (length < 0x80) {
            out.write(length);
        } else if (length < 0x100) {
            out.write(0x81);
            out.write(length);
        } else {
            out.write(0x82);
            out.write(length >> 8);
            out.write(length);
        }
        out.writeBytes(content.toByteArray());
        return out.toByteArray();
    }

    static byte[] sequence(byte[]... parts) {
        return of(0x30, parts);
    }

    static byte[] set(byte[]... parts) {
        return of(0x31, parts);
    }

    static byte[] integer(BigInteger value) {
        return of(0x02, value.toByteArray());
    }

    static byte[] nothing() {
        return of(0x05);
    }

    static byte[] octets(byte[] content) {
        return of(0x04, content);
    }

    static byte[] utf8(String text) {
        return of(0x0C, text.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] time(ZonedDateTime utc) {
        return of(0x17, UTC_TIME.format(utc).getBytes(StandardCharsets.US_ASCII));
    }

    static byte[] bits(byte[] content) {
        return of(0x03, new byte[] {0}, content);
    }

    /** An object identifier, as {@code 1.2.840}. */
    static byte[] oid(String dotted) {
        String[] arcs = dotted.split("\\.");
        var out = new ByteArrayOutputStream();
        out.write(Integer.parseInt(arcs[0]) * 40 + Integer.parseInt(arcs[1]));
        for (int i = 2; i < arcs.length; i++) {
            int arc = Integer.parseInt(arcs[i]);
            for (int shift = 28; shift > 0; shift -= 7) {
                if (arc >> shift != 0) {
                    out.write(arc >> shift & 0x7F | 0x80);
                }
            }
            out.write(arc & 0x7F);
        }
        return of(0x06, out.toByteArray());
    }
}
