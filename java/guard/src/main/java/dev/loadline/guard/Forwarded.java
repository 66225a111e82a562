package dev.loadline.guard;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Whose a request is, behind proxies. What their header says is believed as far as it was written by somebody who is
 * trusted: from the right, up to the first address that is no trusted proxy's. Names are never looked up.
 */
final class Forwarded {
    private static final Pattern IPV4 = Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})");
    private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]{2,45}");
    /** A header that names more is no reason to work for long. */
    private static final int MOST_HOPS = 32;
    private static final List<String> TELLTALES = List.of("X-Forwarded-For", "Forwarded", "X-Real-IP");

    private final Addresses trusted;
    private final String header;

    /**
     * @param trusted proxies whose header is believed
     * @param header in which they name the client; {@code Forwarded} as in RFC 7239, others as a list of addresses
     */
    Forwarded(Addresses trusted, String header) {
        this.trusted = trusted;
        this.header = header;
    }

    /**
     * The client.
     *
     * @param address null when nobody who is believed says it
     * @param alone whether it is that of one client, as far as that is known, and not of a proxy for many
     */
    record Client(InetAddress address, boolean alone) {}

    Client of(ServerRequest request) {
        InetAddress peer = literal(request.peer());
        if (peer == null || !trusted.contains(peer)) {
            return new Client(peer, peer != null && !forwards(request));
        }
        InetAddress last = peer;
        for (String hop : lastHops(request)) {
            last = literal(header.equalsIgnoreCase("Forwarded") ? forOf(hop) : hop);
            if (last == null || !trusted.contains(last)) {
                return new Client(last, last != null);
            }
        }
        return new Client(last, false); // a proxy's own request, a probe's
    }

    /** From the last one backwards. */
    private List<String> lastHops(ServerRequest request) {
        var hops = new ArrayList<String>();
        var lines = new ArrayList<String>();
        request.headers(header).forEach(lines::add);
        for (int line = lines.size() - 1; line >= 0; line--) {
            String text = lines.get(line);
            for (int end = text.length(), comma; end >= 0 && hops.size() < MOST_HOPS; end = comma) {
                comma = text.lastIndexOf(',', end - 1);
                hops.add(text.substring(comma + 1, end));
            }
        }
        return hops;
    }

    /** Whether somebody in front says that there is another client, which is not believed. */
    private static boolean forwards(ServerRequest request) {
        for (String name : TELLTALES) {
            if (request.headers(name).iterator().hasNext()) {
                return true;
            }
        }
        return false;
    }

    /** {@code for="[2001:db8::17]:4711";proto=https}: what is after for=. */
    private static String forOf(String element) {
        for (String pair : element.split(";")) {
            int equals = pair.indexOf('=');
            if (equals > 0 && pair.substring(0, equals).trim().toLowerCase(Locale.ROOT).equals("for")) {
                return pair.substring(equals + 1);
            }
        }
        return "";
    }

    /** An address as proxies write them, perhaps quoted, in brackets, with a port; null when it is none. */
    static InetAddress literal(String written) {
        if (written == null) {
            return null;
        }
        String text = written.trim();
        if (text.length() > 1 && text.startsWith("\"") && text.endsWith("\"")) {
            text = text.substring(1, text.length() - 1);
        }
        if (text.startsWith("[")) {
            int end = text.indexOf(']');
            return end < 0 ? null : ipv6(text.substring(1, end));
        }
        int colon = text.indexOf(':');
        return colon >= 0 && colon != text.lastIndexOf(':') ? ipv6(text) : ipv4(colon < 0 ? text : text.substring(0, colon));
    }

    private static InetAddress ipv4(String text) {
        var read = IPV4.matcher(text);
        if (!read.matches()) {
            return null;
        }
        byte[] bytes = new byte[4];
        for (int i = 0; i < bytes.length; i++) {
            int part = Integer.parseInt(read.group(i + 1));
            if (part > 255) {
                return null;
            }
            bytes[i] = (byte) part;
        }
        return of(bytes);
    }

    private static InetAddress ipv6(String text) {
        int zone = text.indexOf('%');
        String address = zone < 0 ? text : text.substring(0, zone);
        if (!IPV6.matcher(address).matches()) {
            return null;
        }
        try {
            // In brackets it is a literal or an error, and never a name.
            return InetAddress.getByName("[" + address + "]");
        } catch (UnknownHostException e) {
            return null;
        }
    }

    private static InetAddress of(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an address", e);
        }
    }
}
