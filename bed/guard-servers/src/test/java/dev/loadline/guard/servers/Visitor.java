package dev.loadline.guard.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

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
    private String cookie;

    Visitor(int port) {
        this.port = port;
    }

    /** Shows this from now on. */
    Visitor claims(String cookie) {
        this.cookie = cookie;
        return this;
    }

    String cookie() {
        return cookie;
    }

    Reply get(String path) throws IOException {
        long begin = System.nanoTime();
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(20_000);
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
