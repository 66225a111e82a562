package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.micrometer.GuardMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The dashboard and the alerts speak of what a Prometheus would read from a guard, by its names and values. */
class DashboardTest {
    private static final Path DOCS = Path.of("../../docs/guard");

    private static String scraped() {
        var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Guard guard = new Guard("dashboard", GuardSettings.of(""));
        new GuardMetrics(() -> guard, "https").bindTo(registry);
        return registry.scrape();
    }

    private static Set<String> all(String regex, String text) {
        var found = new TreeSet<String>();
        Pattern.compile(regex).matcher(text).results().forEach(r -> found.add(r.group(1)));
        return found;
    }

    @ParameterizedTest
    @ValueSource(strings = {"grafana.json", "alerts.yml"})
    void everyFigureAndEveryReasonExists(String file) throws Exception {
        String text = Files.readString(DOCS.resolve(file));
        String scraped = scraped();
        Set<String> there = all("(?m)^(loadline_guard_\\w+)", scraped);
        Set<String> wanted = all("\\b(loadline_guard_\\w+)", text);
        assertTrue(wanted.size() > 5, wanted.toString());
        wanted.removeAll(there);
        assertEquals(Set.of(), wanted, "not among " + there);
        Set<String> reasons = all("reason=\"(\\w+)\"", scraped);
        all("reason=~?\\\\?\"([\\w|]+)", text).stream().flatMap(r -> Stream.of(r.split("\\|")))
            .forEach(r -> assertTrue(reasons.contains(r), r + " is not among " + reasons));
    }

    @Test
    void everyAlertHasItsPartOfTheRunbook() throws Exception {
        Set<String> alerts = all("alert: (\\w+)", Files.readString(DOCS.resolve("alerts.yml")));
        Set<String> places = all("runbook: runbook.md#(\\w+)", Files.readString(DOCS.resolve("alerts.yml")));
        assertEquals(alerts.stream().map(String::toLowerCase).toList(), places.stream().toList());
        String runbook = Files.readString(DOCS.resolve("runbook.md"));
        alerts.forEach(a -> assertTrue(runbook.lines().anyMatch(l -> l.startsWith("## ") && l.contains(a)), a));
    }
}
