package dev.loadline.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.regex.Pattern;
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
        auction = Auction.start(Config.defaults().port(0).httpPort(0).size(800, 60));
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
    @ValueSource(strings = {"/item?id=801", "/bids?item=801", "/user?id=61", "/search?category=21",
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
            "/search?category=3", "/item?id=17", "/bids?item=17", "/user?id=7", "/about.html"}) {
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
        String cookie = visitor.get("/").headers().firstValue("Set-Cookie").orElseThrow();
        assertTrue(cookie.startsWith("JSESSIONID=") && cookie.contains("Secure") && cookie.contains("HttpOnly"), cookie);
        visitor.get("/item?id=5");
        assertTrue(visitor.get("/").body().contains("/item?id=5"));
        assertFalse(new Browser(auction.port()).get("/").body().contains("/item?id=5"));
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

    @Test
    void anEcSiteShowsAnEcCertificateAndLeavesNothingBehind(@TempDir Path work) throws Exception {
        var site = Auction.start(Config.defaults().port(0).size(5, 5).key(Config.Key.EC).work(work));
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
        var config = Config.defaults().port(auction.port()).size(5, 5).work(work);
        var error = assertThrows(IOException.class, () -> Auction.start(config));
        assertTrue(error.getMessage().contains("--port"), error.getMessage());
        try (var left = Files.list(work)) {
            assertEquals(0, left.count());
        }
    }
}
