package dev.loadline.guard;

import dev.loadline.guard.abuse.ClaimWatch;
import dev.loadline.guard.abuse.KnownSessions;
import dev.loadline.guard.cpu.VirtualThreads;
import dev.loadline.guard.policy.Outcome;
import dev.loadline.guard.policy.Priority;
import dev.loadline.guard.policy.Standing;
import dev.loadline.guard.policy.Verdict;
import java.net.InetAddress;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;

/**
 * The guard where connections say nothing of sessions: TLS ends in front of the server, or one connection carries the
 * requests of many. Each request is judged by itself, with the control that connections have: one gate, one signal.
 *
 * <p>Lanes. A request whose session this server let in and served of late is of a session <em>under way</em>: it passes, and
 * is shed last. One whose session the server knows, but not of late, <em>returns</em>. Any other begins a session, whatever it
 * claims: a cookie or a token that is not known is worth nothing until its request has passed the gate as a new one, was
 * served, and the server did not disown it. So who makes claims up has what who claims nothing has.
 *
 * <p>The first request of a session is to {@code policy.Costs} what a handshake is, and those that follow what follows it.
 *
 * <p>An adapter asks {@link #request} before it serves a request, and tells what became of it.
 */
public final class RequestGate implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("loadline-guard");
    /** Cookies that one new session may be known by. */
    private static final int MOST_ISSUED = 4;

    private final Guard guard;
    /** Of the connections that its streams come by; null: its requests are not streams of guarded connections. */
    private final Guard connections;
    private final KnownSessions sessions;
    private final Claims claims;
    private final Forwarded forwarded;
    private final ClaimWatch watch;
    private final WorkerQueue queue;
    private final AtomicBoolean saidForwarded = new AtomicBoolean();

    /** @param name as an administrator knows it */
    public RequestGate(String name, GuardSettings settings) {
        this(Guard.ofRequests(name, settings));
    }

    RequestGate(Guard guard) {
        this(guard, null);
    }

    private RequestGate(Guard guard, Guard connections) {
        this.guard = guard;
        this.connections = connections;
        GuardSettings settings = guard.settings();
        sessions = new KnownSessions(settings.sessionRequests());
        claims = new Claims(settings.sessionCookies(), sessions);
        forwarded = new Forwarded(settings.trustedProxies(), settings.clientHeader());
        watch = new ClaimWatch(settings.ticketReuse(), settings.badClaims());
        queue = guard.workerQueue();
    }

    /**
     * Guards the streams of HTTP/2 of connections that are guarded: each is a request, of which its connection says nothing. Mode,
     * objective and classifier are those of the guard of the connections, as they change.
     */
    public static RequestGate ofStreams(Guard connections) {
        var made = new RequestGate(Guard.ofRequests("streams of " + connections.name(), connections.settings()), connections);
        connections.onTick(made::follow);
        return made;
    }

    private void follow() {
        if (connections == null) {
            return;
        }
        guard.classifier(connections.classifier());
        if (guard.mode() != connections.mode()) {
            guard.mode(connections.mode());
        }
        if (!guard.objective().equals(connections.objective())) {
            guard.objective(connections.objective());
        }
    }

    /** Begins to measure, and appears in JMX. */
    public void start() {
        guard.start();
        LOG.log(System.Logger.Level.INFO, String.format(Locale.ROOT, "loadline-guard: requests are guarded; room to know %,d sessions",
            sessions.room()));
    }

    @Override
    public void close() {
        guard.close();
    }

    /** Its modes, figures and classifier. */
    public Guard guard() {
        return guard;
    }

    /**
     * Tells how many events wait for a worker thread before {@link #request} is called. Without it a pool that is small
     * hides overload.
     *
     * @param length asked with each request: it must be cheap, and not throw
     */
    public void workerQueue(IntSupplier length) {
        guard.workerQueue(length);
    }

    /**
     * The same for a server whose requests begin on event loops.
     *
     * @param loops see {@link Guard#eventLoops}
     */
    public void eventLoops(Collection<? extends Executor> loops) {
        guard.eventLoops(loops);
    }

    /**
     * Decides about a request, on the thread that is to serve it. Null while the guard is off, and for one that the guard of its
     * connection answers for: then nothing is to be told.
     */
    public GuardedRequest request(ServerRequest request) {
        follow();
        if (guard.mode() == Mode.OFF || request.onGuardedConnection()) {
            return null;
        }
        var made = new GuardedRequest(this, request);
        try {
            queue.left(VirtualThreads.isVirtual(Thread.currentThread()));
            if (refuses(made) && guard.mode() == Mode.ENFORCE) {
                made.refuse();
                guard.counters().pages.increment();
                return made;
            }
        } catch (RuntimeException | Error e) {
            guard.failed(e);
        }
        queue.served();
        return made;
    }

    private boolean refuses(GuardedRequest asked) {
        guard.counters().requests.increment();
        if (guard.isHealth(asked)) {
            return false;
        }
        GuardSettings settings = guard.settings();
        if (!settings.exempt().isEmpty() && settings.exempt().contains(asked.remoteAddress())) {
            guard.counters().exempt.increment();
            return false;
        }
        long now = guard.nanoTime();
        Priority priority = guard.priority(asked);
        asked.claims(claimsOf(asked));
        Claims.Claim known = null;
        for (Claims.Claim claim : asked.claims()) {
            if (known == null && sessions.comes(claim.key(), now)) {
                known = claim;
            }
        }
        boolean refusing = guard.policy().refusing();
        boolean tooMany = refusing && known != null && !sessions.mayUse(known.key(), now);
        if (known != null && !tooMany) {
            asked.standing(Standing.KNOWN);
            asked.judged(null);
            boolean important = sessions.isImportant(known.key(), priority == Priority.HIGH, now);
            return guard.sheds(asked, important ? Priority.HIGH : priority);
        }
        if (tooMany) {
            asked.tooMany();
        }
        return refusesToBegin(asked, refusing, now);
    }

    private List<Claims.Claim> claimsOf(GuardedRequest asked) {
        var shown = claims.of(asked.request());
        String byDefault = shown.isEmpty() ? null : shown.get(0).value();
        String named = guard.classifier().session(asked, byDefault);
        return named == null || named.equals(byDefault) ? shown : List.of(claims.named(named));
    }

    /** @param refusing whether it is worth asking the server whether it knows its session */
    private boolean refusesToBegin(GuardedRequest asked, boolean refusing, long now) {
        if (guard.stalled()) {
            asked.judged(null);
            return false;
        }
        if (!asked.claims().isEmpty()) {
            guard.counters().claims.increment();
        }
        asked.customer(guard.classifier().customer(asked));
        InetAddress address = asked.client().alone() ? asked.remoteAddress() : null;
        sayForwarded(asked);
        if (refusing && !asked.isTooMany() && (address == null || watch.mayClaim(address, now)) && isProven(asked)) {
            asked.standing(Standing.RETURNING);
        }
        boolean servedOfLate = !asked.isTooMany() && address != null && guard.known().contains(address, now);
        Verdict verdict = guard.decideRequest(asked, servedOfLate, now);
        asked.judged(verdict);
        if (!verdict.refuses()) {
            return false;
        }
        guard.refused(Refused.BUDGET);
        (asked.standing().claims() ? guard.counters().refusedClaims : guard.counters().refusedNew).increment();
        return true;
    }

    private boolean isProven(GuardedRequest asked) {
        for (Claims.Claim claim : asked.claims()) {
            if (claim.ofServer() ? asked.request().session() == ServerRequest.Session.VALID : guard.classifier().knows(asked, claim.value())) {
                return true;
            }
        }
        return false;
    }

    /** Once: a proxy in front makes all clients look like one. */
    private void sayForwarded(GuardedRequest asked) {
        boolean hidden = !asked.client().alone() && asked.remoteAddress() != null;
        if (hidden && guard.settings().trustedProxies().isEmpty() && !saidForwarded.getAndSet(true)) {
            LOG.log(System.Logger.Level.INFO, "loadline-guard: requests come through " + asked.request().peer() + ", and what it says of"
                + " its clients is not believed: addresses tell nothing. If it is a proxy of yours, name it in trustedProxies.");
        }
    }

    /** What became of a request that went through the lanes and was served. */
    void ended(GuardedRequest asked, ServerAnswer answer, long cpuNanos) {
        long now = guard.nanoTime();
        boolean unauthorized = answer.status() == 401;
        boolean begins = asked.standing() != Standing.KNOWN;
        boolean joined = false;
        boolean denied = false;
        int removed = 0;
        for (Claims.Claim claim : asked.claims()) {
            boolean replaced = claim.cookie() != null && Claims.replaces(answer.setCookies(), claim);
            boolean disowned = replaced || (claim.ofServer() ? answer.session() == ServerRequest.Session.INVALID
                : unauthorized && claim.cookie() == null);
            if (disowned) {
                denied = true;
                removed += sessions.remove(claim.key()) ? 1 : 0;
            } else if (begins && (claim.ofServer() ? answer.session() == ServerRequest.Session.VALID : answer.status() < 400)) {
                // Another request of the same session may have been quicker: then it began with that one.
                joined |= sessions.add(claim.key(), now) && !asked.isTooMany();
            }
        }
        learnIssued(asked, answer, begins ? MOST_ISSUED : removed, now);
        if (begins) {
            settle(asked, joined, denied, answer.session() == ServerRequest.Session.VALID, cpuNanos, now);
        }
    }

    /**
     * A session that begins was paid for, and one that changes its name goes on. Others, such as that of a server which begins
     * one for each request of a known token, are of nobody who passed the gate.
     *
     * @param most how many
     */
    private void learnIssued(GuardedRequest asked, ServerAnswer answer, int most, long now) {
        if (most == 0) {
            return;
        }
        String ofServer = asked.request().sessionCookie();
        var issued = new LinkedHashSet<Long>();
        if (answer.begun() != null && ofServer != null) {
            issued.add(claims.ofServer(ofServer, answer.begun()));
        }
        issued.addAll(claims.issued(answer.setCookies(), ofServer));
        issued.stream().limit(most).forEach(key -> sessions.add(key, now));
    }

    private void settle(GuardedRequest asked, boolean joined, boolean denied, boolean valid, long cpuNanos, long now) {
        InetAddress address = asked.client().alone() ? asked.remoteAddress() : null;
        if (address != null) {
            guard.known().add(address, now);
        }
        if (denied) {
            guard.counters().badClaims.increment();
        }
        if (address != null && (denied || joined || valid)) {
            watch.claimed(address, !denied, now); // behind one address the honest ones show
        }
        if (joined) {
            asked.standing(Standing.KNOWN);
        } else if (valid && !asked.isTooMany()) {
            asked.standing(Standing.RETURNING);
        }
        Outcome outcome = asked.standing().claims() ? Outcome.RESUMED : Outcome.FULL;
        guard.policy().settle(asked, outcome, cpuNanos);
        if (!joined) {
            guard.policy().learn(asked, outcome, 1, cpuNanos);
            (outcome == Outcome.FULL ? guard.counters().newSessions : guard.counters().returningSessions).increment();
        }
    }

    Forwarded forwarded() {
        return forwarded;
    }
}
