package dev.loadline.guard.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.Guard;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.RequestView;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import javax.management.ObjectName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.ConfigurableWebServerFactory;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application that has the starter on its class path and nothing else of the guard. */
class StarterTest {
    @TempDir
    static Path folder;
    private static Path keys;

    @EnableAutoConfiguration
    @RestController
    static class Shop {
        @GetMapping("/")
        String home() {
            return "welcome";
        }
    }

    static class OwnTls implements WebServerFactoryCustomizer<ConfigurableWebServerFactory> {
        @Override
        public void customize(ConfigurableWebServerFactory factory) {
            var ssl = new Ssl();
            ssl.setKeyStore(keys.toUri().toString());
            ssl.setKeyStorePassword("secret");
            factory.setSsl(ssl);
        }
    }

    @BeforeAll
    static void makeKeys() throws Exception {
        keys = folder.resolve("keys.p12");
        int code = new ProcessBuilder(System.getProperty("java.home") + "/bin/keytool", "-genkeypair", "-alias", "shop", "-keyalg", "EC",
            "-dname", "CN=localhost", "-validity", "2", "-storetype", "PKCS12", "-storepass", "secret", "-keystore", keys.toString())
            .inheritIO().start().waitFor();
        assertEquals(0, code);
    }

    private static ConfigurableApplicationContext start(String... properties) {
        List<String> arguments = new ArrayList<>(List.of("--server.port=0", "--management.endpoints.web.exposure.include=health,loadlineguard"));
        for (String property : properties) {
            arguments.add("--" + property);
        }
        return SpringApplication.run(Shop.class, arguments.toArray(String[]::new));
    }

    private static String[] tls(String... more) {
        List<String> all = new ArrayList<>(List.of("server.ssl.key-store=" + keys, "server.ssl.key-store-password=secret"));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    private static HttpResponse<String> call(ConfigurableApplicationContext shop, String path, String body) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new AnyCertificate()}, null);
        String port = shop.getEnvironment().getProperty("local.server.port");
        var request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + path));
        if (body != null) {
            request.header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
        }
        return HttpClient.newBuilder().sslContext(context).build().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void a_dependency_is_enough() throws Exception {
        try (var shop = start(tls("loadline.guard.objective=p99=400ms"))) {
            assertEquals("welcome", call(shop, "/", null).body());
            String said = call(shop, "/actuator/loadlineguard", null).body();
            assertTrue(said.contains("\"guarded\":true") && said.contains("\"objective\":\"p99=400ms\""), said);
            assertTrue(said.contains("\"mode\":\"enforce\"") && said.contains("\"fullHandshakes\":"), said);
            assertEquals(200, call(shop, "/actuator/health", null).statusCode());
            double handshakes = shop.getBean(MeterRegistry.class).get("loadline.guard.handshakes").tag("kind", "full").functionCounter().count();
            assertTrue(handshakes >= 3, handshakes + " full handshakes");
        }
    }

    @Test
    void mode_and_objective_change_while_it_runs() throws Exception {
        try (var shop = start(tls())) {
            assertEquals(200, call(shop, "/actuator/loadlineguard/mode", "{\"value\": \"observe\"}").statusCode());
            assertEquals(200, call(shop, "/actuator/loadlineguard/objective", "{\"value\": \"p95=1.5s\"}").statusCode());
            String said = call(shop, "/actuator/loadlineguard", null).body();
            assertTrue(said.contains("\"mode\":\"observe\"") && said.contains("\"objective\":\"p95=1500ms\""), said);
            HttpResponse<String> wrong = call(shop, "/actuator/loadlineguard/mode", "{\"value\": \"sometimes\"}");
            assertEquals(400, wrong.statusCode());
            assertEquals(400, call(shop, "/actuator/loadlineguard/helloTimeout", "{\"value\": \"1s\"}").statusCode());
        }
    }

    @Test
    void it_can_be_left_out() throws Exception {
        try (var shop = start(tls("loadline.guard.enabled=false"))) {
            assertEquals("welcome", call(shop, "/", null).body());
            assertEquals(404, call(shop, "/actuator/loadlineguard", null).statusCode());
        }
        try (var plain = start("loadline.guard.requests=off")) {
            assertEquals("welcome", ask(plain, "/"));
            assertEquals("{\"guarded\":false}", ask(plain, "/actuator/loadlineguard"));
        }
    }

    private static String ask(ConfigurableApplicationContext plain, String path) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://localhost:" + plain.getEnvironment().getProperty("local.server.port") + path)).build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    @Test
    void without_tls_its_requests_are_guarded() throws Exception {
        try (var plain = start("loadline.guard.objective=p99=400ms")) {
            assertNull(plain.getBean(GuardedTomcats.class).protocol().orElseThrow().guard());
            assertEquals("welcome", ask(plain, "/"));
            String said = ask(plain, "/actuator/loadlineguard");
            assertTrue(said.contains("\"guards\":\"requests\"") && said.contains("\"objective\":\"p99=400ms\""), said);
            assertTrue(said.contains("\"newSessions\":1"), said);
            assertEquals(2, plain.getBean(MeterRegistry.class).get("loadline.guard.requests").functionCounter().count());
        }
    }

    static class ByCookie {
        @Bean
        RequestClassifier byCookie() {
            return new RequestClassifier() {
                @Override
                public String session(RequestView request, String claimed) {
                    return "everybody";
                }
            };
        }
    }

    @Test
    void a_bean_says_what_a_session_is() throws Exception {
        try (var plain = new SpringApplication(Shop.class, ByCookie.class).run("--server.port=0", "--management.endpoints.web.exposure.include=loadlineguard")) {
            assertEquals("welcome", ask(plain, "/"));
            assertEquals("welcome", ask(plain, "/"));
            String said = ask(plain, "/actuator/loadlineguard");
            assertTrue(said.contains("\"newSessions\":1") && said.contains("\"requests\":3"), said);
        }
    }

    @Test
    void with_tls_requests_are_left_to_the_connector_unless_they_are_to_be_guarded_too() throws Exception {
        try (var shop = start(tls())) {
            assertEquals("welcome", call(shop, "/", null).body());
            assertTrue(call(shop, "/actuator/loadlineguard", null).body().contains("\"guards\":\"connections\""));
            assertNull(ofRequests(shop));
        }
        try (var shop = start(tls("loadline.guard.requests=on", "server.http2.enabled=true"))) {
            assertEquals("welcome", call(shop, "/", null).body());
            assertEquals(1L, requestsOfStreams(), "a stream of HTTP/2 is the connector's");
            assertEquals(0, ofRequests(shop).figures().getRequests(), "and is not decided about twice");
        }
    }

    private static Object requestsOfStreams() throws Exception {
        var beans = ManagementFactory.getPlatformMBeanServer();
        var found = beans.queryNames(new ObjectName("dev.loadline:type=Guard,name=\"streams of *\""), null);
        return beans.getAttribute(found.iterator().next(), "Requests");
    }

    private static Guard ofRequests(ConfigurableApplicationContext shop) {
        return ((RequestsFilter) shop.getBean("loadlineGuardRequests", FilterRegistrationBean.class).getFilter()).guard();
    }

    /** TLS that the application sets up in code is in no property. */
    @Test
    void tls_of_the_applications_own_is_guarded_too() throws Exception {
        var application = new SpringApplication(Shop.class, OwnTls.class);
        try (var shop = application.run("--server.port=0", "--management.endpoints.web.exposure.include=loadlineguard")) {
            assertEquals("welcome", call(shop, "/", null).body());
            assertTrue(call(shop, "/actuator/loadlineguard", null).body().contains("\"guarded\":true"));
        }
    }

    @Test
    void a_wrong_property_keeps_the_application_from_starting() {
        Throwable wrong = assertThrows(Exception.class, () -> start(tls("loadline.guard.objective=soon")).close());
        while (wrong.getCause() != null) {
            wrong = wrong.getCause();
        }
        assertTrue(wrong.getMessage().contains("objective"), wrong.getMessage());
        Throwable when = assertThrows(Exception.class, () -> start("loadline.guard.requests=sometimes").close());
        while (when.getCause() != null) {
            when = when.getCause();
        }
        assertTrue(when.getMessage().contains("requests is 'sometimes'; it must be one of auto, on, off"), when.getMessage());
    }

    /** Its certificate was made a moment ago, by this test. */
    private static final class AnyCertificate extends X509ExtendedTrustManager {
        @Override public void checkClientTrusted(X509Certificate[] chain, String type) {}
        @Override public void checkServerTrusted(X509Certificate[] chain, String type) {}
        @Override public void checkClientTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}
        @Override public void checkServerTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}
        @Override public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}
        @Override public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}
        @Override public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
