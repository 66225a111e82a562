package dev.loadline.guard;

import dev.loadline.guard.cpu.VirtualThreads;
import dev.loadline.guard.policy.Verdict;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * One request that {@link RequestGate} has decided about. An adapter calls {@link #enter} and {@link Run#leave} on each
 * thread that works for it, and {@link #ended} when its answer is complete. No method throws.
 */
public final class GuardedRequest extends Candidate implements RequestView {
    private static final ThreadLocal<Boolean> ANSWERED = new ThreadLocal<>();

    private final RequestGate gate;
    private final ServerRequest request;
    private final LongAdder cpuNanos = new LongAdder();
    private final AtomicBoolean ended = new AtomicBoolean();
    /** Threads that work for it; and its answer, until that is complete. */
    private final AtomicInteger open = new AtomicInteger(1);
    private volatile ServerAnswer answer;
    private List<Claims.Claim> claims = List.of();
    private Forwarded.Client client;
    private boolean judged;
    private boolean tooMany;
    private boolean refused;

    GuardedRequest(RequestGate gate, ServerRequest request) {
        this.gate = gate;
        this.request = request;
    }

    /** The request that this thread serves is answered for, from now on or not any more: a filter inside of that leaves it alone. */
    public static void answersHere(boolean answers) {
        if (answers) {
            ANSWERED.set(Boolean.TRUE);
        } else {
            ANSWERED.remove();
        }
    }

    /** Whether a gate outside has decided about the request that this thread serves. */
    public static boolean isAnsweredFor() {
        return ANSWERED.get() != null;
    }

    /** Whether it is to be answered 503. */
    public boolean refused() {
        return refused;
    }

    /** One thread's work for it. */
    public final class Run {
        private final long beginThreadNanos = VirtualThreads.threadNanos();

        private Run(boolean waited) {
            open.incrementAndGet();
            gate.guard().runsEvent();
            if (!waited) {
                gate.guard().counters().underWay.begins(System.nanoTime());
            }
        }

        /** The thread that began it is done; another one may go on. */
        public void leave() {
            try {
                gate.guard().counters().underWay.ends(System.nanoTime());
                gate.guard().counters().events.increment();
                long ran = Math.max(0, VirtualThreads.threadNanos() - beginThreadNanos);
                if (VirtualThreads.isVirtual(Thread.currentThread())) {
                    cpuNanos.add(gate.guard().carrierTime().requests(ran)); // of all, the end of the tick tells
                } else {
                    cpuNanos.add(ran);
                    gate.guard().counters().attribute(ran);
                }
            } catch (RuntimeException | Error e) {
                gate.guard().failed(e);
            }
            over();
        }
    }

    /** This thread begins to work for it. */
    public Run enter() {
        return new Run(false);
    }

    /** It waits for a worker, from now on. */
    public final class Wait {
        private final long sinceNanos = System.nanoTime();

        private Wait() {
            gate.guard().counters().underWay.begins(sinceNanos);
        }

        /** This thread begins to work for it. */
        public Run over() {
            gate.guard().counters().queuedNanos.add(Math.max(0, System.nanoTime() - sinceNanos));
            return new Run(true);
        }

        /** No worker takes it. */
        public void never() {
            gate.guard().counters().underWay.ends(System.nanoTime());
        }
    }

    /** It is handed to a worker by a thread that decided about it: what it waits for that is known. */
    public Wait handOver() {
        return new Wait();
    }

    /**
     * Its answer is complete, perhaps before the thread that gave it is done. Once counts.
     *
     * @param said asked for at once, if it is of use; may fail
     */
    public void ended(Supplier<ServerAnswer> said) {
        if (ended.getAndSet(true)) {
            return;
        }
        try {
            answer = judged ? said.get() : null;
        } catch (RuntimeException | Error e) {
            gate.guard().failed(e);
        }
        over();
    }

    /** One of those who are at it is done: with the last, what it cost is known. */
    private void over() {
        if (open.decrementAndGet() > 0) {
            return;
        }
        ServerAnswer last = answer;
        answer = null; // another thread may still begin to work for it: that is not another end
        try {
            if (last != null) {
                gate.ended(this, last, cpuNanos.sum());
            }
        } catch (RuntimeException | Error e) {
            gate.guard().failed(e);
        }
    }

    ServerRequest request() {
        return request;
    }

    /** Whose it is; found out when it is first asked for. */
    Forwarded.Client client() {
        if (client == null) {
            client = gate.forwarded().of(request);
        }
        return client;
    }

    List<Claims.Claim> claims() {
        return claims;
    }

    void claims(List<Claims.Claim> claims) {
        this.claims = claims;
    }

    /** It has passed the lanes: what becomes of it is learnt. */
    void judged(Verdict verdict) {
        verdict(verdict);
        judged = true;
    }

    /** Its session has had more requests than one has: it is of no session, and paid for as such. */
    void tooMany() {
        tooMany = true;
    }

    boolean isTooMany() {
        return tooMany;
    }

    void refuse() {
        refused = true;
        judged = false;
    }

    @Override
    public String method() {
        return request.method();
    }

    @Override
    public String path() {
        return request.path();
    }

    @Override
    public String pathInApplication() {
        return request.pathInApplication();
    }

    @Override
    public String header(String name) {
        var values = request.headers(name).iterator();
        return values.hasNext() ? values.next() : null;
    }

    /** That of the client, as far as it is known; else that of who is connected, or null. */
    @Override
    public InetAddress remoteAddress() {
        return client().address();
    }

    /** 0: what a connection brought before is not known here. */
    @Override
    public int earlierRequests() {
        return 0;
    }
}
