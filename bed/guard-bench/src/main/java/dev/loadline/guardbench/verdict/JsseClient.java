package dev.loadline.guardbench.verdict;

import dev.loadline.guardbench.Options;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Connects again and again with the JDK's own client, which resumes by itself, and prints a CSV line for
 * each handshake: port, kind, version. JSSE shows a certificate to the trust manager in full handshakes
 * only: that tells the kind. One connection in four is made by a client that was never here.
 */
public final class JsseClient {
    private static final int TIMEOUT_MS = 10_000;

    private JsseClient() {
    }

    public static void main(String[] args) throws Exception {
        var options = new Options(args, "port", "count", "tls", "out");
        int count = options.number("count", 100);
        int port = options.number("port", 0);
        String[] versions = switch (options.text("tls", "both")) {
            case "1.2" -> new String[] {"TLSv1.2"};
            case "1.3" -> new String[] {"TLSv1.3"};
            default -> new String[] {"TLSv1.3", "TLSv1.2"};
        };
        var random = new Random(1);
        var trust = new Watching();
        SSLContext context = context(trust);
        try (var out = new PrintWriter(options.text("out", "jsse.csv"))) {
            out.println("port,kind,version");
            for (int i = 0; i < count; i++) {
                if (random.nextInt(4) == 0) {
                    context = context(trust);
                }
                connect(context, trust, port, versions, out);
            }
        }
    }

    private static void connect(SSLContext context, Watching trust, int port, String[] versions, PrintWriter out) throws IOException {
        trust.shown = false;
        try (Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
             SSLSocket tls = (SSLSocket) context.getSocketFactory().createSocket(plain, "localhost", port, true)) {
            tls.setSoTimeout(TIMEOUT_MS);
            tls.setEnabledProtocols(versions);
            tls.startHandshake();
            out.printf("%d,%s,%s%n", plain.getLocalPort(), trust.shown ? "full" : "resumed", tls.getSession().getProtocol());
            tls.getOutputStream().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            // Reading to the end takes in the tickets that TLS 1.3 sends after its handshake.
            tls.getInputStream().readAllBytes();
        }
    }

    private static SSLContext context(TrustManager trust) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {trust}, null);
        return context;
    }

    /** Trusts whom it is shown, on the loopback interface, and remembers that it was shown someone. */
    private static final class Watching extends X509ExtendedTrustManager {
        private boolean shown;

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {
            shown = true;
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
            shown = true;
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {
            shown = true;
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {
            throw new UnsupportedOperationException("this is a client");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
            throw new UnsupportedOperationException("this is a client");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {
            throw new UnsupportedOperationException("this is a client");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
