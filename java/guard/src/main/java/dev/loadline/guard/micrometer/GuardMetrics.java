package dev.loadline.guard.micrometer;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardMXBean;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Binds a guard's figures to a registry, under {@code loadline.guard.*} with the tag {@code connector}. May be bound
 * before there is a guard, as before the connector starts: gauges are NaN and counters 0 until then.
 */
public final class GuardMetrics implements MeterBinder {
    private final Supplier<Guard> guard;
    private final Tags tags;

    /**
     * @param guard asked with each reading, because a connector that is started again has another one; null while
     *     there is none: {@code protocol::guard}
     * @param connector value of the tag
     */
    public GuardMetrics(Supplier<Guard> guard, String connector) {
        this.guard = guard;
        tags = Tags.of("connector", connector);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(registry, "refusing", "1 while sessions are being refused", f -> f.isRefusing() ? 1 : 0);
        gauge(registry, "stalled", "1 while everybody is admitted because the guard's loop does not run", f -> f.isStalled() ? 1 : 0);
        gauge(registry, "cpus", "CPUs at hand", GuardMXBean::getCpus);
        gauge(registry, "cpus.offered", "CPUs that all who would begin sessions would take", GuardMXBean::getOfferedCpus);
        gauge(registry, "utilization", "share of the CPUs at hand that the process uses", GuardMXBean::getUtilization);
        gauge(registry, "waiting", "threads that wait for a CPU, per CPU", GuardMXBean::getWaiting);
        gauge(registry, "delay.ms", "delay that who begins a session sees before worker and CPU", GuardMXBean::getDelayMillis);
        gauge(registry, "target.delay.ms", "what of it is aimed at while refusing", GuardMXBean::getTargetDelayMillis);
        gauge(registry, "handshakes.waiting", "full handshakes that wait for their turn", GuardMXBean::getHandshakesWaiting);
        gauge(registry, "events.under.way", "events that a worker has, or that wait for one", GuardMXBean::getEventsUnderWay);
        gauge(registry, "correction", "factor of the closed loop", GuardMXBean::getCorrection);
        gauge(registry, "shed.level", "which requests are shed, 0 to 3", GuardMXBean::getShedLevel);
        gauge(registry, "connections.open", "open connections", GuardMXBean::getOpenConnections);
        gauge(registry, "new.per.interval", "new sessions that a second can carry", GuardMXBean::getNewPerInterval);
        cost(registry, "new", GuardMXBean::getNewCostMillis);
        cost(registry, "resumed", GuardMXBean::getResumedCostMillis);
        cost(registry, "failed", GuardMXBean::getFailedCostMillis);
        handshakes(registry, "full", GuardMXBean::getFullHandshakes);
        handshakes(registry, "resumed", GuardMXBean::getResumedHandshakes);
        handshakes(registry, "failed", GuardMXBean::getFailedHandshakes);
        counter(registry, "requests", "requests seen", Tags.empty(), GuardMXBean::getRequests);
        sessions(registry, "new", GuardMXBean::getNewSessions);
        sessions(registry, "returning", GuardMXBean::getReturningSessions);
        refused(registry, "budget", GuardMXBean::getRefusedByBudget);
        refused(registry, "ceiling", GuardMXBean::getRefusedByCeiling);
        refused(registry, "bad_claim", GuardMXBean::getRefusedBadClaims);
        refused(registry, "replay", GuardMXBean::getRefusedReplays);
        refused(registry, "address", GuardMXBean::getRefusedAddresses);
        refused(registry, "not_tls", GuardMXBean::getRefusedNotTls);
        refused(registry, "slow_hello", GuardMXBean::getRefusedSlowHellos);
        refused(registry, "shed_request", GuardMXBean::getShedRequests);
        counter(registry, "probes", "connections let in to ask for a health path", Tags.empty(), GuardMXBean::getProbes);
        counter(registry, "errors", "exceptions inside the guard", Tags.empty(), GuardMXBean::getErrors);
    }

    /**
     * A meter refers to what it reads weakly, and to its function strongly: the function keeps the supplier, which
     * nobody else may ({@code protocol::guard} is an object of its own), or all would fall silent with a collection.
     */
    private ToDoubleFunction<Supplier<Guard>> of(ToDoubleFunction<GuardMXBean> figure, double otherwise) {
        return weakly -> {
            Guard now = guard.get();
            return now == null ? otherwise : figure.applyAsDouble(now.figures());
        };
    }

    private void gauge(MeterRegistry registry, String name, String text, ToDoubleFunction<GuardMXBean> value) {
        Gauge.builder("loadline.guard." + name, guard, of(value, Double.NaN)).description(text).tags(tags).register(registry);
    }

    private void cost(MeterRegistry registry, String kind, ToDoubleFunction<GuardMXBean> millis) {
        Gauge.builder("loadline.guard.cost", guard, of(f -> millis.applyAsDouble(f) / 1e3, Double.NaN)).baseUnit("seconds")
            .description("CPU time of a connection over its life").tags(tags.and("kind", kind)).register(registry);
    }

    private void handshakes(MeterRegistry registry, String kind, ToDoubleFunction<GuardMXBean> count) {
        counter(registry, "handshakes", "handshakes", Tags.of("kind", kind), count);
    }

    private void sessions(MeterRegistry registry, String kind, ToDoubleFunction<GuardMXBean> count) {
        counter(registry, "sessions", "sessions that began with a request", Tags.of("kind", kind), count);
    }

    private void refused(MeterRegistry registry, String reason, ToDoubleFunction<GuardMXBean> count) {
        counter(registry, "refused", "connections and requests refused", Tags.of("reason", reason), count);
    }

    private void counter(MeterRegistry registry, String name, String text, Tags more, ToDoubleFunction<GuardMXBean> count) {
        FunctionCounter.builder("loadline.guard." + name, guard, of(count, 0)).description(text).tags(tags.and(more))
            .register(registry);
    }
}
