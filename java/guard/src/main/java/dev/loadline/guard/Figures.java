package dev.loadline.guard;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** What a guard says of itself in JMX, by name: for who looks from outside by other ways, such as an actuator or {@code loadline guard}. */
public final class Figures {
    private record Figure(String name, Function<GuardMXBean, Object> of) {}

    /** All attributes of {@link GuardMXBean}; those first that say most. */
    private static final List<Figure> ALL = List.of(
        new Figure("mode", GuardMXBean::getMode),
        new Figure("objective", GuardMXBean::getObjective),
        new Figure("refusing", GuardMXBean::isRefusing),
        new Figure("stalled", GuardMXBean::isStalled),
        new Figure("cpus", GuardMXBean::getCpus),
        new Figure("cpusFrom", GuardMXBean::getCpusFrom),
        new Figure("utilization", GuardMXBean::getUtilization),
        new Figure("waiting", GuardMXBean::getWaiting),
        new Figure("delayMillis", GuardMXBean::getDelayMillis),
        new Figure("targetDelayMillis", GuardMXBean::getTargetDelayMillis),
        new Figure("newCostMillis", GuardMXBean::getNewCostMillis),
        new Figure("resumedCostMillis", GuardMXBean::getResumedCostMillis),
        new Figure("failedCostMillis", GuardMXBean::getFailedCostMillis),
        new Figure("learntFrom", GuardMXBean::getLearntFrom),
        new Figure("newPerInterval", GuardMXBean::getNewPerInterval),
        new Figure("offeredCpus", GuardMXBean::getOfferedCpus),
        new Figure("correction", GuardMXBean::getCorrection),
        new Figure("shedLevel", GuardMXBean::getShedLevel),
        new Figure("handshakesWaiting", GuardMXBean::getHandshakesWaiting),
        new Figure("eventsUnderWay", GuardMXBean::getEventsUnderWay),
        new Figure("connections", GuardMXBean::getConnections),
        new Figure("openConnections", GuardMXBean::getOpenConnections),
        new Figure("fullHandshakes", GuardMXBean::getFullHandshakes),
        new Figure("resumedHandshakes", GuardMXBean::getResumedHandshakes),
        new Figure("failedHandshakes", GuardMXBean::getFailedHandshakes),
        new Figure("vanished", GuardMXBean::getVanished),
        new Figure("claims", GuardMXBean::getClaims),
        new Figure("badClaims", GuardMXBean::getBadClaims),
        new Figure("exempted", GuardMXBean::getExempted),
        new Figure("requests", GuardMXBean::getRequests),
        new Figure("newSessions", GuardMXBean::getNewSessions),
        new Figure("returningSessions", GuardMXBean::getReturningSessions),
        new Figure("refusedNew", GuardMXBean::getRefusedNew),
        new Figure("refusedClaims", GuardMXBean::getRefusedClaims),
        new Figure("refusedByBudget", GuardMXBean::getRefusedByBudget),
        new Figure("refusedByCeiling", GuardMXBean::getRefusedByCeiling),
        new Figure("refusedBadClaims", GuardMXBean::getRefusedBadClaims),
        new Figure("refusedReplays", GuardMXBean::getRefusedReplays),
        new Figure("refusedAddresses", GuardMXBean::getRefusedAddresses),
        new Figure("refusedNotTls", GuardMXBean::getRefusedNotTls),
        new Figure("refusedSlowHellos", GuardMXBean::getRefusedSlowHellos),
        new Figure("shedRequests", GuardMXBean::getShedRequests),
        new Figure("pages", GuardMXBean::getPages),
        new Figure("probes", GuardMXBean::getProbes),
        new Figure("errors", GuardMXBean::getErrors));

    private Figures() {}

    /** Its name, whether it guards connections or requests, and all that it counts and measures. */
    public static Map<String, Object> of(Guard guard) {
        var said = new LinkedHashMap<String, Object>();
        said.put("name", guard.name());
        said.put("guards", guard.ofRequests() ? "requests" : "connections");
        GuardMXBean figures = guard.figures();
        ALL.forEach(f -> said.put(f.name, f.of.apply(figures)));
        return said;
    }
}
