package dev.loadline.guardbench.site;

import jakarta.servlet.ServletException;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Writes a CSV line each tenth of a second: CLOCK_MONOTONIC, replies with status 200 so far, and what the
 * guard says of itself, zero where there is none. The same for every protection, so that it favours none.
 */
final class ReplyCounts extends ValveBase {
    private static final int PERIOD_MS = 100;
    private static final List<String> ATTRIBUTES = List.of("Cpus", "RefusedNew", "RefusedClaims", "NewPerInterval", "Correction", "Waiting", "Utilization",
        "NewCostMillis", "ResumedCostMillis", "FullHandshakes", "ResumedHandshakes", "RefusedByBudget", "RefusedByCeiling",
        "RefusedBadClaims", "RefusedReplays", "RefusedAddresses", "ShedRequests", "EventsUnderWay", "Errors");

    private final LongAdder replies = new LongAdder();
    private final PrintWriter out;

    ReplyCounts(Path file) throws IOException {
        super(true);
        out = new PrintWriter(Files.newBufferedWriter(file), true);
        out.println("at_ns,replies," + String.join(",", ATTRIBUTES));
        Executors.newSingleThreadScheduledExecutor(task -> {
            var thread = new Thread(task, "reply-counts");
            thread.setDaemon(true);
            return thread;
        }).scheduleAtFixedRate(this::write, 0, PERIOD_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        getNext().invoke(request, response);
        if (response.getStatus() == 200) {
            replies.increment();
        }
    }

    private void write() {
        var line = new StringBuilder().append(System.nanoTime()).append(',').append(replies.sum());
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        try {
            var guards = beans.queryNames(new ObjectName("dev.loadline:type=Guard,*"), null);
            for (String attribute : ATTRIBUTES) {
                line.append(',').append(guards.isEmpty() ? 0 : beans.getAttribute(guards.iterator().next(), attribute));
            }
        } catch (JMException e) {
            line.append(",0".repeat(ATTRIBUTES.size())).append(" # ").append(e);
        }
        out.println(line);
    }
}
