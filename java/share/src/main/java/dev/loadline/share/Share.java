package dev.loadline.share;

import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * This application's connection to the CPU manager. {@link #shared()} is the one that adapters use; an application has
 * no use for a second. Thread-safe.
 *
 * {@snippet :
 * Share share = Share.shared();
 * share.cpusRequested(2.5);
 * share.onChange(now -> pool.resize(now.threads()));
 * double cpus = share.cpusAssigned(); // reads a mapped page: no system call, no lock
 * }
 */
public final class Share implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("loadline-share");
    /** So long the first answer may take before an application goes on with the CPUs that the JVM sees. */
    private static final long FIRST_ANSWER_MS = 300;
    /** Between attempts to reach a daemon. */
    private static final long RETRY_MS = 1000;

    private static final class Holder {
        static final Share SHARED = new Share(Settings.ofProcess()).afterFirstAttempt();
    }

    private final Settings settings;
    private final List<Consumer<? super Assignment>> listeners = new CopyOnWriteArrayList<>();
    private final Thread thread;
    private final CountDownLatch firstAttempt = new CountDownLatch(1);
    /** What was asked for last, as it is sent; null until somebody asks. */
    private volatile String request;
    private volatile Page page;
    private volatile Line line;
    private volatile boolean closed;
    private String lastTrouble = "";

    private Share(Settings settings) {
        this.settings = settings;
        if (settings.request() >= 0) {
            request = "request=" + settings.request();
        }
        thread = new Thread(this::run, "loadline-share");
        thread.setDaemon(true);
        thread.start();
    }

    private Share afterFirstAttempt() {
        try {
            firstAttempt.await(FIRST_ANSWER_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return this;
    }

    /** The connection of this JVM, as its system properties say; made when it is first asked for. */
    public static Share shared() {
        return Holder.SHARED;
    }

    /** A connection of its own. */
    public static Share connect(Settings settings) {
        return new Share(Objects.requireNonNull(settings)).afterFirstAttempt();
    }

    /**
     * CPUs that this process has now, of some perhaps a part; those that the JVM sees if nobody manages it. 0 means that
     * it waits for its turn.
     */
    public double cpusAssigned() {
        Page now = page;
        return now == null ? Runtime.getRuntime().availableProcessors() : now.thousandths() / 1000.0;
    }

    /** CPUs that the daemon gave; empty if nobody manages this process. */
    public OptionalDouble cpusGiven() {
        Page now = page;
        return now == null ? OptionalDouble.empty() : OptionalDouble.of(now.thousandths() / 1000.0);
    }

    /** What this process has now, with the CPUs' numbers. */
    public Assignment assignment() {
        Page now = page;
        return now == null ? unmanaged() : now.read();
    }

    private static Assignment unmanaged() {
        return new Assignment(Runtime.getRuntime().availableProcessors(), new BitSet(), false);
    }

    /**
     * Says how many CPUs this application wants from now on.
     *
     * @param cpus zero or more; parts are allowed
     */
    public void cpusRequested(double cpus) {
        if (!(cpus >= 0) || Double.isInfinite(cpus)) {
            throw new IllegalArgumentException("CPUs requested are " + cpus + "; they must be 0 or more");
        }
        ask("request=" + cpus);
    }

    /** Whether whoever started this process said how many CPUs it is to ask for. */
    boolean isRequestSettled() {
        return settings.request() >= 0;
    }

    /** Lets the daemon estimate from now on what this application needs: by its CPU use and its wait for CPUs. */
    public void cpusRequestedAutomatically() {
        ask("request=auto");
    }

    private void ask(String what) {
        if (!what.equals(request)) {
            request = what;
            tell("request " + what);
        }
    }

    /**
     * Says how it goes, for the policy that knows goodput, and for whoever looks.
     *
     * @param goodput replies within the objective, per second
     * @param p95Millis 95th percentile of the response time
     */
    public void report(double goodput, double p95Millis) {
        if (!(goodput >= 0) || !(p95Millis >= 0) || Double.isInfinite(goodput) || Double.isInfinite(p95Millis)) {
            throw new IllegalArgumentException("goodput " + goodput + " and p95 " + p95Millis + " must be 0 or more");
        }
        tell("report goodput=" + goodput + " p95_ms=" + p95Millis);
    }

    /**
     * Calls back with the assignment whenever it changes, and once now. On a thread of this class, one at a time: what
     * takes long holds up the others, what throws is logged.
     *
     * @return to end it
     */
    public Runnable onChange(Consumer<? super Assignment> listener) {
        listeners.add(Objects.requireNonNull(listener));
        call(listener, assignment());
        return () -> listeners.remove(listener);
    }

    /** Leaves the daemon; a process that registered itself gets back the CPUs that it had before. */
    @Override
    public void close() {
        closed = true;
        Line now = line;
        if (now != null) {
            now.close();
        }
        thread.interrupt();
        try {
            thread.join(RETRY_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void tell(String message) {
        Line now = line;
        if (now != null) {
            try {
                now.send(message);
            } catch (IOException e) {
                now.close(); // the reader sees it, and connects again
            }
        }
    }

    private void run() {
        while (!closed) {
            try (Line now = Line.connect(settings.socketOrDefault())) {
                if (now != null) {
                    talk(now);
                }
            } catch (IOException e) {
                trouble(e.getMessage());
            }
            line = null;
            firstAttempt.countDown();
            Page last = page;
            // One that stopped in order has let us go; one that died has left us where we were.
            if (last != null && (closed || !last.isManaged())) {
                page = null;
                changed();
            }
            try {
                Thread.sleep(closed ? 0 : RETRY_MS);
            } catch (InterruptedException e) {
                // Only close() interrupts.
            }
        }
    }

    private void talk(Line now) throws IOException {
        String asked = request;
        now.send(settings.registration() + (asked == null ? "" : " " + asked));
        boolean registered = false;
        for (String said = now.read(); said != null; said = now.read()) {
            if (said.startsWith("ok id=")) {
                page = Page.open(now.page(said));
                registered = true;
                lastTrouble = "";
                line = now;
                if (!Objects.equals(asked, request)) {
                    now.send("request " + request); // asked while we were registering
                }
                firstAttempt.countDown();
                changed();
            } else if (said.startsWith("cpus ") && registered) {
                changed();
            } else if (said.startsWith("error ")) {
                trouble(said.substring("error ".length()));
                if (!registered) {
                    return;
                }
            }
        }
    }

    private void changed() {
        Assignment now = assignment();
        for (var listener : listeners) {
            call(listener, now);
        }
    }

    private static void call(Consumer<? super Assignment> listener, Assignment now) {
        try {
            listener.accept(now);
        } catch (RuntimeException | LinkageError e) {
            LOG.log(System.Logger.Level.WARNING, "loadline-share: a listener failed", e);
        }
    }

    /** Said once, not every second. */
    private void trouble(String what) {
        if (!closed && !Objects.equals(what, lastTrouble)) {
            lastTrouble = what;
            LOG.log(System.Logger.Level.WARNING, "loadline-share: " + what);
        }
    }
}
