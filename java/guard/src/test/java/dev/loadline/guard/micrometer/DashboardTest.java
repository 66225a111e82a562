package dev.loadline.guard.micrometer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The dashboard and the alerts of docs/guard ask for what there is. */
class DashboardTest {
    private static final Path DOCS = Path.of("../../docs/guard");
    private static final Pattern METRIC = Pattern.compile("loadline_guard_[a-z_]+");
    private static final Pattern VALUES = Pattern.compile("(?:kind|reason)=~?\\\\?\"([a-z_|]+)\\\\?\"");

    private final Set<String> metrics = new HashSet<>();
    private final Set<String> values = new HashSet<>();

    @BeforeEach
    void bind() {
        var registry = new SimpleMeterRegistry();
        new GuardMetrics(() -> null, "https").bindTo(registry);
        for (Meter meter : registry.getMeters()) {
            metrics.add(prometheus(meter.getId()));
            meter.getId().getTags().stream().map(Tag::getValue).forEach(values::add);
        }
    }

    /** As Micrometer's registry for Prometheus names them. */
    private static String prometheus(Meter.Id id) {
        String unit = id.getBaseUnit() == null ? "" : "_" + id.getBaseUnit();
        return id.getName().replace('.', '_') + unit + (id.getType() == Meter.Type.COUNTER ? "_total" : "");
    }

    @ParameterizedTest
    @ValueSource(strings = {"grafana.json", "alerts.yml"})
    void they_ask_for_metrics_that_there_are(String file) throws Exception {
        String text = Files.readString(DOCS.resolve(file));
        Set<String> asked = METRIC.matcher(text).results().map(MatchResult::group).collect(Collectors.toSet());
        assertTrue(asked.size() >= 4, asked::toString);
        asked.removeAll(metrics);
        assertTrue(asked.isEmpty(), file + " asks for " + asked + "; there are " + metrics);
        VALUES.matcher(text).results().flatMap(r -> Set.of(r.group(1).split("\\|")).stream())
            .forEach(value -> assertTrue(values.contains(value), file + " asks for the label value " + value));
    }

    @Test
    void the_dashboard_shows_every_metric() throws Exception {
        String text = Files.readString(DOCS.resolve("grafana.json"));
        var missing = new HashSet<>(metrics);
        missing.removeIf(text::contains);
        missing.remove("loadline_guard_waiting"); // the delay says the same in milliseconds
        assertTrue(missing.isEmpty(), "not shown: " + missing);
    }
}
