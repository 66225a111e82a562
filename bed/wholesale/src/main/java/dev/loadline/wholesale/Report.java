package dev.loadline.wholesale;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** A run's points as a table and as JSON. */
final class Report {
    private Report() {
    }

    static String heading() {
        return String.format(Locale.ROOT, "%10s %14s %14s   %s", "warehouses", "transactions/s", "per warehouse", "new-order p50, p95, p99, max (ms)");
    }

    static String line(Point point) {
        Histogram orders = point.durations().get(Transaction.Type.NEW_ORDER);
        return String.format(Locale.ROOT, "%10d %14.0f %14.0f   %.3f  %.3f  %.3f  %.1f", point.warehouses(), point.perSecond(),
            point.perSecond() / point.warehouses(), orders.getValueAtPercentile(50) / 1e6, orders.getValueAtPercentile(95) / 1e6,
            orders.getValueAtPercentile(99) / 1e6, orders.getMaxValue() / 1e6);
    }

    /** Transactions/s, the mean over the points from {@code cpus} to twice as many warehouses; NaN if none of them was measured. */
    static double mean(List<Point> points, int cpus) {
        return points.stream().filter(p -> p.warehouses() >= cpus && p.warehouses() <= 2 * cpus).mapToDouble(Point::perSecond).average().orElse(Double.NaN);
    }

    static String json(List<Point> points, int cpus, long seed) {
        String rows = points.stream().map(Report::json).collect(Collectors.joining(",\n    "));
        double mean = mean(points, cpus);
        return String.format(Locale.ROOT, "{\"jdk\": \"%s\", \"cpus\": %d, \"max_heap_mb\": %d, \"seed\": %d, \"mean_per_s\": %s,%n  \"points\": [%n    %s%n  ]}%n",
            Runtime.version(), cpus, Runtime.getRuntime().maxMemory() >> 20, seed, Double.isNaN(mean) ? "null" : String.format(Locale.ROOT, "%.1f", mean), rows);
    }

    private static String json(Point point) {
        String types = point.durations().entrySet().stream().map(e -> String.format(Locale.ROOT,
            "\"%s\": {\"count\": %d, \"mean_ms\": %.5f, \"p50_ms\": %.5f, \"p95_ms\": %.5f, \"p99_ms\": %.5f, \"max_ms\": %.3f}", e.getKey().label,
            e.getValue().getTotalCount(), e.getValue().getTotalCount() == 0 ? 0 : e.getValue().getMean() / 1e6, e.getValue().getValueAtPercentile(50) / 1e6,
            e.getValue().getValueAtPercentile(95) / 1e6, e.getValue().getValueAtPercentile(99) / 1e6, e.getValue().getMaxValue() / 1e6))
            .collect(Collectors.joining(", "));
        return String.format(Locale.ROOT, "{\"warehouses\": %d, \"seconds\": %.3f, \"transactions\": %d, \"per_s\": %.1f, \"broken\": %d, \"types\": {%s}}",
            point.warehouses(), point.seconds(), point.transactions(), point.perSecond(), point.broken().size(), types);
    }
}
