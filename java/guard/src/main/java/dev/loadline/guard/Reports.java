package dev.loadline.guard;

import dev.loadline.guard.policy.Delay;
import dev.loadline.guard.policy.Objective;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import javax.management.JMException;
import javax.management.ObjectName;

/** What is told of the guard: JMX, a system property, log lines, JFR events, marks in Loadline's recordings. */
final class Reports implements GuardMXBean {
    private static final System.Logger LOG = System.getLogger("loadline-guard");
    private static final long ERROR_LOG_NANOS = 60_000_000_000L;
    private static final int MOST_KINDS = 100;
    private static final long LEARNT_ENOUGH = 1_000;
    /** Making the property takes longer than the rest of a tick. */
    private static final double PUBLISHED_SECONDS = 1;

    private final Guard guard;
    private final Counters counters;
    private final Published published;
    private ObjectName objectName;
    private volatile Measured measured = new Measured(new Delay.Tick(1, 1, 0, 0, 0, 0, 0, Double.NaN), "not measured yet", 0, 0);
    /** When an error of a kind was logged last. */
    private final Map<String, Long> errorLoggedNanos = new HashMap<>();
    private boolean saidLearnt;
    private double unpublishedSeconds;
    private double offeredPerSecond;
    private long lastOffered;
    private Episode episode;
    private Calm calm = new Calm(0, 0, 0);

    /** Counts at the last tick at which nobody was being refused. */
    private record Calm(long refusedNew, long refusedClaims, long shed) {}

    /** One time of refusing. */
    private record Episode(long beginNanos, long refusedNew, long refusedClaims, long shed, AutoCloseable span,
                           Object event) {}

    Reports(Guard guard) {
        this.guard = guard;
        counters = guard.counters();
        published = new Published(guard);
    }

    void open() {
        guard.safely(() -> guard.name(published.open()));
        try {
            objectName = new ObjectName("dev.loadline:type=Guard,name=" + ObjectName.quote(guard.name().replace("\"", "")));
            ManagementFactory.getPlatformMBeanServer().registerMBean(this, objectName);
        } catch (JMException e) {
            objectName = null;
            LOG.log(System.Logger.Level.WARNING, "loadline-guard: not in JMX: " + e.getMessage());
        }
    }

    void close() {
        published.close();
        if (objectName != null) {
            try {
                ManagementFactory.getPlatformMBeanServer().unregisterMBean(objectName);
            } catch (JMException e) {
                LOG.log(System.Logger.Level.DEBUG, "loadline-guard: was not in JMX any more", e);
            }
        }
    }

    void switched() {
        info(summary(guard.snapshot()));
    }

    void refused(Refused why) {
        Trace.event("guard refused " + why.name().toLowerCase(Locale.ROOT), 1);
        Events.refused(guard.name(), why);
    }

    /** Each kind of error once a minute: one that repeats itself hides no other. */
    synchronized void failed(Throwable e) {
        long now = System.nanoTime();
        StackTraceElement[] at = e.getStackTrace();
        String kind = e.getClass().getName() + (at.length == 0 ? "" : at[0]);
        Long last = errorLoggedNanos.get(kind);
        if (last == null || now - last > ERROR_LOG_NANOS) {
            if (errorLoggedNanos.size() >= MOST_KINDS) {
                errorLoggedNanos.clear();
            }
            errorLoggedNanos.put(kind, now);
            LOG.log(System.Logger.Level.ERROR, "loadline-guard: an error inside the guard; who it was about is"
                + " served as without a guard (" + counters.errors.sum() + " so far)", e);
        }
    }

    void stalled(double seconds) {
        LOG.log(System.Logger.Level.ERROR, String.format(Locale.ROOT, "loadline-guard: nothing was measured for %.1f s:"
            + " everybody is admitted until it is again", seconds));
    }

    void recovered() {
        LOG.log(System.Logger.Level.WARNING, "loadline-guard: measuring again; " + doing());
    }

    void passed(Measured now, LockedPolicy.Snapshot state) {
        boolean first = measured.cpusFrom().equals("not measured yet");
        boolean otherCpus = measured.cpus() != now.cpus();
        measured = now;
        long offered = (guard.ofRequests() ? counters.requests : counters.connections).sum();
        double weight = 1 - Math.exp(-now.seconds() / 2);
        offeredPerSecond += ((offered - lastOffered) / now.seconds() - offeredPerSecond) * weight;
        lastOffered = offered;
        Events.budget(guard.name(), now, state);
        if (first) {
            info(String.format(Locale.ROOT, "loadline-guard: room to know %,d clients by their addresses", guard.known().room()));
        }
        if (first || otherCpus || !saidLearnt && state.learnt() >= LEARNT_ENOUGH) {
            saidLearnt = state.learnt() >= LEARNT_ENOUGH;
            info(summary(state));
        }
        if (state.refusing() && episode == null) {
            // The first were refused before this tick: what was counted when all was calm is the beginning.
            episode = new Episode(System.nanoTime(), calm.refusedNew, calm.refusedClaims, calm.shed,
                Trace.begin("guard refusing"), Events.beginRefusing(guard.name()));
            LOG.log(System.Logger.Level.WARNING, began(state));
        } else if (!state.refusing() && episode != null) {
            Trace.end(episode.span);
            Events.endRefusing(episode.event);
            info(ended(episode));
            episode = null;
        }
        unpublishedSeconds += now.seconds();
        if (first || unpublishedSeconds >= PUBLISHED_SECONDS) {
            unpublishedSeconds = 0;
            published.publish();
        }
        if (episode == null) {
            calm = new Calm(counters.refusedNew.sum(), counters.refusedClaims.sum(), counters.refused(Refused.SHED_REQUEST).sum());
        }
    }

    private void info(String text) {
        LOG.log(System.Logger.Level.INFO, text);
    }

    private String summary(LockedPolicy.Snapshot state) {
        return String.format(Locale.ROOT, "loadline-guard: %s CPU%s (%s); new session %.1f ms, resumed %.1f ms (%s); %s",
            number(measured.cpus()), measured.cpus() == 1 ? "" : "s", measured.cpusFrom(), state.fullCpuNanos() / 1e6,
            state.resumedCpuNanos() / 1e6, state.learnt() == 0 ? "assumed until learnt" : String.format(Locale.ROOT,
                "learnt from %,d", state.learnt()), doing());
    }

    private String doing() {
        return switch (guard.mode()) {
            case OFF -> "off";
            case OBSERVE -> "observing";
            case ENFORCE -> "enforcing";
        };
    }

    private String began(LockedPolicy.Snapshot state) {
        String what = guard.ofRequests() ? "requests" : "connections";
        return String.format(Locale.ROOT, "loadline-guard: %s new %s: %.0f %s/s offered, %d new/s can be"
            + " served to the end; who begins waits %.0f ms, %.0f are aimed at; CPUs %.0f%% used",
            guard.mode() == Mode.ENFORCE ? "refusing" : "would refuse", guard.ofRequests() ? "sessions" : what, offeredPerSecond, what,
            state.newPerSecond(), state.delayNanos() / 1e6, state.targetNanos() / 1e6, 100 * measured.utilization());
    }

    private String ended(Episode was) {
        long seconds = Math.round((System.nanoTime() - was.beginNanos) / 1e9);
        String time = seconds < 60 ? seconds + " s" : seconds / 60 + " min " + seconds % 60 + " s";
        return String.format(Locale.ROOT, "loadline-guard: all admitted again after %s: %s %,d new, %,d resuming;"
            + " requests shed %,d", time, guard.mode() == Mode.ENFORCE ? "refused" : "would have refused",
            counters.refusedNew.sum() - was.refusedNew, counters.refusedClaims.sum() - was.refusedClaims,
            counters.refused(Refused.SHED_REQUEST).sum() - was.shed);
    }

    private static String number(double cpus) {
        return cpus == Math.rint(cpus) ? Long.toString((long) cpus) : String.format(Locale.ROOT, "%.2f", cpus);
    }

    @Override
    public String getMode() {
        return guard.mode().name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void setMode(String mode) {
        for (Mode value : Mode.values()) {
            if (value.name().equalsIgnoreCase(mode)) {
                guard.mode(value);
                return;
            }
        }
        throw new IllegalArgumentException("mode is '" + mode + "'; it must be off, observe or enforce");
    }

    @Override
    public String getObjective() {
        return guard.objective().toString();
    }

    @Override
    public void setObjective(String objective) {
        guard.objective(Objective.parse(objective));
    }

    @Override
    public boolean isRefusing() {
        return guard.snapshot().refusing();
    }

    @Override
    public boolean isStalled() {
        return guard.stalled();
    }

    @Override
    public double getCpus() {
        return measured.cpus();
    }

    @Override
    public String getCpusFrom() {
        return measured.cpusFrom();
    }

    @Override
    public double getNewCostMillis() {
        return guard.snapshot().fullCpuNanos() / 1e6;
    }

    @Override
    public double getResumedCostMillis() {
        return guard.snapshot().resumedCpuNanos() / 1e6;
    }

    @Override
    public double getFailedCostMillis() {
        return guard.snapshot().failedCpuNanos() / 1e6;
    }

    @Override
    public long getLearntFrom() {
        return guard.snapshot().learnt();
    }

    @Override
    public long getNewPerInterval() {
        return guard.snapshot().newPerSecond();
    }

    @Override
    public double getOfferedCpus() {
        return guard.snapshot().offeredCpus();
    }

    @Override
    public double getCorrection() {
        return guard.snapshot().factor();
    }

    @Override
    public double getWaiting() {
        return measured.waiting();
    }

    @Override
    public double getDelayMillis() {
        return guard.snapshot().delayNanos() / 1e6;
    }

    @Override
    public double getTargetDelayMillis() {
        return guard.snapshot().targetNanos() / 1e6;
    }

    @Override
    public int getHandshakesWaiting() {
        return guard.turns().waiting();
    }

    @Override
    public int getEventsUnderWay() {
        return counters.underWay.count();
    }

    @Override
    public double getShedLevel() {
        return guard.snapshot().shedLevel();
    }

    @Override
    public double getUtilization() {
        return measured.utilization();
    }

    @Override
    public long getConnections() {
        return counters.connections.sum();
    }

    @Override
    public long getOpenConnections() {
        return counters.open.sum();
    }

    @Override
    public long getFullHandshakes() {
        return counters.full.sum();
    }

    @Override
    public long getResumedHandshakes() {
        return counters.resumed.sum();
    }

    @Override
    public long getFailedHandshakes() {
        return counters.failed.sum();
    }

    @Override
    public long getVanished() {
        return counters.vanished.sum();
    }

    @Override
    public long getClaims() {
        return counters.claims.sum();
    }

    @Override
    public long getBadClaims() {
        return counters.badClaims.sum();
    }

    @Override
    public long getExempted() {
        return counters.exempt.sum();
    }

    @Override
    public long getRequests() {
        return counters.requests.sum();
    }

    @Override
    public long getNewSessions() {
        return counters.newSessions.sum();
    }

    @Override
    public long getReturningSessions() {
        return counters.returningSessions.sum();
    }

    @Override
    public long getRefusedNew() {
        return counters.refusedNew.sum();
    }

    @Override
    public long getRefusedClaims() {
        return counters.refusedClaims.sum();
    }

    @Override
    public long getRefusedByBudget() {
        return counters.refused(Refused.BUDGET).sum();
    }

    @Override
    public long getRefusedByCeiling() {
        return counters.refused(Refused.CEILING).sum();
    }

    @Override
    public long getRefusedBadClaims() {
        return counters.refused(Refused.BAD_CLAIM).sum();
    }

    @Override
    public long getRefusedReplays() {
        return counters.refused(Refused.REPLAY).sum();
    }

    @Override
    public long getRefusedAddresses() {
        return counters.refused(Refused.ADDRESS).sum();
    }

    @Override
    public long getRefusedNotTls() {
        return counters.refused(Refused.NOT_TLS).sum();
    }

    @Override
    public long getRefusedSlowHellos() {
        return counters.refused(Refused.SLOW_HELLO).sum();
    }

    @Override
    public long getShedRequests() {
        return counters.refused(Refused.SHED_REQUEST).sum();
    }

    @Override
    public long getPages() {
        return counters.pages.sum();
    }

    @Override
    public long getProbes() {
        return counters.probes.sum();
    }

    @Override
    public long getErrors() {
        return counters.errors.sum();
    }
}
