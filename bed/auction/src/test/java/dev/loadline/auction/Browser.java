package dev.loadline.auction;

import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.cert.X509Certificate;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.X509ExtendedTrustManager;

/** A client for tests that trusts the site's self-signed certificate and keeps cookies. */
final class Browser {
    private final HttpClient client;
    private final int port;

    Browser(int port, String... protocols) throws Exception {
        this.port = port;
        var context = SSLContext.getInstance("TLS");
        context.init(null, new X509ExtendedTrustManager[] {new TrustAll()}, null);
        var parameters = new SSLParameters();
        if (protocols.length > 0) {
            parameters.setProtocols(protocols);
        }
        client = HttpClient.newBuilder().sslContext(context).sslParameters(parameters)
            .cookieHandler(new CookieManager()).connectTimeout(Duration.ofSeconds(10)).build();
    }

    HttpResponse<String> get(String path, String... headers) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + path)).timeout(Duration.ofSeconds(20));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static final class TrustAll extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
        }

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
    }
}
