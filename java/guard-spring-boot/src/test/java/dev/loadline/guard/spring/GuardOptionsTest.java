package dev.loadline.guard.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.Mode;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

class GuardOptionsTest {
    private static String options(Map<String, Object> properties) {
        var environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("test", properties));
        return GuardOptions.of(environment);
    }

    private static GuardSettings settings(Map<String, Object> properties) {
        return GuardSettings.of(options(properties));
    }

    @Test
    void properties_are_options_in_either_spelling_and_lists_too() {
        Map<String, Object> given = Map.of("loadline.guard.mode", "observe", "loadline.guard.retry-after", "7s",
            "loadline.guard.ticketReuse", "9", "loadline.guard.high[0]", "/pay", "loadline.guard.high[1]", "/checkout/**");
        GuardSettings read = settings(given);
        assertEquals(Mode.OBSERVE, read.mode());
        assertEquals(Duration.ofSeconds(7), read.retryAfter());
        assertEquals(9, read.ticketReuse());
        assertTrue(options(given).contains("high=/pay, /checkout/**"), options(given));
    }

    @Test
    void health_is_where_the_actuator_has_it() {
        String read = options(Map.of("server.servlet.context-path", "/shop", "management.endpoints.web.base-path", "manage/"));
        assertTrue(read.contains("/shop/manage/health/**"), read);
        assertTrue(read.contains("/healthz/**"), "the defaults go on to hold: " + read);
    }

    @Test
    void a_wrong_property_is_named() {
        var wrong = assertThrows(IllegalArgumentException.class, () -> settings(Map.of("loadline.guard.objective", "fast")));
        assertTrue(wrong.getMessage().contains("loadline.guard") && wrong.getMessage().contains("p95=250ms"), wrong.getMessage());
        assertThrows(IllegalArgumentException.class, () -> settings(Map.of("loadline.guard.modus", "off")));
    }

    @Test
    void on_and_off_are_what_yaml_makes_of_them_too() {
        assertEquals(Mode.OFF, settings(Map.of("loadline.guard.mode", false)).mode());
        assertEquals(GuardOptions.Requests.AUTO, requests("auto"));
        assertEquals(GuardOptions.Requests.ON, requests("true"));
        assertEquals(GuardOptions.Requests.OFF, requests("Off"));
        assertEquals(List.of("SID"), settings(Map.of("loadline.guard.requests", "on", "loadline.guard.session-cookies", "SID")).sessionCookies());
    }

    private static GuardOptions.Requests requests(String value) {
        var environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("test", Map.of("loadline.guard.requests", value)));
        return GuardOptions.requests(environment);
    }

    /** What editors complete is what there is. */
    @Test
    void every_option_has_its_metadata() throws Exception {
        String metadata;
        try (InputStream in = GuardOptions.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            metadata = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        for (GuardSettings.Described option : GuardSettings.described()) {
            String name = "\"loadline.guard." + option.key().replaceAll("([A-Z])", "-$1").toLowerCase(java.util.Locale.ROOT) + "\"";
            assertTrue(metadata.contains(name), "no metadata for " + name);
            String meaning = option.meaning().substring(1);
            assertTrue(metadata.contains(meaning), name + " means: " + meaning);
            assertTrue(option.byDefault().isEmpty() || metadata.contains("\"defaultValue\": \"" + option.byDefault() + "\""), name);
        }
    }
}
