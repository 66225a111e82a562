package dev.loadline.agent.boot;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLSession;
import jdk.internal.vm.annotation.DontInline;

/**
 * Called from the server's classes, whether anybody listens or not: a branch that a server's method never took would be compiled
 * without (see {@link Rehearsal}), so that it asks nothing of what is asked here. A connection's key is the identity hash of
 * its socket wrapper.
 */
public final class ServerProbes {
    /** Result of a step of a handshake that needs more steps. */
    private static final int TLS_GOES_ON = 1;
    /** What {@link #isFirst} was asked about. */
    private static volatile Identities met;

    private ServerProbes() {}

    /** @param channel the connection's, or its peer's address */
    public static void connectionOpen(Object wrapper, Object channel) {
        if (wrapper != null) {
            open(key(wrapper), channel, 0);
        }
    }

    /** What stands for a connection of one request alone: a stream of HTTP/2. @param channel as above */
    public static void streamOpen(Object stream, Object channel) {
        open(key(stream), channel, Type.ONE_REQUEST);
    }

    /** The same of one that has no object of its own, but a key. */
    static void streamOpen(long key, Object channel) {
        open(key, channel, Type.ONE_REQUEST);
    }

    @DontInline
    private static void open(long key, Object channel, int requests) {
        Session s = Emit.server();
        if (s == null) {
            return;
        }
        SocketAddress peer = peer(channel);
        if (peer instanceof InetSocketAddress) {
            InetSocketAddress inet = (InetSocketAddress) peer;
            InetAddress address = inet.getAddress();
            int text = s.strings.id(address == null ? inet.getHostString() : address.getHostAddress());
            Emit.write(s, Type.CONN_OPEN, text, key, inet.getPort() | requests);
        } else {
            Emit.write(s, Type.CONN_OPEN, 0, key, requests);
        }
    }

    /** A request whose connection is not seen. @param address of its peer, as a text, or null */
    static void streamOpen(Object request, String address, int port) {
        Session s = Emit.server();
        if (s != null) {
            Emit.write(s, Type.CONN_OPEN, address == null ? 0 : s.strings.id(address), key(request), port | Type.ONE_REQUEST);
        }
    }

    /** By itself: servers have channels, which the rehearsal has not, so as not to have the program's provider of them made before it begins. */
    @DontInline
    private static SocketAddress peer(Object channel) {
        try {
            if (channel instanceof SocketAddress) {
                return (SocketAddress) channel;
            }
            if (channel instanceof SocketChannel) {
                return ((SocketChannel) channel).getRemoteAddress();
            }
            if (channel instanceof AsynchronousSocketChannel) {
                return ((AsynchronousSocketChannel) channel).getRemoteAddress();
            }
        } catch (IOException closed) {
            return null; // gone already: a connection without a peer's address
        }
        return null;
    }

    public static void connectionClose(Object wrapper) {
        connectionClose(key(wrapper));
    }

    static void connectionClose(long key) {
        emit(Type.CONN_CLOSE, key, 0);
    }

    public static void queued(Object wrapper, boolean dispatch) {
        if (dispatch && wrapper != null) {
            emit(Type.QUEUED, key(wrapper), 0);
        }
    }

    /**
     * The result carries epoch and key to the visit's end, when the processor has forgotten its
     * socket. A visit within one to the same connection, as NIO2 makes them when a read completes
     * at once, is a part of it and not told.
     */
    public static long visitBegin(Object wrapper) {
        Session s = wrapper == null ? null : Emit.server(); // null's branch is also nobody's who listens: see outside()
        return s == null ? 0 : visitBegin(s, key(wrapper), 0, 0);
    }

    /** The same of an event loop's: it leaves to others what it makes a task of. */
    public static long loopVisitBegin(Object channel) {
        return channel == null ? 0 : loopVisitBegin(key(channel));
    }

    static long loopVisitBegin(long key) {
        Session s = Emit.server();
        long id = s == null ? 0 : visitBegin(s, key, 0, 0);
        if (id != 0) {
            Visit.own().leaves = true;
        }
        return id;
    }

    /** The request that the current thread is at is to go on when this thread has left it. */
    @DontInline
    public static void goesAsynchronous() {
        Visit visit = Visit.current();
        if (visit != null) {
            visit.leaves = true;
        }
    }

    /**
     * @param made of a visit for a task, when that was made; else 0
     * @param since how long before that the first task of its request was made, in units of 1024 ns
     */
    @DontInline
    static long visitBegin(Session s, long key, long made, int since) {
        long id = Visit.id(s.epoch, key);
        Visit current = Visit.own();
        if (current.id == id) {
            return 0;
        }
        current.begin(id);
        Emit.write(s, Type.VISIT_BEGIN, since, key, made);
        return id;
    }

    public static void visitEnd(long id) {
        if (id != 0) {
            leave(id);
        }
    }

    @DontInline
    private static void leave(long id) {
        Visit visit = Visit.own();
        if (visit.handedOver == id) {
            visit.handedOver = 0;
            return;
        }
        if (visit.inTls) {
            tlsExit(Visit.epoch(id), TLS_GOES_ON, null);
        }
        visit.begin(0);
        outside();
        Emit.end(Visit.epoch(id), Type.VISIT_END, id & Visit.KEY, 0);
    }

    /**
     * What a connection asks that outlives the hooks: its engine is in no visit, and nobody listens to what it tells. Attached late
     * nothing was rehearsed; what was compiled with it while a recording lasted is not to meet that for the first time, and be thrown
     * away, when that ends.
     */
    private static void outside() {
        visitBegin(null);
        emit(0, 0, 0);
        engineShakesHands(null);
        engineIsDone(false, false);
    }

    /** Another thread goes on with the visit that the current one is in, perhaps before this one has left it: it is queued for that. */
    @DontInline
    public static void handedOver() {
        Visit visit = Visit.current();
        if (visit != null) {
            long id = visit.id;
            visitEnd(id);
            visit.handedOver = id;
            emit(Type.QUEUED, id & Visit.KEY, 0);
        }
    }

    /** Whether this is asked of an object for the first time, as far as is remembered; never while nobody listens. */
    public static boolean isFirst(Object of) {
        if (Emit.server() == null) {
            return false;
        }
        Identities known = met;
        if (known == null) {
            known = new Identities();
            met = known;
        }
        if (known.get(of) != 0) {
            return false;
        }
        known.put(of, 1);
        return true;
    }

    /** For {@link Rehearsal}: the calling thread is in no visit, and never was. */
    static void forgetThread() {
        Visit.forget();
    }

    /** Whether the current thread is in a visit. */
    static boolean isVisiting() {
        return Visit.current() != null;
    }

    /** Whether the current thread is within a step of a handshake. */
    public static boolean shakesHands() {
        Visit visit = Visit.current();
        return visit != null && visit.inTls;
    }

    /** An engine works on a handshake: the first time in a visit, this begins a step. */
    @DontInline
    public static void engineShakesHands(Object engine) {
        Visit visit = Visit.current();
        if (visit != null) {
            visit.engine = engine;
            if (!visit.inTls) {
                visit.inTls = tlsEnter() != 0;
            }
        }
    }

    /** An engine's handshake is over; {@code full} if it was a full one by what the JDK's engines say. */
    @DontInline
    public static void engineIsDone(boolean succeeded, boolean full) {
        Visit visit = Visit.current();
        if (visit != null && visit.inTls) {
            visit.inTls = false;
            if (full) {
                tlsKey();
            }
            tlsExit(Visit.epoch(visit.id), succeeded ? 0 : -1, visit.engine);
            visit.engine = null;
        }
    }

    /**
     * The same of a connection that was opened then: the JDK's engines give a session that is resumed the time at which it was created,
     * and a full handshake's is as young as the connection.
     */
    @DontInline
    public static void engineIsDone(boolean succeeded, SSLSession session, long openedMillis) {
        engineIsDone(succeeded, succeeded && session.getCreationTime() >= openedMillis);
    }

    /** A request arrives; one before it in the same visit, which was answered, is over at last. */
    public static void arrived(String method, String uri) {
        processed();
        request(method, uri);
    }

    /** The container has answered, or gone asynchronous. */
    @DontInline
    public static void answered(int status, boolean asynchronous) {
        status(status);
        Visit visit = Visit.current();
        if (visit != null) {
            visit.answered = !asynchronous;
        }
    }

    /** The server is done with what it was visited for; a request that was answered is over, its response out. */
    @DontInline
    public static void processed() {
        Visit visit = Visit.current();
        if (visit != null && visit.answered) {
            visit.answered = false;
            requestEnd();
        }
    }

    public static int tlsEnter() {
        Session s = Emit.server();
        return s == null ? 0 : Emit.begin(s, Type.TLS_ENTER, 0, 0, 0);
    }

    /** A step of a handshake ends: done if the result is 0, failed if it is less; {@code engine} may be null, if it is the JDK's. */
    @DontInline
    public static void tlsExit(int epoch, int result, Object engine) {
        Emit.end(epoch, Type.TLS_EXIT, result == 0 ? Resumption.of(engine) : Resumption.BY_KEY, result);
    }

    public static void tlsKey() {
        emit(Type.TLS_KEY, 0, 0);
    }

    public static boolean isJdkEngine(Object engine) {
        return engine != null && engine.getClass().getName().startsWith("sun.security.ssl.");
    }

    public static void parse() {
        emit(Type.REQUEST_PARSE, 0, 0);
    }

    public static void request(String method, String uri) {
        Session s = Emit.server();
        if (s != null) {
            Emit.write(s, Type.REQUEST, s.strings.id(requestName(method, uri)), 0, 0);
        }
    }

    /** "GET /path", without query and path parameters, which would make every text a new one. */
    @DontInline
    static String requestName(String method, String uri) {
        int end = uri == null ? 0 : uri.length();
        for (int i = 0; i < end; i++) {
            char c = uri.charAt(i);
            if (c == '?' || c == ';') {
                end = i;
            }
        }
        StringBuilder name = new StringBuilder(8 + end).append(method).append(' ');
        return uri == null ? name.append('/').toString() : name.append(uri, 0, end).toString();
    }

    public static void status(int status) {
        emit(Type.STATUS, 0, status);
    }

    /** The response to a connection's request is out, whoever wrote it; the result is for the end of that visit. */
    public static long responded(Object wrapper, int status) {
        long visit = visitBegin(wrapper);
        status(status);
        requestEnd();
        return visit;
    }

    /**
     * Part of the response to a connection's request is out.
     *
     * @param status 0: it does not say; one before the final one ends nothing
     */
    public static void answersInPart(Object wrapper, int status, boolean ends) {
        answersInPart(key(wrapper), status, ends);
    }

    @DontInline
    static void answersInPart(long key, int status, boolean ends) {
        if (status == 100 || status == 102 || status == 103 || (status == 0 && !ends)) {
            return;
        }
        Session s = Emit.server();
        long visit = s == null ? 0 : visitBegin(s, key, 0, 0);
        if (status != 0) {
            status(status);
        }
        if (ends) {
            requestEnd();
        }
        visitEnd(visit);
    }

    public static void requestEnd() {
        emit(Type.REQUEST_END, 0, 0);
    }

    public static int serviceBegin(String servlet) {
        Session s = Emit.server();
        return s == null ? 0 : Emit.begin(s, Type.SERVICE_BEGIN, s.strings.id(servlet), 0, 0);
    }

    public static void serviceEnd(int epoch) {
        Emit.end(epoch, Type.SERVICE_END, 0, 0);
    }

    /** The same of a service that others may lie in, which are a part of it. */
    static int outermostServiceBegin(String servlet) {
        Visit visit = Visit.current();
        if (visit == null || visit.inService) {
            return 0;
        }
        visit.inService = true;
        return serviceBegin(servlet);
    }

    static void outermostServiceEnd(int epoch) {
        if (epoch == 0) {
            return;
        }
        Visit visit = Visit.current();
        if (visit != null) {
            visit.inService = false;
        }
        serviceEnd(epoch);
    }

    /** @param type of what is told; of nothing, 0 */
    private static void emit(int type, long a, long b) {
        Session s = type == 0 ? null : Emit.server();
        if (s != null) {
            Emit.write(s, type, 0, a, b);
        }
    }

    static long key(Object wrapper) {
        return System.identityHashCode(wrapper);
    }
}
