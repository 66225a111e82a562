package dev.loadline.guard.tomcat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** A client that remembers its sessions, as a browser does; another one knows nothing of them. */
final class TlsClient {
    private final SSLContext context;
    private final String version;
    private final int port;
    private InetSocketAddress from;
    private byte[] first = {};

    TlsClient(String version, int port) throws Exception {
        this.version = version;
        this.port = port;
        context = trusting();
    }

    /** A client's, that trusts anybody and knows nothing yet. */
    static SSLContext trusting() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new X509TrustManager() {
            @Override
            public void checkClientTrusted(X509Certificate[] chain, String type) {
            }

            @Override
            public void checkServerTrusted(X509Certificate[] chain, String type) {
            }

            @Override
            public X509Certificate[] getAcceptedIssuers() {
                return new X509Certificate[0];
            }
        }}, new SecureRandom());
        return context;
    }

    /** Sends from another address of the loopback. */
    TlsClient from(String address) {
        from = new InetSocketAddress(address, 0);
        return this;
    }

    /** Sends these bytes before its hello, as a proxy would. */
    TlsClient behind(byte[] header) {
        first = header;
        return this;
    }

    SSLSocket connect() throws IOException {
        if (first.length > 0) {
            return connectBehind();
        }
        var socket = (SSLSocket) context.getSocketFactory().createSocket();
        socket.setEnabledProtocols(new String[] {version});
        if (from != null) {
            socket.bind(from);
        }
        socket.setSoTimeout(20_000);
        socket.connect(new InetSocketAddress("127.0.0.1", port), 20_000);
        return socket;
    }

    private SSLSocket connectBehind() throws IOException {
        var plain = new Socket();
        plain.bind(from);
        plain.setSoTimeout(20_000);
        plain.connect(new InetSocketAddress("127.0.0.1", port), 20_000);
        plain.getOutputStream().write(first);
        var socket = (SSLSocket) context.getSocketFactory().createSocket(plain, "127.0.0.1", port, true);
        socket.setEnabledProtocols(new String[] {version});
        return socket;
    }

    /** Whole answer to one request on its own connection. */
    String get(String path) throws IOException {
        try (SSLSocket socket = connect()) {
            return get(socket, path, true);
        }
    }

    static String get(SSLSocket socket, String path, boolean close) throws IOException {
        socket.getOutputStream().write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n"
            + (close ? "Connection: close\r\n" : "") + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
        InputStream in = socket.getInputStream();
        if (close) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
        var text = new StringBuilder();
        int length = -1;
        int body = -1;
        while (body < 0 || text.length() < body + length) {
            int b = in.read();
            if (b < 0) {
                throw new IOException("closed after: " + text);
            }
            text.append((char) b);
            if (body < 0 && text.toString().endsWith("\r\n\r\n")) {
                body = text.length();
                var matcher = java.util.regex.Pattern.compile("(?i)content-length: (\\d+)").matcher(text);
                length = matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
            }
        }
        return text.toString();
    }

    /** Whether a connection is served; false when the server refuses it. */
    boolean served() {
        try {
            return get("/").startsWith("HTTP/1.1 200");
        } catch (IOException e) {
            return false;
        }
    }

    /** The hello that this client would send next: it claims what the client knows. */
    byte[] hello() throws IOException {
        SSLEngine engine = context.createSSLEngine("127.0.0.1", port);
        engine.setUseClientMode(true);
        engine.setEnabledProtocols(new String[] {version});
        ByteBuffer out = ByteBuffer.allocate(32_768);
        engine.beginHandshake();
        engine.wrap(ByteBuffer.allocate(0), out);
        return java.util.Arrays.copyOf(out.array(), out.position());
    }

    /** What the server answers to these bytes, up to its close. */
    static byte[] raw(int port, byte[] bytes) throws IOException {
        try (var socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(bytes);
            try {
                return socket.getInputStream().readAllBytes();
            } catch (java.net.SocketException e) {
                return new byte[0]; // reset: closed all the same
            }
        }
    }

    /** The first bytes that the server answers to these. */
    static byte[] firstBytes(int port, byte[] bytes, int count) throws IOException {
        try (var socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(bytes);
            return socket.getInputStream().readNBytes(count);
        }
    }
}
