package dev.loadline.guard;

import dev.loadline.guard.cpu.VirtualThreads;
import dev.loadline.guard.hello.ClientHello;
import dev.loadline.guard.hello.Kind;
import dev.loadline.guard.policy.Outcome;
import dev.loadline.guard.policy.Priority;
import dev.loadline.guard.policy.Standing;
import dev.loadline.guard.policy.Verdict;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;

/**
 * What the guard knows of one connection. An adapter calls it from one thread at a time, except for
 * {@link #closed}. No method throws.
 *
 * <p>Whether a session was resumed, JSSE does not say. Its creation time does: a resumed session keeps
 * the time of its first handshake, whether it came from the cache or out of a ticket, which lies before
 * this connection's hello; a new one is made after it. (Found on JDK 17 and 25, TLS 1.2 and 1.3, with
 * and without tickets.)
 */
public final class GuardedConnection extends Candidate {
    /** No event is under way. */
    private static final long NONE = 0;
    /** None will be: what is handed over from now on finds the connection gone, and nobody says when that is done. */
    private static final long CLOSED = Long.MIN_VALUE;
    /** A part of the time for which a client stays known: asking anew with each request would cost more. */
    private static final long GOES_ON_NANOS = 10_000_000_000L;
    private static final VarHandle DISPATCHED;

    static {
        try {
            DISPATCHED = MethodHandles.lookup().findVarHandle(GuardedConnection.class, "dispatchedNanos", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Guard guard;
    private final InetAddress address;
    private long helloMillis;
    private boolean page;
    private boolean probe;
    private String serverName;
    private boolean exempt;
    private boolean important;
    private Outcome outcome;
    private long handshakeCpuNanos;
    private int handshakeStandsFor = 1;
    private int requests;
    /** When its client was last known to be served. */
    private long servedNanos;
    /** When the event that is under way was handed over, else {@link #NONE} or {@link #CLOSED}. */
    private volatile long dispatchedNanos;

    GuardedConnection(Guard guard, InetAddress address) {
        this.guard = guard;
        this.address = address;
        exempt = guard.settings().exempt().contains(address);
    }

    /**
     * Decides, before any cryptography.
     *
     * @param serverSpeaksTls13 whether TLS 1.3 is enabled here: it changes what a hello claims
     * @param canRestrict whether an engine can be made that only resumes
     */
    public Action decide(ClientHello hello, boolean serverSpeaksTls13, boolean canRestrict) {
        try {
            helloMillis = System.currentTimeMillis();
            Kind kind = hello.kind(serverSpeaksTls13);
            boolean claims = kind.claims();
            standing(claims ? Standing.RETURNING : Standing.NEW);
            serverName = hello.sni();
            customer(guard.classifier().customer(address, serverName));
            if (exempt) {
                guard.counters().exempt.increment();
            }
            Verdict verdict = guard.judge(this, claims ? hello.claim(serverSpeaksTls13) : null, canRestrict);
            verdict(verdict);
            Action action = verdict == null ? Action.SERVE : guard.act(this, verdict, canRestrict);
            // What a probe takes is counted, and of virtual threads what all of them took is shared out.
            handshakeStandsFor = seesRequests() || guard.threads().virtual() ? 1 : guard.handshakeSample().next();
            guard.leftWorkerQueue(action != Action.ALERT && action != Action.CLOSE);
            return action;
        } catch (RuntimeException | Error e) {
            guard.failed(e);
            verdict(null);
            return Action.SERVE;
        }
    }

    /** Part of the handshake ran on this thread for so long, by {@link VirtualThreads#threadNanos}. */
    public void handshakeRan(long threadNanos) {
        handshakeCpuNanos += onVirtual() ? guard.carrierTime().handshake(Math.max(0, threadNanos)) : Math.max(0, threadNanos);
    }

    private static boolean onVirtual() {
        return VirtualThreads.isVirtual(Thread.currentThread());
    }

    /** The handshake is complete, with a session of this creation time ({@code SSLSession.getCreationTime}). */
    public void handshakeDone(long sessionCreationMillis) {
        settle(sessionCreationMillis >= helloMillis ? Outcome.FULL : Outcome.RESUMED);
    }

    /** The engine refused the handshake. */
    public void handshakeFailed() {
        settle(Outcome.FAILED);
    }

    private void settle(Outcome now) {
        if (outcome != null || helloMillis == 0) {
            return;
        }
        outcome = now;
        servedNanos = guard.nanoTime();
        try {
            guard.settle(this, now, handshakeStandsFor, handshakeCpuNanos);
        } catch (RuntimeException | Error e) {
            guard.failed(e);
        }
    }

    /** For how many handshakes its own stands; 0: its CPU time is not asked for. */
    public int handshakeStandsFor() {
        return handshakeStandsFor;
    }

    /** For how many events one that begins now stands; 0: its CPU time is not asked for. */
    int standsFor() {
        if (outcome == null) {
            return handshakeStandsFor;
        }
        // On a virtual thread asking costs next to nothing.
        return seesRequests() || onVirtual() ? 1 : guard.eventSample().next();
    }

    /** Requests of this connection ran on this thread for so long, by {@link VirtualThreads#threadNanos}. */
    public void requestsRan(long threadNanos) {
        boolean isVirtual = onVirtual();
        long cpuNanos = isVirtual ? guard.carrierTime().requests(Math.max(0, threadNanos)) : threadNanos;
        if (outcome != null && cpuNanos > 0) {
            guard.requestsRan(this, cpuNanos, isVirtual);
        }
    }

    /** Whether its handshake will compute in full, as far as its hello tells. */
    public boolean computesInFull() {
        return seesRequests() || verdict() == Verdict.ADMIT && !standing().claims() && !exempt;
    }

    /** An event of this connection is handed to a worker, or waits for its turn. */
    public void dispatched() {
        long now = System.nanoTime();
        if (DISPATCHED.compareAndSet(this, NONE, isTime(now) ? now : now + 1)) {
            guard.counters().underWay.begins(now);
        }
    }

    /** It waits on in a queue of which the guard knows the length alone: who takes it out says that it is dispatched. */
    public void queued() {
        long at = dispatchedNanos;
        if (isTime(at) && DISPATCHED.compareAndSet(this, at, NONE)) {
            long now = System.nanoTime();
            guard.counters().queuedNanos.add(Math.max(0, now - at));
            guard.counters().underWay.ends(now);
        }
    }

    /** The turn has come that it waited for. */
    public void turnCame() {
        guard.counters().turnNanos.add(sinceDispatched());
    }

    /** A worker begins with it. */
    public void begun() {
        guard.counters().queuedNanos.add(sinceDispatched());
        guard.leftWorkerQueue(true);
        guard.runsEvent();
    }

    /** Another worker goes on with it, for which it waited since it was dispatched, and in no queue before that. */
    public void wentOn() {
        guard.counters().queuedNanos.add(sinceDispatched());
        guard.runsEvent();
    }

    private long sinceDispatched() {
        long at = dispatchedNanos;
        return isTime(at) ? Math.max(0, System.nanoTime() - at) : 0;
    }

    /** The worker is done with it; or it never began, and never will. */
    public void done() {
        long at = dispatchedNanos;
        if (isTime(at) && DISPATCHED.compareAndSet(this, at, NONE)) {
            guard.counters().underWay.ends(System.nanoTime());
            guard.counters().events.increment();
        }
    }

    private static boolean isTime(long dispatched) {
        return dispatched != NONE && dispatched != CLOSED;
    }

    /** Whether the request that begins is to be answered 503: by the page of a refusal, or because it is shed. */
    public boolean refusesRequest(RequestView request) {
        try {
            guard.counters().requests.increment();
            if (page) {
                guard.counters().pages.increment();
                return true;
            }
            if (requests == 0 || probe) {
                boolean health = guard.isHealth(request.path());
                if (requests == 0 && health) {
                    guard.probed(address, serverName);
                }
                if (probe && !guard.servesProbe(this, health, requests == 0)) {
                    page = true;
                    guard.counters().pages.increment();
                    return true;
                }
            }
            Priority priority = guard.priority(request);
            // Who has come to an important step of a session is about to complete it.
            important |= priority == Priority.HIGH;
            requests++;
            goesOn();
            return !exempt && guard.sheds(request, important ? Priority.HIGH : priority);
        } catch (RuntimeException | Error e) {
            guard.failed(e);
            return false;
        }
    }

    /** Who asks on a connection for minutes is still here when it opens another. */
    private void goesOn() {
        long now = guard.nanoTime();
        if (now - servedNanos >= GOES_ON_NANOS && outcome != null && outcome != Outcome.FAILED && !seesRequests()) {
            servedNanos = now;
            guard.known().add(address, now);
        }
    }

    /** Whether it was let in only to see the page: close it after that. */
    public boolean page() {
        return page;
    }

    /**
     * Whether it was refused, and let in all the same to see the page, or to show that it is a probe: each of its
     * requests must be seen, and no session has begun.
     */
    public boolean seesRequests() {
        return page || probe;
    }

    void beginProbe() {
        probe = true;
    }

    void showPage() {
        page = true;
    }

    /** Requests served so far. */
    public int requests() {
        return requests;
    }

    /** The connection is gone. Once counts. */
    public void closed() {
        long at = (long) DISPATCHED.getAndSet(this, CLOSED);
        if (at == CLOSED) {
            return;
        }
        if (at != NONE) {
            guard.counters().underWay.ends(System.nanoTime());
        }
        try {
            guard.closed(this);
        } catch (RuntimeException | Error e) {
            guard.failed(e);
        }
    }

    /** The client. */
    public InetAddress remoteAddress() {
        return address;
    }

    /** In its hello; null when there was none. */
    String serverName() {
        return serverName;
    }

    /** Whether what its guard decides is done. */
    boolean enforced() {
        return guard.mode() == Mode.ENFORCE;
    }

    boolean exempt() {
        return exempt;
    }

    boolean decided() {
        return helloMillis != 0;
    }

    /** With those that it stands for. */
    long handshakeCpuNanos() {
        return handshakeStandsFor * handshakeCpuNanos;
    }

    Outcome outcome() {
        return outcome;
    }
}
