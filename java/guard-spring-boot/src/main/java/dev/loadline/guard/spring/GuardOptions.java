package dev.loadline.guard.spring;

import dev.loadline.guard.GuardSettings;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** From {@code loadline.guard.*} to the guard's options: {@code retry-after} is {@code retryAfter}. */
final class GuardOptions {
    static final String PREFIX = "loadline.guard";
    private static final String HEALTH = "health";
    private static final String REQUESTS = "requests";

    private GuardOptions() {}

    /**
     * The options as the connector takes them.
     *
     * @throws IllegalArgumentException naming the property and what is allowed, which ends the start of the application
     */
    static String of(Environment environment) {
        return table(environment).entrySet().stream().map(o -> o.getKey() + "=" + o.getValue()).collect(Collectors.joining("; "));
    }

    /** When requests are guarded: where no connector is, in any case, or never. */
    enum Requests { AUTO, ON, OFF }

    /** @throws IllegalArgumentException naming the property and what is allowed */
    static Requests requests(Environment environment) {
        String value = environment.getProperty(PREFIX + "." + REQUESTS, "auto").strip().toLowerCase(Locale.ROOT);
        return switch (value) {
            case "auto" -> Requests.AUTO;
            case "on", "true" -> Requests.ON; // what YAML makes of on
            case "off", "false" -> Requests.OFF;
            default -> throw new IllegalArgumentException("a property of " + PREFIX + ".* is wrong: " + REQUESTS + " is '" + value
                + "'; it must be one of auto, on, off");
        };
    }

    /**
     * The options by their names.
     *
     * @throws IllegalArgumentException naming the property and what is allowed
     */
    static Map<String, String> table(Environment environment) {
        Map<String, String> given = Binder.get(environment).bind(PREFIX, Bindable.mapOf(String.class, String.class))
            .orElse(Map.of());
        var options = new TreeMap<String, String>();
        // A list in YAML comes as high[0], high[1].
        new TreeMap<>(given).forEach((name, value) -> {
            String key = name.replaceAll("(\\[\\d+]|\\.\\d+)$", "").replace("-", "").toLowerCase(Locale.ROOT);
            options.merge(key, value, (a, b) -> a + ", " + b);
        });
        options.remove("enabled");
        options.remove(REQUESTS);
        options.computeIfPresent("mode", (key, mode) -> mode.equals("false") ? "off" : mode); // what YAML makes of off
        options.putIfAbsent(HEALTH, healthPaths(environment));
        try {
            GuardSettings.ofTable(options);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("a property of " + PREFIX + ".* is wrong: " + e.getMessage(), e);
        }
        return options;
    }

    /** The guard's defaults, and where this application's actuator has its health. */
    private static String healthPaths(Environment environment) {
        String byDefault = GuardSettings.described().stream().filter(o -> o.key().equals(HEALTH)).findFirst().orElseThrow().byDefault();
        Set<String> paths = new LinkedHashSet<>();
        paths.add(byDefault);
        String context = path(environment, "server.servlet.context-path", "") + path(environment, "spring.mvc.servlet.path", "");
        String base = path(environment, "management.endpoints.web.base-path", "/actuator");
        String health = path(environment, "management.endpoints.web.path-mapping.health", "/health");
        paths.add(context + base + health + "/**");
        paths.add(path(environment, "server.servlet.context-path", "") + "/livez");
        paths.add(path(environment, "server.servlet.context-path", "") + "/readyz");
        return String.join(", ", paths);
    }

    /** A property that is a path: with a slash before it and none behind. */
    private static String path(Environment environment, String property, String byDefault) {
        String value = environment.getProperty(property, byDefault).strip().replaceAll("/+$", "");
        return value.isEmpty() || value.startsWith("/") ? value : "/" + value;
    }
}
