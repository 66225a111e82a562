package dev.loadline.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.auction.web.ConnectorExtension;
import dev.loadline.bed.KeyStoreFile;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.security.interfaces.RSAPublicKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AuctionTest {
    private static Auction auction;
    private static Browser browser;

    @BeforeAll
    static void start() throws Exception {
        auction = Auction.start(Config.defaults().port(0).httpPort(0).size(800, 200, 60));
        browser = new Browser(auction.port());
    }

    @AfterAll
    static void stop() throws Exception {
        auction.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        /                             | home       | How to bid
        /browse                       | browse     | By region
        /categories                   | categories | /search?category=20
        /categories?region=3          | categories | Categories in Antwerp
        /regions                      | regions    | /categories?region=62
        /search?category=3            | search     | page=1">Next page
        /search?category=3&page=1     | search     | page=0">Previous page
        /search?category=3&region=5   | search     | Business and office in Barcelona
        /item?id=17                   | item       | , no. 17</h1>
        /bids?item=17                 | bids       | , no. 17</h1>
        /user?id=7                    | user       | Member since
        /about.html                   | about      | What it is not
        /register                     | register   | Valencia
        /sell                         | sell       | password
        /me/login                     | me-login   | password
        /item?id=850                  | item       | This auction has ended
        /bids?item=850                | bids       | no longer kept
        /bid/login?item=17            | bid-login  | , no. 17
        /buy/login?item=17            | buy-login  | , no. 17
        /comment/login?to=7&item=17   | comment-login | , no. 17
        """)
    void everyPageAnswersWithItsMarkerAndContent(String path, String marker, String content) throws Exception {
        var response = browser.get(path);
        assertEquals(200, response.statusCode());
        assertTrue(response.body().contains("<body id=\"" + marker + "\">"), () -> path + " lacks its marker");
        assertTrue(response.body().contains(content), () -> path + " lacks " + content);
        assertTrue(response.body().endsWith("</html>\n"));
        int bytes = response.body().length();
        assertTrue(bytes >= 2000 && bytes <= 10_000, path + " has " + bytes + " bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/item?id=1001", "/bids?item=1001", "/bid/login?item=1001", "/user?id=61", "/search?category=21",
        "/search?category=1&region=63", "/categories?region=63", "/nothing", "/images/none.png"})
    void whatIsNotThereIs404WithTheErrorPage(String path) throws Exception {
        var response = browser.get(path);
        assertEquals(404, response.statusCode());
        assertTrue(response.body().contains("<body id=\"error\">"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/item", "/item?id=", "/item?id=x", "/item?id=0", "/item?id=-1", "/item?id=99999999999",
        "/bids?item=1.5", "/user?id=%3Cscript%3E", "/search", "/search?category=1&page=-1", "/search?category=1&page=1000001",
        "/search?category=1&region=0", "/categories?region=all"})
    void aBadParameterIs400WithTheErrorPage(String path) throws Exception {
        var response = browser.get(path);
        assertEquals(400, response.statusCode());
        assertTrue(response.body().contains("<body id=\"error\">"));
        assertFalse(response.body().contains("<script"));
    }

    @Test
    void everyLinkOfEveryPageLeadsSomewhere() throws Exception {
        var links = Pattern.compile("(?:href|src)=\"([^\"]+)\"");
        var seen = new HashSet<String>();
        for (String page : new String[] {"/", "/browse", "/categories", "/categories?region=3", "/regions",
            "/search?category=3", "/item?id=17", "/bids?item=17", "/user?id=7", "/about.html", "/register", "/sell", "/me/login"}) {
            var match = links.matcher(browser.get(page).body());
            while (match.find()) {
                String link = match.group(1).replace("&amp;", "&");
                if (seen.add(link)) {
                    assertEquals(200, browser.get(link).statusCode(), link + " on " + page);
                }
            }
        }
        assertTrue(seen.size() > 100, "only " + seen.size() + " links");
    }

    @Test
    void imagesAreCacheable() throws Exception {
        var first = browser.get("/images/photo-3.png");
        assertEquals("public, max-age=86400", first.headers().firstValue("Cache-Control").orElseThrow());
        String tag = first.headers().firstValue("ETag").orElseThrow();
        assertEquals(304, browser.get("/images/photo-3.png", "If-None-Match", tag).statusCode());
        assertEquals(200, browser.get("/images/photo-4.png", "If-None-Match", tag).statusCode());
    }

    @Test
    void aVisitorIsRemembered() throws Exception {
        var visitor = new Browser(auction.port());
        String cookie = visitor.get("/categories").headers().firstValue("Set-Cookie").orElseThrow();
        assertTrue(cookie.startsWith("JSESSIONID=") && cookie.contains("Secure") && cookie.contains("HttpOnly")
            && cookie.contains("SameSite=Lax"), cookie);
        visitor.get("/item?id=5");
        assertTrue(visitor.get("/item?id=6").body().contains("/item?id=5"));
        assertFalse(new Browser(auction.port()).get("/item?id=6").body().contains("/item?id=5"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void bothTlsVersionsAreSpoken(String protocol) throws Exception {
        var response = new Browser(auction.port(), protocol).get("/");
        assertEquals(200, response.statusCode());
        assertEquals(protocol, response.sslSession().orElseThrow().getProtocol());
    }

    @Test
    void plainHttpIsServedWhenAsked() throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + auction.httpPort() + "/regions")).build();
        assertEquals(200, HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode());
    }

    @ParameterizedTest
    @CsvSource({"V1_2, RSA, TLSv1.2, TLSv1.3, RSA", "V1_3, EC, TLSv1.3, TLSv1.2, EC"})
    void oneVersionAndEitherKeyCanBeAskedFor(Config.Tls tls, KeyStoreFile.Key key, String spoken, String refused, String algorithm)
        throws Exception {
        try (var site = Auction.start(Config.defaults().port(0).size(5, 5, 5).tls(tls).key(key))) {
            var session = new Browser(site.port(), spoken).get("/").sslSession().orElseThrow();
            assertEquals(spoken, session.getProtocol());
            assertEquals(algorithm, session.getPeerCertificates()[0].getPublicKey().getAlgorithm());
            assertThrows(IOException.class, () -> new Browser(site.port(), refused).get("/"));
        }
    }

    private static String negotiated(int port) throws Exception {
        try (var socket = (SSLSocket) Browser.trustAll().getSocketFactory().createSocket("127.0.0.1", port)) {
            var parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            return socket.getApplicationProtocol();
        }
    }

    @Test
    void http2IsOfferedWhenAskedForAndOnlyThen() throws Exception {
        assertEquals("", negotiated(auction.port()));
        try (var site = Auction.start(Config.defaults().port(0).size(5, 5, 5).http2(true))) {
            assertEquals("h2", negotiated(site.port()));
        }
    }

    @Test
    void theCertificateIsForLocalhost() throws Exception {
        var certificate = (X509Certificate) browser.get("/").sslSession().orElseThrow().getPeerCertificates()[0];
        certificate.checkValidity();
        certificate.verify(certificate.getPublicKey());
        assertEquals(2048, ((RSAPublicKey) certificate.getPublicKey()).getModulus().bitLength());
        assertEquals("[[2, localhost], [7, 127.0.0.1]]", certificate.getSubjectAlternativeNames().toString());
    }

    @Test
    void aConnectorExtensionSeesEachConnectorBeforeItOpens() throws Exception {
        var seen = new ArrayList<String>();
        ConnectorExtension extension = connector -> {
            seen.add(connector.getScheme() + " " + connector.getState().isAvailable());
            connector.setProperty("maxKeepAliveRequests", "1");
        };
        try (var site = Auction.start(Config.defaults().port(0).httpPort(0).size(5, 5, 5), List.of(extension))) {
            assertEquals(List.of("https false", "http false"), seen);
            assertEquals("close", new Browser(site.port()).get("/").headers().firstValue("Connection").orElse(""));
        }
    }

    @Test
    void anEcSiteShowsAnEcCertificateAndLeavesNothingBehind(@TempDir Path work) throws Exception {
        var site = Auction.start(Config.defaults().port(0).size(5, 5, 5).key(KeyStoreFile.Key.EC).work(work));
        int port = site.port();
        try {
            var session = new Browser(port).get("/").sslSession().orElseThrow();
            assertEquals("EC", session.getPeerCertificates()[0].getPublicKey().getAlgorithm());
            assertTrue(Files.exists(site.workPath().resolve("keystore.p12")));
        } finally {
            site.close();
        }
        try (var left = Files.list(work)) {
            assertEquals(0, left.count());
        }
        assertThrows(IOException.class, () -> new Browser(port).get("/"));
    }

    @Test
    void aPortInUseIsAnErrorThatNamesTheOption(@TempDir Path work) throws Exception {
        var config = Config.defaults().port(auction.port()).size(5, 5, 5).work(work);
        var error = assertThrows(IOException.class, () -> Auction.start(config));
        assertTrue(error.getMessage().contains("--port"), error.getMessage());
        try (var left = Files.list(work)) {
            assertEquals(0, left.count());
        }
    }
}
