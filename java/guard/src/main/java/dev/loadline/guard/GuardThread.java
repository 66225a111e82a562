package dev.loadline.guard;

import dev.loadline.guard.cpu.CpusAtHand;
import dev.loadline.guard.cpu.ServerThreads;
import dev.loadline.guard.policy.CpuDemand;
import dev.loadline.guard.policy.Delay;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Measures a few times a second and moves the guard on. */
final class GuardThread implements AutoCloseable {
    private static final long TICK_MILLIS = 250;
    /** Below this utilization nobody waits long for a CPU, if it is this process that uses them: threads are not asked. */
    private static final double WORTH_ASKING = 0.6;
    /** Events under way per CPU from which they are asked all the same: somebody else may use the CPUs. */
    private static final double CROWDED = 4;

    private static final long LEAST_RUN_NANOS = 1_000_000;
    private static final double LEAST_UNDER_WAY_NANOS = 1e6;
    private static final ServerThreads.Spent NOTHING = new ServerThreads.Spent(0, 0);

    /** CPUs that the sessions need which each guard of this process is offered: the process asks for all of them. */
    private static final Map<GuardThread, Double> OFFERED = new ConcurrentHashMap<>();

    private final Guard guard;
    private final CpuDemand demand = new CpuDemand();
    private final LongSupplier nanoTime;
    private final CpusAtHand cpus;
    private final ServerThreads threads;
    private final List<Runnable> onTick = new CopyOnWriteArrayList<>();
    private final Thread thread;
    private volatile boolean closed;
    private boolean asking;
    private CpusAtHand.Answer lastCpus = new CpusAtHand.Answer(Runtime.getRuntime().availableProcessors(), "processors");
    private long lastNanos;
    private long lastProcessNanos;
    private long lastAttributedNanos;
    private long lastAttributedToAnyNanos;
    private long lastQueuedNanos;
    private long lastTurnNanos;
    private long lastEvents;
    private long lastHandshakes;

    GuardThread(Guard guard, LongSupplier nanoTime, CpusAtHand cpus) {
        this.guard = guard;
        this.nanoTime = nanoTime;
        this.cpus = cpus;
        threads = guard.threads();
        thread = new Thread(this::run, "loadline-guard");
        thread.setDaemon(true);
    }

    void start() {
        lastNanos = nanoTime.getAsLong();
        lastProcessNanos = processCpuNanos();
        lastAttributedToAnyNanos = Counters.attributedToAny();
        thread.start();
    }

    void onTick(Runnable task) {
        onTick.add(task);
    }

    @Override
    public void close() {
        closed = true;
        OFFERED.remove(this);
        thread.interrupt();
    }

    /** Waits for its end. */
    void join() throws InterruptedException {
        thread.join();
    }

    private void run() {
        while (!closed) {
            try {
                Thread.sleep(TICK_MILLIS);
            } catch (InterruptedException e) {
                continue; // closed
            }
            guard.safely(this::tick);
            onTick.forEach(guard::safely);
        }
    }

    /** What somebody else says; when that fails, what was known before. */
    private <T> T asked(Supplier<T> somebody, T before) {
        try {
            return somebody.get();
        } catch (RuntimeException | Error e) {
            guard.failed(e);
            return before;
        }
    }

    private void tick() {
        long now = nanoTime.getAsLong();
        double seconds = (now - lastNanos) / 1e9;
        if (!(seconds > 0)) {
            return; // the clock stands still: nothing per second can be told
        }
        long process = asked(GuardThread::processCpuNanos, lastProcessNanos);
        long queued = guard.counters().queuedNanos.sum();
        long forTurn = guard.counters().turnNanos.sum();
        long events = guard.counters().events.sum();
        // What waits for a worker where nobody sees when it began to.
        double inQueue = guard.workerQueue().passed() * seconds * 1e9;
        double underWay = guard.counters().underWay.nanosSinceLast(now) + inQueue;
        CpusAtHand.Answer at = lastCpus = asked(() -> cpus.now(guard::failed), lastCpus);
        double used = (process - lastProcessNanos) / (seconds * 1e9 * at.cpus());
        boolean crowded = underWay > CROWDED * seconds * 1e9 * at.cpus();
        ServerThreads.Spent spent = asked(() -> spent(used >= WORTH_ASKING || crowded), NOTHING);
        if (threads.virtual()) {
            guard.counters().attribute(guard.carrierTime().passed(seconds, spent.runNanos(), spent.waitNanos()));
        }
        long handshakes = guard.counters().handshakes();
        guard.eventSample().passed(seconds, events - lastEvents);
        guard.handshakeSample().passed(seconds, handshakes - lastHandshakes);
        long attributed = guard.counters().attributedCpuNanos();
        long attributedToAny = Counters.attributedToAny();
        double turns = forTurn - lastTurnNanos;
        // What an event waited for its turn is in what it waited for a worker.
        double waited = Math.max(0, spent.waitNanos() + queued - lastQueuedNanos - turns) + inQueue;
        boolean measured = spent.runNanos() > LEAST_RUN_NANOS;
        double forCpu = underWay - turns;
        guard.passed(now, new Measured(new Delay.Tick(seconds, at.cpus(), process - lastProcessNanos, events - lastEvents,
            underWay, measured ? waited : 0, measured ? turns : 0,
            spent.runNanos() > 0 && forCpu > LEAST_UNDER_WAY_NANOS ? (spent.runNanos() + waited) / forCpu : Double.NaN),
            at.from(), attributed - lastAttributedNanos, attributedToAny - lastAttributedToAnyNanos));
        if (guard.settings().cpuRequest() == CpuRequest.LEARNT) {
            request(seconds, (process - lastProcessNanos) / (seconds * 1e9), measured ? waited / (seconds * 1e9) : 0);
        }
        lastEvents = events;
        lastHandshakes = handshakes;
        lastNanos = now;
        lastProcessNanos = process;
        lastAttributedNanos = attributed;
        lastAttributedToAnyNanos = attributedToAny;
        lastQueuedNanos = queued;
        lastTurnNanos = forTurn;
    }

    /** Tells whoever gives this process its CPUs what it needs. */
    private void request(double seconds, double usedCpus, double waitedCpus) {
        LockedPolicy.Snapshot at = guard.snapshot();
        OFFERED.put(this, at.offeredCpus());
        if (closed) {
            OFFERED.remove(this); // meanwhile
        }
        double offered = OFFERED.values().stream().mapToDouble(Double::doubleValue).sum();
        cpus.request(demand.passed(seconds, offered, at.learnt(), usedCpus, waitedCpus), guard::failed);
    }

    /**
     * Asking the kernel costs some microseconds per thread: only while it may matter. Of carriers there are few, and
     * what they ran is what costs are learnt from.
     */
    private ServerThreads.Spent spent(boolean worthAsking) {
        if (!worthAsking && !guard.snapshot().refusing() && !threads.virtual()) {
            if (asking) {
                threads.forget();
                asking = false;
            }
            return NOTHING;
        }
        ServerThreads.Spent spent = threads.sinceLast();
        boolean first = !asking;
        asking = true;
        return first ? NOTHING : spent;
    }

    /** CPU time of this process; from its beans where there is com.sun.management, which OpenJDK has. */
    private static long processCpuNanos() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean bean
            ? Math.max(0, bean.getProcessCpuTime()) : 0;
    }
}
