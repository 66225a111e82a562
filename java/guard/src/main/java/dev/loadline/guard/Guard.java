package dev.loadline.guard;

import dev.loadline.guard.abuse.ClaimWatch;
import dev.loadline.guard.abuse.KnownClients;
import dev.loadline.guard.abuse.Probes;
import dev.loadline.guard.cpu.CarrierTime;
import dev.loadline.guard.cpu.CpusAtHand;
import dev.loadline.guard.cpu.ServerThreads;
import dev.loadline.guard.policy.Admission;
import dev.loadline.guard.policy.Correction;
import dev.loadline.guard.policy.Costs;
import dev.loadline.guard.policy.Outcome;
import dev.loadline.guard.policy.Priority;
import dev.loadline.guard.policy.Shedding;
import dev.loadline.guard.policy.Standing;
import dev.loadline.guard.policy.Verdict;
import java.net.InetAddress;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * One guard of one connector: keeps the state that {@code policy} decides by, under one lock, and the
 * counters. {@link GuardThread} moves it on in time.
 */
public final class Guard implements AutoCloseable {
    /** The alert internal_error, fatal, in a record of its own: what JSSE answers to who may not resume. */
    public static final byte[] ALERT = {21, 3, 3, 0, 2, 2, 80};

    /** Shorter intervals than this count as this long for the watchdog: a collection may stop the loop for that long. */
    private static final long LEAST_INTERVAL_NANOS = 1_000_000_000L;

    private final String name;
    private final GuardSettings settings;
    private final LongSupplier nanoTime;
    private final Counters counters = new Counters();
    private final Watchdog watchdog;
    private final Object lock = new Object();
    private final Costs costs;
    private final Correction correction;
    private final Admission admission;
    private final Shedding shedding = new Shedding();
    private final ClaimWatch watch;
    private final Probes probes;
    private final KnownClients known = new KnownClients();
    private final LongAdder[] requestCpuNanos = {new LongAdder(), new LongAdder(), new LongAdder()};
    private final Turns turns = new Turns(this::handshakesAtATime, System::nanoTime, new TurnsTold());
    private final ServerThreads threads = new ServerThreads();
    private final CarrierTime carrierTime = new CarrierTime();
    private final Reports reports;
    private final GuardThread thread;
    private volatile Mode mode;
    private volatile RequestClassifier classifier = new RequestClassifier() {};
    private volatile boolean shed;
    private volatile double cpus = 1;
    private double pageCpuNanos;
    private boolean closed;

    /**
     * @param name of the connector, as an administrator knows it
     */
    public Guard(String name, GuardSettings settings) {
        this(name, settings, System::nanoTime, CpusAtHand.ofThisProcess(settings.cpus()));
    }

    Guard(String name, GuardSettings settings, LongSupplier nanoTime, CpusAtHand cpusAtHand) {
        this.name = name;
        this.settings = settings;
        this.nanoTime = nanoTime;
        watchdog = new Watchdog(2 * Math.max(settings.interval().toNanos(), LEAST_INTERVAL_NANOS));
        mode = settings.mode();
        costs = new Costs(settings.fullCost().toNanos(), settings.resumedCost().toNanos());
        correction = new Correction(settings.targetWaiting());
        admission = new Admission(settings.interval().toNanos() / 1e9, settings.resumedCeiling(), costs, nanoTime.getAsLong());
        watch = new ClaimWatch(settings.ticketReuse(), settings.badClaims());
        probes = new Probes(settings.probeShare());
        reports = new Reports(this);
        thread = new GuardThread(this, nanoTime, cpusAtHand);
    }

    /** Begins to measure, and appears in JMX. */
    public void start() {
        reports.open();
        watchdog.begin(nanoTime.getAsLong());
        thread.start();
    }

    /** Ends its thread and leaves JMX. Until the connector is gone it goes on deciding by what it last measured. */
    @Override
    public void close() {
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
        }
        watchdog.end();
        thread.close();
        reports.close();
    }

    /** Calls this a few times a second on the guard's own thread: for an adapter's time-outs. */
    public void onTick(Runnable task) {
        thread.onTick(task);
    }

    /** A connection was accepted. */
    public GuardedConnection connection(InetAddress address) {
        counters.connections.increment();
        counters.open.increment();
        return new GuardedConnection(this, address);
    }

    public Mode mode() {
        return mode;
    }

    /** Switches; connections that are open stay as they are. */
    public void mode(Mode mode) {
        this.mode = mode;
        reports.switched();
    }

    /** Who tells what matters, in place of patterns alone. */
    public void classifier(RequestClassifier classifier) {
        this.classifier = classifier;
    }

    RequestClassifier classifier() {
        return classifier;
    }

    /** Body of a 503. */
    public String page() {
        return settings.page();
    }

    /** What a 503 says in Retry-After. */
    public long retryAfterSeconds() {
        return settings.retryAfter().toSeconds();
    }

    /** Whether who is refused is told so by an alert. */
    public boolean alerts() {
        return settings.refusal() != Refusal.CLOSE;
    }

    /** How long a client may take to say hello. */
    public long helloTimeoutNanos() {
        return settings.helloTimeout().toNanos();
    }

    /** Counts a connection that was refused before or without a decision: not TLS, or too slow. */
    public void refusedUnheard(Refused why) {
        refused(why);
    }

    private void refused(Refused why) {
        counters.refused(why).increment();
        safely(() -> reports.refused(why));
    }

    /** An exception inside the guard: whoever it was about is served. */
    public void failed(Throwable e) {
        counters.errors.increment();
        try {
            reports.failed(e);
        } catch (RuntimeException | Error broken) {
            // Whoever logs is broken as well: the count alone tells of both.
            counters.errors.increment();
        }
    }

    /** What fails here fails alone: neither the loop nor a decision ends with it. */
    void safely(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /** Whether nothing is to be refused, because what decisions are made by is not measured any more. */
    boolean stalled() {
        return stalled(nanoTime.getAsLong());
    }

    private boolean stalled(long nowNanos) {
        if (!watchdog.stalled(nowNanos)) {
            return false;
        }
        if (watchdog.notice()) {
            safely(() -> reports.stalled(watchdog.silentSeconds(nowNanos)));
            turns.goOn();
        }
        return true;
    }

    /** The counters and figures, for an adapter or a test. */
    public GuardMXBean figures() {
        return reports;
    }

    /** In which full handshakes compute. */
    public Turns turns() {
        return turns;
    }

    private int handshakesAtATime() {
        return mode == Mode.ENFORCE && !watchdog.stalled(nanoTime.getAsLong())
            ? (int) Math.max(1, Math.round(cpus)) : Integer.MAX_VALUE;
    }

    private final class TurnsTold implements Turns.Told {
        @Override
        public void waits(long key) {
            safely(() -> Trace.event("guard handshake waits", key));
        }

        @Override
        public void goesOn(long key) {
            safely(() -> Trace.event("guard handshake goes on", key));
        }

        @Override
        public void failed(Throwable e) {
            Guard.this.failed(e);
        }
    }

    // ---- from here on, what the connections call

    /** Null when everybody is admitted. */
    Verdict judge(GuardedConnection connection, byte[] claim, boolean canRestrict) {
        long now = nanoTime.getAsLong();
        if (stalled(now)) {
            return null;
        }
        if (claim == null) {
            synchronized (lock) {
                return admission.fresh(now, connection.customer(), waitingOfTarget());
            }
        }
        counters.claims.increment();
        boolean refusing;
        synchronized (lock) {
            refusing = admission.refusing();
        }
        // Counted always, held against them only when CPU time is short.
        boolean reused = !watch.mayUse(claim, connection.remoteAddress(), now);
        if (refusing && reused) {
            return Verdict.REFUSE_REPLAY;
        }
        if (refusing && !watch.mayClaim(connection.remoteAddress(), now)) {
            return Verdict.REFUSE_ADDRESS;
        }
        connection.standing(known.contains(connection.remoteAddress(), now) ? Standing.KNOWN : Standing.RETURNING);
        synchronized (lock) {
            return admission.claim(now, connection.customer(), connection.standing(), waitingOfTarget(), canRestrict);
        }
    }

    private double waitingOfTarget() {
        return correction.waitingNow(counters.underWay.count(), cpus) / correction.targetWaiting();
    }

    /** @param canRestrict whether its engine can be told which protocol to speak: else its requests might not be seen */
    Action act(GuardedConnection connection, Verdict verdict, boolean canRestrict) {
        if (connection.exempt()) {
            return Action.SERVE;
        }
        boolean enforce = mode == Mode.ENFORCE;
        if (!verdict.refuses()) {
            return enforce && verdict == Verdict.RESUME_ONLY ? Action.SERVE_RESUMED_ONLY : Action.SERVE;
        }
        Refused why = switch (verdict) {
            case REFUSE_CEILING -> Refused.CEILING;
            case REFUSE_REPLAY -> Refused.REPLAY;
            case REFUSE_ADDRESS -> Refused.ADDRESS;
            default -> Refused.BUDGET;
        };
        if (enforce && canRestrict && hasProbeSlot(connection, verdict)) {
            counters.probes.increment();
            connection.beginProbe();
            return Action.SERVE;
        }
        refused(why);
        (connection.standing().claims() ? counters.refusedClaims : counters.refusedNew).increment();
        if (!enforce) {
            return Action.SERVE;
        }
        if (settings.refusal() == Refusal.PAGE && why == Refused.BUDGET && affordsPage()) {
            connection.showPage();
            return Action.SERVE_PAGE;
        }
        return settings.refusal() == Refusal.CLOSE ? Action.CLOSE : Action.ALERT;
    }

    private boolean hasProbeSlot(GuardedConnection connection, Verdict verdict) {
        if (verdict != Verdict.REFUSE_BUDGET && verdict != Verdict.REFUSE_CEILING) {
            return false;
        }
        double costNanos;
        synchronized (lock) {
            costNanos = costs.handshakeCpuNanos();
        }
        return probes.slot(connection.remoteAddress(), connection.serverName(), costNanos, cpus,
            !connection.standing().claims(), nanoTime.getAsLong()) != Probes.Slot.NONE;
    }

    /** Whether a request is for a health path. One that may mean another path than it says is not. */
    public boolean isHealth(String path) {
        return settings.health().matches(path) && !path.contains("..") && path.indexOf('%') < 0 && path.indexOf(';') < 0;
    }

    /** Somebody began with a request for a health path, on a connection that was let in, or had a slot. */
    public void probed(InetAddress address, String serverName) {
        probes.probed(address, serverName, nanoTime.getAsLong());
    }

    /** Whether a request is served on a connection that was let in for a probe. */
    boolean servesProbe(GuardedConnection connection, boolean health, boolean first) {
        if (!health) {
            probes.askedElse(connection.remoteAddress(), connection.serverName(), nanoTime.getAsLong());
            refused(Refused.BUDGET);
            counters.refusedNew.increment();
            return false;
        }
        return first || probes.slot(connection.remoteAddress(), connection.serverName(), 0, cpus, false, nanoTime.getAsLong())
            == Probes.Slot.PROBER;
    }

    private boolean affordsPage() {
        synchronized (lock) {
            double cost = costs.handshakeCpuNanos();
            if (pageCpuNanos < cost) {
                return false;
            }
            pageCpuNanos -= cost;
            return true;
        }
    }

    void settle(GuardedConnection connection, Outcome outcome, long cpuNanos) {
        counters.attributedCpuNanos.add(cpuNanos);
        switch (outcome) {
            case FULL -> counters.full.increment();
            case RESUMED -> counters.resumed.increment();
            case FAILED -> counters.failed.increment();
        }
        Verdict verdict = connection.verdict();
        if (verdict == Verdict.RESUME_ONLY && outcome == Outcome.FAILED && mode == Mode.ENFORCE) {
            refused(Refused.BAD_CLAIM);
            counters.refusedClaims.increment();
        }
        synchronized (lock) {
            if (verdict != null && !verdict.refuses()) {
                admission.settle(verdict, connection.customer(), connection.standing(), outcome, cpuNanos);
            }
            if (!connection.seesRequests()) {
                costs.handshake(outcome, cpuNanos);
            }
        }
        if (outcome != Outcome.FAILED && !connection.seesRequests()) {
            known.add(connection.remoteAddress(), nanoTime.getAsLong());
        }
        if (connection.standing().claims()) {
            boolean good = outcome == Outcome.RESUMED;
            if (!good) {
                counters.badClaims.increment();
            }
            watch.claimed(connection.remoteAddress(), good, nanoTime.getAsLong());
        }
    }

    void requestsRan(GuardedConnection connection, Outcome outcome, long cpuNanos) {
        counters.attributedCpuNanos.add(cpuNanos);
        if (connection.seesRequests()) {
            probes.spent(cpuNanos); // no session: it says nothing about what one costs
            return;
        }
        requestCpuNanos[outcome.ordinal()].add(cpuNanos);
    }

    Priority priority(RequestView request) {
        RequestClassifier asked = classifier;
        Priority byPattern = settings.high().matches(request.path()) ? Priority.HIGH
            : settings.low().matches(request.path()) ? Priority.LOW : Priority.NORMAL;
        return asked.priority(request, byPattern).of(asked.customer(request));
    }

    boolean sheds(RequestView request, Priority priority) {
        if (!shed || mode == Mode.OFF || stalled() || isHealth(request.path())) {
            return false;
        }
        boolean sheds;
        synchronized (lock) {
            sheds = shedding.sheds(priority);
        }
        if (sheds) {
            refused(Refused.SHED_REQUEST);
        }
        return sheds && mode == Mode.ENFORCE;
    }

    void closed(GuardedConnection connection) {
        counters.open.decrement();
        Verdict verdict = connection.verdict();
        if (connection.decided() && connection.outcome() == null && verdict != null && !verdict.refuses()) {
            // Gone in mid-handshake: only what it cost so far is spent.
            counters.vanished.increment();
            counters.attributedCpuNanos.add(connection.handshakeCpuNanos());
            synchronized (lock) {
                admission.settle(verdict, connection.customer(), connection.standing(), Outcome.FAILED,
                    connection.handshakeCpuNanos());
            }
            if (connection.standing().claims()) {
                // Who claims what the server does not know has no key to go on with, and leaves.
                watch.claimed(connection.remoteAddress(), false, nanoTime.getAsLong());
            }
        }
    }

    // ---- and what the thread calls

    /** A tick ended; see {@link GuardThread}. */
    void passed(long nowNanos, Measured measured) {
        synchronized (lock) {
            for (Outcome outcome : Outcome.values()) {
                costs.requests(outcome, requestCpuNanos[outcome.ordinal()].sumThenReset());
            }
            costs.passed(measured.seconds(), measured.attributedCpuNanos(), measured.processCpuNanos(), measured.cpus());
            cpus = measured.cpus();
            correction.passed(measured.seconds(), measured.utilization(), measured.waiting(), measured.forTurn(),
                measured.competing(), admission.refusing(), admission.byBudget());
            admission.passed(nowNanos, measured.seconds(), measured.cpus(), correction);
            shedding.passed(measured.seconds(), admission.closed(), correction.contention() / correction.targetWaiting());
            shed = shedding.level() > 0;
            double mostPages = measured.cpus() * settings.pageShare() * 1e9;
            pageCpuNanos = Math.min(Math.max(mostPages, costs.handshakeCpuNanos()),
                pageCpuNanos + mostPages * measured.seconds());
        }
        if (watchdog.completed(nowNanos)) {
            safely(reports::recovered);
        }
        safely(() -> turns.passed(measured.seconds(), measured.utilization()));
        safely(() -> reports.passed(measured, snapshot()));
    }

    /** The figures of now, taken together. */
    Snapshot snapshot() {
        synchronized (lock) {
            return new Snapshot(admission.refusing(), admission.newPerInterval(), admission.offeredCpus(),
                costs.fullCpuNanos(), costs.resumedCpuNanos(), costs.failedCpuNanos(), costs.learnt(), correction.factor(),
                correction.waiting(), shedding.level());
        }
    }

    record Snapshot(boolean refusing, long newPerInterval, double offeredCpus, double fullCpuNanos,
                    double resumedCpuNanos, double failedCpuNanos, long learnt, double factor, double waiting, double shedLevel) {}

    String name() {
        return name;
    }

    GuardSettings settings() {
        return settings;
    }

    Counters counters() {
        return counters;
    }

    ServerThreads threads() {
        return threads;
    }

    /** Clients that it can remember. */
    int knownRoom() {
        return known.room();
    }

    CarrierTime carrierTime() {
        return carrierTime;
    }

    GuardThread thread() {
        return thread;
    }
}
