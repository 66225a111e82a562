package dev.loadline.guard;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * What a TCP load balancer writes before the first byte of its client: the PROXY protocol, version 1 (a line of text) and 2 (binary), by
 * its specification (W. Tarreau, "The PROXY protocol, versions 1 and 2", HAProxy 2020). Whether who wrote it is believed is not decided here.
 *
 * @param length in bytes; what follows is the client's
 * @param client whose connection it is; null: the proxy's own, such as a probe, or not said
 * @param port of the client; 0 where that is null
 */
public record ProxyHeader(int length, InetAddress client, int port) {
    /** The longest that is read, of either version. Version 2 may announce 65,551; what balancers add to 52 bytes is hundreds. */
    public static final int MOST_BYTES = 4_096;

    private static final byte[] TEXT = "PROXY ".getBytes(StandardCharsets.US_ASCII);
    /** The longest line that version 1 can have. */
    private static final int MOST_TEXT = 107;
    private static final byte[] BINARY = {'\r', '\n', '\r', '\n', 0, '\r', '\n', 'Q', 'U', 'I', 'T', '\n'};
    private static final int BINARY_BYTES = 16;
    private static final int IPV4_BYTES = 12;
    private static final int IPV6_BYTES = 36;
    private static final Pattern IPV4 = Pattern.compile("[0-9.]{7,15}");
    private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]{2,45}");

    /**
     * Reads one from the first of these bytes on, and leaves the buffer as it was.
     *
     * @return null while it is not whole
     */
    public static ProxyHeader read(ByteBuffer came) throws WrongProxyHeader {
        ByteBuffer bytes = came.slice();
        if (!bytes.hasRemaining()) {
            return null;
        }
        return switch (bytes.get(0)) {
            case 'P' -> text(bytes);
            case '\r' -> binary(bytes);
            default -> throw new WrongProxyHeader("it begins with the byte " + (bytes.get(0) & 0xff) + (bytes.get(0) == 22 ? ", as TLS does" : ""));
        };
    }

    private static void mustBegin(ByteBuffer bytes, byte[] with) throws WrongProxyHeader {
        for (int i = 0; i < Math.min(with.length, bytes.limit()); i++) {
            if (bytes.get(i) != with[i]) {
                throw new WrongProxyHeader("its first " + (i + 1) + " bytes begin neither version 1 nor 2");
            }
        }
    }

    private static ProxyHeader text(ByteBuffer bytes) throws WrongProxyHeader {
        mustBegin(bytes, TEXT);
        int most = Math.min(bytes.limit(), MOST_TEXT);
        for (int i = TEXT.length; i < most; i++) {
            if (bytes.get(i) == '\n') {
                if (bytes.get(i - 1) != '\r') {
                    throw new WrongProxyHeader("its line does not end with CR and LF");
                }
                byte[] line = new byte[i - 1];
                bytes.get(0, line);
                return line(new String(line, StandardCharsets.ISO_8859_1), i + 1);
            }
        }
        if (most == MOST_TEXT) {
            throw new WrongProxyHeader("its line has no end within " + MOST_TEXT + " bytes");
        }
        return null;
    }

    private static ProxyHeader line(String line, int length) throws WrongProxyHeader {
        String[] part = line.split(" ", -1);
        if (part[1].equals("UNKNOWN")) {
            return new ProxyHeader(length, null, 0); // whatever follows
        }
        boolean ipv6 = part[1].equals("TCP6");
        if (!ipv6 && !part[1].equals("TCP4") || part.length != 6) {
            throw new WrongProxyHeader("'" + printable(line) + "' is not PROXY TCP4 or TCP6, two addresses and two ports");
        }
        address(part[3], ipv6);
        port(part[5]);
        return new ProxyHeader(length, address(part[2], ipv6), port(part[4]));
    }

    private static InetAddress address(String text, boolean ipv6) throws WrongProxyHeader {
        InetAddress read = ipv6 ? IPV6.matcher(text).matches() ? Forwarded.literal("[" + text + "]") : null
            : IPV4.matcher(text).matches() ? Forwarded.literal(text) : null;
        if (read == null) {
            throw new WrongProxyHeader("'" + printable(text) + "' is no address of " + (ipv6 ? "IPv6" : "IPv4"));
        }
        return read;
    }

    private static int port(String text) throws WrongProxyHeader {
        if (!text.matches("[0-9]{1,5}") || Integer.parseInt(text) > 65_535) {
            throw new WrongProxyHeader("'" + printable(text) + "' is no port");
        }
        return Integer.parseInt(text);
    }

    private static String printable(String text) {
        return text.replaceAll("[^ -~]", "?");
    }

    private static ProxyHeader binary(ByteBuffer bytes) throws WrongProxyHeader {
        mustBegin(bytes, BINARY);
        if (bytes.limit() < BINARY_BYTES) {
            return null;
        }
        int version = bytes.get(12) >> 4 & 0xf;
        int command = bytes.get(12) & 0xf;
        int length = BINARY_BYTES + (bytes.getShort(14) & 0xffff);
        if (version != 2 || command > 1) {
            throw new WrongProxyHeader("version " + version + ", command " + command + " is not known");
        }
        if (length > MOST_BYTES) {
            throw new WrongProxyHeader("it is of " + length + " bytes; " + MOST_BYTES + " are read at most");
        }
        int family = bytes.get(13) >> 4 & 0xf;
        int transport = bytes.get(13) & 0xf;
        boolean proxied = command == 1;
        if (proxied && (family > 3 || transport > 2)) {
            throw new WrongProxyHeader("address family " + family + ", transport " + transport + " is not known");
        }
        boolean ipv4 = family == 1 && transport == 1;
        boolean ipv6 = family == 2 && transport == 1;
        if (proxied && (ipv4 || ipv6) && length - BINARY_BYTES < (ipv4 ? IPV4_BYTES : IPV6_BYTES)) {
            throw new WrongProxyHeader("it is too short for its addresses");
        }
        if (bytes.limit() < length) {
            return null;
        }
        if (!proxied || !ipv4 && !ipv6) {
            return new ProxyHeader(length, null, 0); // a Unix socket's, or none
        }
        byte[] client = new byte[ipv4 ? 4 : 16];
        bytes.get(BINARY_BYTES, client);
        return new ProxyHeader(length, of(client), bytes.getShort(BINARY_BYTES + 2 * client.length) & 0xffff);
    }

    private static InetAddress of(byte[] address) {
        try {
            return InetAddress.getByAddress(address);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(Arrays.toString(address) + " is an address by its length", e);
        }
    }
}
