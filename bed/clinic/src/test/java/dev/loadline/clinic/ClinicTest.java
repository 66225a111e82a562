package dev.loadline.clinic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;

class ClinicTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static ServletWebServerApplicationContext site;

    @BeforeAll
    static void start() {
        site = start("--clinic.owners=200");
    }

    @AfterAll
    static void stop() {
        site.close();
    }

    private static ServletWebServerApplicationContext start(String... options) {
        String[] all = Arrays.copyOf(options, options.length + 1);
        all[options.length] = "--server.port=0";
        return (ServletWebServerApplicationContext) SpringApplication.run(Clinic.class, all);
    }

    private static URI at(String path) {
        return URI.create("http://127.0.0.1:" + site.getWebServer().getPort() + path);
    }

    private static HttpResponse<String> get(String path) throws Exception {
        return CLIENT.send(HttpRequest.newBuilder(at(path)).build(), BodyHandlers.ofString());
    }

    private static HttpResponse<String> post(String path, String form) throws Exception {
        var request = HttpRequest.newBuilder(at(path)).header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(form)).build();
        return CLIENT.send(request, BodyHandlers.ofString());
    }

    @ParameterizedTest
    @CsvSource({"/,home", "/find,find", "/owners?name=J,owners", "/owners?page=20,owners", "/owners/7,owner", "/owners/7/edit,owner-form",
        "/owners/1/pets/1/visits/new,visit-form", "/new-owner,owner-form", "/vets,vets"})
    void eachPageAnswersUnderItsOwnNameAndMakesNoSession(String path, String id) throws Exception {
        var page = get(path);
        assertEquals(200, page.statusCode());
        assertTrue(page.body().contains("<body id=\"" + id + "\">"), page.body());
        assertTrue(page.headers().firstValue("Set-Cookie").isEmpty());
    }

    @Test
    void aListHasTenOwnersAndLinksToTheOtherPages() throws Exception {
        String page = get("/owners?page=2").body();
        assertEquals(10, Pattern.compile("href=\"/owners/\\d+\"").matcher(page).results().count());
        assertTrue(page.contains("200 in all"), page);
        assertTrue(page.contains("href=\"/owners?name=&amp;page=3\""), page);
    }

    @Test
    void aSearchFindsThoseWhoseLastNameBeginsSo() throws Exception {
        var names = Pattern.compile("href=\"/owners/\\d+\">(\\w+),").matcher(get("/owners?name=J").body()).results().map(m -> m.group(1)).toList();
        assertFalse(names.isEmpty());
        assertTrue(names.stream().allMatch("Janssen"::equals), names.toString());
        assertTrue(get("/owners?name=Nobody").body().contains("No owner's name begins so."));
    }

    @Test
    void aChangedOwnerIsShownChangedAndKeepsWhatTheFormLeftOut() throws Exception {
        var saved = post("/owners/9/edit", "address=12+New+Street&telephone=0123456789&id=10");
        assertEquals(302, saved.statusCode());
        assertEquals("/owners/9", URI.create(saved.headers().firstValue("Location").orElseThrow()).getPath());
        String page = get("/owners/9").body();
        assertTrue(page.contains("12 New Street") && page.contains("0123456789"), page);
        assertTrue(page.contains("/pets/"), page);
    }

    @Test
    void aFormThatIsWrongComesBackWithTheReason() throws Exception {
        var page = post("/owners/9/edit", "telephone=12");
        assertEquals(200, page.statusCode());
        assertTrue(page.body().contains("must have ten digits"), page.body());
    }

    @Test
    void aNewOwnerHasAPageAndANewVisitIsOnIt() throws Exception {
        var saved = post("/new-owner", "firstName=Lotte&lastName=Zander&address=1&city=Emden&telephone=0123456789");
        assertEquals(302, saved.statusCode());
        assertTrue(get("/owners?name=Zander").body().contains("Zander, Lotte"));
        assertEquals(302, post("/owners/1/pets/1/visits/new", "day=2026-02-03&description=a+test").statusCode());
        String page = get("/owners/1").body();
        assertTrue(page.contains("2026-02-03") && page.contains("a test"), page);
    }

    @Test
    void whatDoesNotExistIsNotFound() throws Exception {
        assertEquals(404, get("/owners/100000").statusCode());
        assertEquals(404, get("/owners/2/pets/1/visits/new").statusCode());
    }

    @Test
    void healthIsUp() throws Exception {
        assertTrue(get("/actuator/health").body().contains("\"status\":\"UP\""));
    }

    @Test
    void withTlsAndVirtualThreadsItServesUnderACertificateForLocalhost() throws Exception {
        try (var other = start("--clinic.owners=5", "--clinic.tls=true", "--spring.threads.virtual.enabled=true")) {
            int port = other.getWebServer().getPort();
            var shown = certificate(port);
            var trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("site", shown);
            var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            var context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            var client = HttpClient.newBuilder().sslContext(context).build();
            var page = client.send(HttpRequest.newBuilder(URI.create("https://localhost:" + port + "/owners/1")).build(), BodyHandlers.ofString());
            assertEquals(200, page.statusCode());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"disk", "few-permits", "few-workers", "gc-pressure", "hot-lock", "leak", "pinned", "shared-connection", "slow-database", "slow-service", "slow-sql"})
    void withAFaultItServesAllTheSame(String fault) throws Exception {
        try (var other = start("--clinic.owners=5", "--clinic.fault=" + fault, "--spring.sql.init.mode=always")) {
            var planted = Arrays.stream(other.getBeanDefinitionNames()).filter(name -> !name.equals("chosen"))
                .map(name -> other.getType(name)).filter(type -> type != null && type.getPackageName().endsWith(".clinic.fault")).toList();
            assertEquals(1, planted.size(), planted.toString());
            var page = URI.create("http://127.0.0.1:" + other.getWebServer().getPort() + "/owners/1");
            assertEquals(200, CLIENT.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString()).statusCode());
        }
    }

    @Test
    void aFaultThatDoesNotExistIsRefused() {
        var refused = assertThrows(BeanCreationException.class, () -> start("--clinic.fault=slow-sqll").close());
        String said = refused.getMostSpecificCause().getMessage();
        assertTrue(said.contains("clinic.fault is slow-sqll; it must be one of disk, few-permits, few-workers"), said);
    }

    /** What the server shows, whoever vouches for it. */
    private static Certificate certificate(int port) throws Exception {
        var context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new AnyCertificate()}, null);
        try (var socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port)) {
            return socket.getSession().getPeerCertificates()[0];
        }
    }

    @Test
    void itTellsItsPortAndEndsWhenItsTimeIsUp(@TempDir Path dir) throws Exception {
        Path portFile = dir.resolve("port");
        var process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
            System.getProperty("java.class.path"), Clinic.class.getName(), "--server.port=0", "--clinic.owners=5",
            "--clinic.max-seconds=2", "--clinic.port-file=" + portFile).redirectErrorStream(true).redirectOutput(dir.resolve("log").toFile()).start();
        try {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
            while (!Files.exists(portFile) && process.isAlive() && System.nanoTime() < end) {
                Thread.sleep(20);
            }
            int port = Integer.parseInt(Files.readString(portFile).strip());
            var home = CLIENT.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/")).build(), BodyHandlers.ofString());
            assertEquals(200, home.statusCode());
            assertTrue(process.waitFor(60, TimeUnit.SECONDS));
            assertEquals(0, process.exitValue());
            assertFalse(Files.exists(portFile));
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
