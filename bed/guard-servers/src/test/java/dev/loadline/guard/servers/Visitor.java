package dev.loadline.guard.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLContext;

/** Somebody who opens a connection for each request, as behind a balancer. */
final class Visitor {
    /** An answer: all that was sent. */
    record Reply(String text, double millis) {
        int status() {
            return text.startsWith("HTTP/1.1 ") ? Integer.parseInt(text.substring(9, 12)) : 0;
        }

        String header(String name) {
            for (String line : text.split("\r\n")) {
                if (line.regionMatches(true, 0, name + ":", 0, name.length() + 1)) {
                    return line.substring(name.length() + 1).trim();
                }
            }
            return null;
        }
    }

    private final int port;
    private final SSLContext tls;
    private InetAddress from = InetAddress.getLoopbackAddress();
    private byte[] header = {};
    private boolean halting;
    private String cookie;

    Visitor(int port) {
        this(port, null);
    }

    /** @param tls null for plain HTTP */
    Visitor(int port, SSLContext tls) {
        this.port = port;
        this.tls = tls;
    }

    /** Comes from this address of the loopback. */
    Visitor from(String address) throws UnknownHostException {
        from = InetAddress.getByName(address);
        return this;
    }

    /** Comes through a proxy, which says by the PROXY protocol that it is of this address. */
    Visitor behindProxy(String address) {
        header = ("PROXY TCP4 " + address + " 127.0.0.1 4711 443\r\n").getBytes(StandardCharsets.US_ASCII);
        return this;
    }

    /** Says hello in two parts. */
    Visitor halting() {
        halting = true;
        return this;
    }

    /** Shows this from now on. */
    Visitor claims(String cookie) {
        this.cookie = cookie;
        return this;
    }

    String cookie() {
        return cookie;
    }

    private Socket connect() throws IOException {
        if (tls != null) {
            return Tls.connect(tls, from, port, halting, header);
        }
        var socket = new Socket("127.0.0.1", port);
        socket.setSoTimeout(20_000);
        return socket;
    }

    Reply get(String path) throws IOException {
        long begin = System.nanoTime();
        try (Socket socket = connect()) {
            String request = "GET " + path + " HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n" + (cookie == null ? "" : "Cookie: " + cookie + "\r\n") + "\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            var reply = new Reply(new String(in.readAllBytes(), StandardCharsets.UTF_8), (System.nanoTime() - begin) / 1e6);
            String set = reply.header("Set-Cookie");
            if (set != null) {
                cookie = set.split(";")[0];
            }
            return reply;
        }
    }
}
