package dev.loadline.guard;

import dev.loadline.guard.abuse.ClaimWatch;
import dev.loadline.guard.abuse.KnownClients;
import dev.loadline.guard.cpu.CarrierTime;
import dev.loadline.guard.cpu.CpusAtHand;
import dev.loadline.guard.cpu.ServerThreads;
import dev.loadline.guard.cpu.VirtualThreads;
import dev.loadline.guard.policy.Delay;
import dev.loadline.guard.policy.Objective;
import dev.loadline.guard.policy.Outcome;
import dev.loadline.guard.policy.Priority;
import dev.loadline.guard.policy.Standing;
import dev.loadline.guard.policy.Verdict;
import java.net.InetAddress;
import java.util.Collection;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * One guard of one connector: asks {@code policy} and counts. {@link GuardThread} moves it on in time.
 */
public final class Guard implements AutoCloseable {
    /** The alert internal_error, fatal, in a record of its own: what JSSE answers to who may not resume. */
    public static final byte[] ALERT = {21, 3, 3, 0, 2, 2, 80};

    /** The loop runs four times a second; a collection may stop it for longer than that. */
    private static final long STALLED_NANOS = 2_000_000_000L;

    private volatile String name;
    private final boolean ofRequests;
    private final GuardSettings settings;
    private final BusyPage busy;
    private final LongSupplier nanoTime;
    private final Counters counters = new Counters();
    private final Watchdog watchdog;
    private final LockedPolicy policy;
    private final ClaimWatch watch;
    private final ProbeGate probes;
    private final KnownClients known = new KnownClients();
    private final Turns turns = new Turns(this::handshakesAtATime, System::nanoTime, new HandshakeWaits(this::failed));
    private final ServerThreads threads = new ServerThreads();
    private final WorkerQueue workerQueue = new WorkerQueue();
    private final Runnable runsEvent = threads::runsEvent;
    /** Costs forget in thirty seconds: they are means of 3,000 handshakes, and a sum of 15,000 events. */
    private final CpuSample handshakeSample = new CpuSample(100);
    private final CpuSample eventSample = new CpuSample(500);
    private final CarrierTime carrierTime = new CarrierTime();
    private final Reports reports;
    private final Failures failures;
    private final GuardThread thread;
    private volatile Mode mode;
    private volatile RequestClassifier classifier = new RequestClassifier() {};
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * @param name of the connector, as an administrator knows it; when it starts beside another guard of that name it gets a number
     */
    public Guard(String name, GuardSettings settings) {
        this(name, settings, System::nanoTime, CpusAtHand.ofThisProcess(settings.cpus()));
    }

    Guard(String name, GuardSettings settings, LongSupplier nanoTime, CpusAtHand cpusAtHand) {
        this(name, settings, nanoTime, cpusAtHand, false);
    }

    private Guard(String name, GuardSettings settings, LongSupplier nanoTime, CpusAtHand cpusAtHand, boolean ofRequests) {
        this.name = name;
        this.ofRequests = ofRequests;
        this.settings = settings;
        busy = BusyPage.of(settings);
        this.nanoTime = nanoTime;
        watchdog = new Watchdog(STALLED_NANOS);
        mode = settings.mode();
        policy = new LockedPolicy(settings, ofRequests ? Delay.REQUEST_EVENTS : Delay.CONNECTION_EVENTS, nanoTime.getAsLong());
        watch = new ClaimWatch(settings.ticketReuse(), settings.badClaims());
        probes = new ProbeGate(settings, nanoTime);
        reports = new Reports(this);
        failures = new Failures(counters, reports::failed);
        thread = new GuardThread(this, nanoTime, cpusAtHand);
    }

    /** What {@link RequestGate} asks: sessions begin with requests, and not with connections. */
    static Guard ofRequests(String name, GuardSettings settings) {
        return ofRequests(name, settings, System::nanoTime, CpusAtHand.ofThisProcess(settings.cpus()));
    }

    static Guard ofRequests(String name, GuardSettings settings, LongSupplier nanoTime, CpusAtHand cpusAtHand) {
        return new Guard(name, settings, nanoTime, cpusAtHand, true);
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
        if (closed.getAndSet(true)) {
            return;
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

    /** What response times are aimed at. */
    public Objective objective() {
        return policy.objective();
    }

    /** Aims at others; who is let in from now on sees it. */
    public void objective(Objective objective) {
        policy.objective(objective);
    }

    /** Who tells what matters, in place of patterns alone. */
    public void classifier(RequestClassifier classifier) {
        this.classifier = classifier;
    }

    RequestClassifier classifier() {
        return classifier;
    }

    /** How it is set. */
    public GuardSettings settings() {
        return settings;
    }

    /** What a 503 says. */
    public BusyPage busy() {
        return busy;
    }

    void refused(Refused why) {
        counters.refused(why).increment();
        safely(() -> reports.refused(why));
    }

    /** An exception inside the guard: whoever it was about is served. */
    public void failed(Throwable e) {
        failures.add(e);
    }

    void safely(Runnable part) {
        failures.safely(part);
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

    /**
     * Tells how many events wait for a worker, for a server that does not tell the guard when each of them begins to: their
     * connections are {@link GuardedConnection#dispatched} when a worker has them.
     *
     * @param length asked with each event: it must be cheap, and not throw
     */
    public void workerQueue(IntSupplier length) {
        workerQueue.length(length);
    }

    /**
     * The same for a server whose events begin on event loops: they wait there, in no queue that is counted. How late each loop runs
     * a task is measured, a hundred times a second while somebody comes.
     *
     * @param loops of which each runs what it is given on its one thread, in order
     */
    public void eventLoops(Collection<? extends Executor> loops) {
        workerQueue.loops(new LoopLag(loops, nanoTime));
    }

    /** At hand, as last measured, and at least one. */
    public int cpus() {
        return (int) Math.max(1, Math.round(policy.cpus()));
    }

    private int handshakesAtATime() {
        return mode == Mode.ENFORCE && !watchdog.stalled(nanoTime.getAsLong()) ? cpus() : Integer.MAX_VALUE;
    }

    // ---- from here on, what the connections call

    /** Null when everybody is admitted. */
    Verdict judge(GuardedConnection connection, byte[] claim, boolean canRestrict) {
        long now = nanoTime.getAsLong();
        if (stalled(now)) {
            return null;
        }
        if (claim == null) {
            return decide(connection, false, known.contains(connection.remoteAddress(), now), now, canRestrict);
        }
        counters.claims.increment();
        // Counted always, held against them only when CPU time is short.
        boolean reused = !watch.mayUse(claim, connection.remoteAddress(), now);
        if (policy.refusing() && reused) {
            return Verdict.REFUSE_REPLAY;
        }
        if (policy.pressed() && !watch.mayClaim(connection.remoteAddress(), now)) {
            return Verdict.REFUSE_ADDRESS;
        }
        boolean servedOfLate = known.contains(connection.remoteAddress(), now);
        connection.standing(servedOfLate ? Standing.KNOWN : Standing.RETURNING);
        return decide(connection, true, servedOfLate, now, canRestrict);
    }

    /** @param servedOfLate whether its client was */
    Verdict decideRequest(GuardedRequest request, boolean servedOfLate, long now) {
        return policy.decide(request, request.standing().claims(), servedOfLate, now, Math.max(0, counters.underWay.count() + workerQueue.now()), 0, true);
    }

    private Verdict decide(GuardedConnection connection, boolean claims, boolean servedOfLate, long now, boolean canRestrict) {
        int forTurn = turns.waiting();
        return policy.decide(connection, claims, servedOfLate, now, Math.max(0, counters.underWay.count() - forTurn + workerQueue.now()),
            forTurn * turns.perTurnNanos(), canRestrict);
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
        if (enforce && canRestrict && probes.opens(connection, verdict, policy.handshakeCpuNanos(), policy.cpus())) {
            counters.probes.increment();
            connection.beginProbe();
            return Action.SERVE;
        }
        refused(why);
        (connection.standing().claims() ? counters.refusedClaims : counters.refusedNew).increment();
        if (!enforce) {
            return Action.SERVE;
        }
        if (settings.refusal() == Refusal.PAGE && why == Refused.BUDGET && policy.affordsPage(nanoTime.getAsLong())) {
            connection.showPage();
            return Action.SERVE_PAGE;
        }
        return settings.refusal() == Refusal.CLOSE ? Action.CLOSE : Action.ALERT;
    }

    /** Whether a request is for a path that probes ask for. */
    public boolean isHealth(String path) {
        return probes.isHealth(path);
    }

    /** The same, wherever its application lies. */
    boolean isHealth(RequestView request) {
        return isHealth(request.path()) || !request.pathInApplication().equals(request.path()) && isHealth(request.pathInApplication());
    }

    /** Somebody asked for one first. */
    public void probed(InetAddress address, String serverName) {
        probes.probed(address, serverName);
    }

    /** Whether a request is served on a connection that was let in for a probe. */
    boolean servesProbe(GuardedConnection connection, boolean isHealth, boolean first) {
        boolean serves = probes.serves(connection, isHealth, first, policy.cpus());
        if (!serves) {
            refused(Refused.BUDGET);
            counters.refusedNew.increment();
        }
        return serves;
    }

    /** @param standsFor as in {@link dev.loadline.guard.policy.Costs#handshake} */
    void settle(GuardedConnection connection, Outcome outcome, int standsFor, long cpuNanos) {
        counters.attribute(standsFor * cpuNanos);
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
        policy.settle(connection, outcome, standsFor * cpuNanos);
        if (!connection.seesRequests()) {
            policy.learn(connection, outcome, standsFor, cpuNanos);
            if (outcome != Outcome.FAILED) {
                known.add(connection.remoteAddress(), nanoTime.getAsLong());
            }
        }
        if (connection.standing().claims()) {
            boolean good = outcome == Outcome.RESUMED;
            if (!good) {
                counters.badClaims.increment();
            }
            watch.claimed(connection.remoteAddress(), good, nanoTime.getAsLong());
        }
    }

    /** @param knownPerTick whether what all requests took is told at the end of the tick */
    void requestsRan(GuardedConnection connection, long cpuNanos, boolean knownPerTick) {
        if (!knownPerTick) {
            counters.attribute(cpuNanos);
        }
        if (connection.seesRequests()) {
            probes.spent(cpuNanos);
        }
    }

    Priority priority(RequestView request) {
        RequestClassifier asked = classifier;
        Priority byPattern = matches(settings.high(), request) ? Priority.HIGH
            : matches(settings.low(), request) ? Priority.LOW : Priority.NORMAL;
        return asked.priority(request, byPattern).of(asked.customer(request));
    }

    private static boolean matches(PathPatterns patterns, RequestView request) {
        return patterns.matches(request.path()) || patterns.matches(request.pathInApplication());
    }

    boolean sheds(RequestView request, Priority priority) {
        if (!policy.shedding() || mode == Mode.OFF || stalled() || isHealth(request)) {
            return false;
        }
        boolean sheds = policy.sheds(priority);
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
            counters.attribute(connection.handshakeCpuNanos());
            policy.settle(connection, Outcome.FAILED, connection.handshakeCpuNanos());
            if (connection.standing().claims()) {
                // Who claims what the server does not know has no key to go on with, and leaves.
                watch.claimed(connection.remoteAddress(), false, nanoTime.getAsLong());
            }
        }
    }

    // ---- and what the thread calls

    /** A tick ended; see {@link GuardThread}. */
    void passed(long nowNanos, Measured measured) {
        policy.passed(nowNanos, mode == Mode.OFF ? measured.whileOff() : measured, turns.waiting() * turns.perTurnNanos());
        if (watchdog.completed(nowNanos)) {
            safely(reports::recovered);
        }
        safely(() -> turns.passed(measured.seconds(), measured.utilization()));
        safely(() -> reports.passed(measured, snapshot()));
    }

    LockedPolicy policy() {
        return policy;
    }

    /** The figures of now, taken together. */
    LockedPolicy.Snapshot snapshot() {
        return policy.snapshot();
    }

    String name() {
        return name;
    }

    /** Nobody has been told of it by another. */
    void name(String name) {
        this.name = name;
    }

    Counters counters() {
        return counters;
    }

    /** This thread runs an event of this server. */
    void runsEvent() {
        failures.safely(runsEvent);
    }

    ServerThreads threads() {
        return threads;
    }

    /** Addresses that were served of late. */
    KnownClients known() {
        return known;
    }

    /** Whether it is one of requests. */
    boolean ofRequests() {
        return ofRequests;
    }

    WorkerQueue workerQueue() {
        return workerQueue;
    }

    /** An event of a connection has a worker; where the guard does not know since when it waited, the queue has it. */
    void leftWorkerQueue(boolean served) {
        if (workerQueue.isKnown()) {
            workerQueue.left(VirtualThreads.isVirtual(Thread.currentThread()));
            if (served) {
                workerQueue.served();
            }
        }
    }

    long nanoTime() {
        return nanoTime.getAsLong();
    }

    /** Of which events beside handshakes the CPU time is asked for. */
    CpuSample eventSample() {
        return eventSample;
    }

    /** Of which connections' handshakes. */
    CpuSample handshakeSample() {
        return handshakeSample;
    }

    CarrierTime carrierTime() {
        return carrierTime;
    }

    GuardThread thread() {
        return thread;
    }
}
