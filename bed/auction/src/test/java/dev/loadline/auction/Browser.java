package dev.loadline.auction;

import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.X509ExtendedTrustManager;

/** A client for tests that trusts the site's self-signed certificate and keeps cookies. */
final class Browser {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private final HttpClient client;
    private final int port;

    Browser(int port, String... protocols) throws Exception {
        this.port = port;
        var context = trustAll();
        var parameters = new SSLParameters();
        if (protocols.length > 0) {
            parameters.setProtocols(protocols);
        }
        client = HttpClient.newBuilder().sslContext(context).sslParameters(parameters)
            .cookieHandler(new CookieManager()).connectTimeout(Duration.ofSeconds(10)).build();
    }

    static SSLContext trustAll() throws Exception {
        var context = SSLContext.getInstance("TLS");
        context.init(null, new X509ExtendedTrustManager[] {new TrustAll()}, null);
        return context;
    }

    HttpResponse<String> get(String path, String... headers) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + path)).timeout(PATIENCE);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Posts a form; the answer of a success is 303. */
    HttpResponse<String> post(String path, String... fields) throws Exception {
        var form = new StringBuilder();
        for (int i = 0; i < fields.length; i += 2) {
            form.append(i == 0 ? "" : "&").append(encoded(fields[i])).append('=').append(encoded(fields[i + 1]));
        }
        var request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + path)).timeout(PATIENCE)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(form.toString()));
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Posts a form and goes where it leads. */
    HttpResponse<String> postAndFollow(String path, String... fields) throws Exception {
        var answer = post(path, fields);
        if (answer.statusCode() != 303) {
            return answer;
        }
        return get(answer.headers().firstValue("Location").orElseThrow());
    }

    /** Logs in as a generated user. */
    Browser loggedIn(int user) throws Exception {
        postAndFollow("/me/login", "nickname", Integer.toString(user), "password", "password" + user);
        return this;
    }

    /** What the page's body is called. */
    static String marker(HttpResponse<String> page) {
        var marker = Pattern.compile("<body id=\"([a-z-]+)\">").matcher(page.body());
        return marker.find() ? marker.group(1) : "none, status " + page.statusCode();
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
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
