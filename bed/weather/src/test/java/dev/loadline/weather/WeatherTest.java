package dev.loadline.weather;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.weather.service.Middleware;
import dev.loadline.weather.web.Site;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The whole service, over HTTP and GIOP. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WeatherTest {
    private static final Pattern PICTURE = Pattern.compile("src=\"(/radar/[^\"]+)\"");
    private static final Logger ROOT = Logger.getLogger("");

    private final HttpClient browser = HttpClient.newHttpClient();

    @BeforeAll
    static void quiet() {
        ROOT.setLevel(Level.SEVERE);
    }

    private static URI at(Site site, String path) {
        return URI.create("http://127.0.0.1:" + site.port() + path);
    }

    private HttpResponse<byte[]> get(Site site, String path) throws Exception {
        return browser.send(HttpRequest.newBuilder(at(site, path)).build(), BodyHandlers.ofByteArray());
    }

    private static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    @Test
    void aVisitorGetsAForecastAndItsPicture() throws Exception {
        try (var middleware = new Middleware(2, 0, 0); var site = new Site(0, 10, 0, middleware.location(), middleware.weather())) {
            HttpResponse<byte[]> page = get(site, "/forecast?phone=0612345678");
            assertEquals(200, page.statusCode(), text(page));
            assertTrue(text(page).contains("<body id=\"forecast\">"), text(page));
            assertEquals(2_500, page.body().length, 500, "bytes of a page");
            Matcher picture = PICTURE.matcher(text(page));
            assertTrue(picture.find(), text(page));
            HttpResponse<byte[]> radar = get(site, picture.group(1));
            assertEquals(200, radar.statusCode());
            assertEquals("image/png", radar.headers().firstValue("Content-Type").orElseThrow());
            assertEquals(25_000, radar.body().length, 2_500, "bytes of a picture");
            assertEquals(Base64.getEncoder().encodeToString(MessageDigest.getInstance("MD5").digest(radar.body())), radar.headers().firstValue("Content-MD5").orElseThrow());

            String again = text(get(site, "/forecast?phone=0612345678"));
            assertEquals(text(page).replaceAll("/radar/[^\"]+", ""), again.replaceAll("/radar/[^\"]+", ""), "the same phone, the same forecast");
            assertFalse(again.contains(picture.group(1)), "a picture belongs to one page");

            assertEquals(404, get(site, "/forecast?phone=112").statusCode(), "a phone that nobody has");
            assertEquals(400, get(site, "/forecast").statusCode());
            assertEquals(4, get(site, "/radar/..%2F..%2Fetc%2Fpasswd").statusCode() / 100, "a path out of the folder");
            assertEquals(404, get(site, "/radar/00000000000000000000000000000000").statusCode());
        }
    }

    /** Two threads that take 100 ms each serve six visitors in three turns. */
    @Test
    void theLocationServersThreadsAreWhatRunsOut() throws Exception {
        long locateNs = TimeUnit.MILLISECONDS.toNanos(100);
        try (var middleware = new Middleware(2, locateNs, 0); var site = new Site(0, 10, 0, middleware.location(), middleware.weather())) {
            assertEquals(200, get(site, "/forecast?phone=0612345678").statusCode());
            long begin = System.nanoTime();
            List<CompletableFuture<HttpResponse<byte[]>>> visits = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                visits.add(browser.sendAsync(HttpRequest.newBuilder(at(site, "/forecast?phone=061234567" + i)).build(), BodyHandlers.ofByteArray()));
            }
            for (CompletableFuture<HttpResponse<byte[]>> visit : visits) {
                assertEquals(200, visit.get().statusCode());
            }
            long took = System.nanoTime() - begin;
            assertTrue(took >= 3 * locateNs, "took " + took / 1e6 + " ms");
        }
    }

    @Test
    void aServerThatIsAwayIsABadGateway() throws Exception {
        var middleware = new Middleware(1, 0, 0);
        try (var site = new Site(0, 10, 0, middleware.location(), middleware.weather())) {
            assertEquals(200, get(site, "/forecast?phone=0612345678").statusCode());
            middleware.close();
            assertEquals(502, get(site, "/forecast?phone=0612345678").statusCode());
        }
    }
}
