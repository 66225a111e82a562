package dev.loadline.agent.boot;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import jdk.internal.misc.Unsafe;

/**
 * Calls every probe of servers, of JDBC and of methods, as in a recording and as between two, before any class calls one.
 *
 * <p>HotSpot compiles no branch that it has never seen taken. A server that was warm before its first recording had its hot
 * methods compiled without what records: all of them fell back to the interpreter when it began, and for ten seconds a fifth of
 * the CPU time was the compiler's. What is profiled here is compiled in from the start. It takes up to half a second, before
 * the program begins or on the thread that attaches: as long as the first compiler needs for the probes, of which it takes
 * more only when few wait for it.
 */
public final class Rehearsal {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** A method is profiled from its 200th call on; after 5,000 it would be compiled for good, which is not wanted yet. */
    private static final int TURNS = 8;

    private static final int CALLS = 250;
    /** Where everything is slow it is shorter. */
    private static final long MOST_NS = 500_000_000;

    /** Of a recording that hardly ever comes: a place to write of this one's must not pass for one of a first recording's. */
    private static final int EPOCH = 32_767;

    private static final int CHUNKS = 16;

    /** More than a thread's table holds before it grows, twice. */
    private static final int THREAD_LOCALS = 40;

    /** The number of a method that no class has; should there ever be so many, the last takes it over. */
    private static final int METHOD = MethodNames.MOST - 1;

    private static final URI SERVICE = URI.create("http://rehearsal:1/");
    private static final URI AT_DEFAULT_PORT = URI.create("http://rehearsal/");

    /** One in which there is room at first only, and who was put into it last: some of them had to make room. */
    private static Identities crowded;

    private static Object[] crowd;

    /** An answer whose last byte comes with its first. */
    private static final Function<Object, CompletableFuture<?>> WHOLE = new Whole();

    private static boolean done;

    private Rehearsal() {}

    /**
     * In a JVM that nobody records and in which nobody has probes yet; what was profiled stays so. The memory is not given
     * back, as a spool's is not: a hook that could not be taken out may write into it.
     */
    public static synchronized void run() {
        if (done || !isProfiled(System.getProperty("java.vm.info"))) {
            return;
        }
        done = true;
        long size = (long) CHUNKS * Session.CHUNK;
        long memory;
        try {
            memory = U.allocateMemory(size + Long.BYTES);
        } catch (OutOfMemoryError e) {
            return; // the probes work without
        }
        try {
            U.setMemory(memory, size + Long.BYTES, (byte) 0);
            MethodNames.put(METHOD, "rehearsal");
            MethodScope methods = new MethodScope(Filters.of("**", Filters.SEPARATOR), null, false, 0);
            Session session = Session.rehearsed(memory, size, EPOCH, methods);
            Slot slot = new Slot(0, 0, memory + size);
            long end = System.nanoTime() + MOST_NS;
            for (int turn = 0; turn < TURNS && System.nanoTime() < end; turn++) {
                Emit.to(session, true, true);
                play(slot, memory);
                Emit.toNobody();
                play(slot, memory);
                asFullThread();
            }
        } finally {
            Emit.toNobody();
            Emit.SLOTS.remove();
            MethodProbes.forgetThread(); // it has the place to write as well
            crowded = null;
            crowd = null;
        }
    }

    /**
     * Whether HotSpot has a compiler that goes by profiles: not with {@code -XX:TieredStopAtLevel=1}, nor with {@code -Xint}. The former
     * it says no more from JDK 27 on: there is a rehearsal then, for nothing.
     */
    static boolean isProfiled(String vmInfo) {
        return vmInfo == null || !(vmInfo.contains("emulated-client") || vmInfo.startsWith("interpreted mode"));
    }

    /** Most of it over and over; now and then what is rare, but comes with the first events of a recording. */
    private static void play(Slot slot, long memory) {
        InetSocketAddress peer = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        for (int i = 0; i < CALLS; i++) {
            boolean isRare = i % 8 == 0;
            String name = isRare ? "rehearsal " + System.nanoTime() : "rehearsal";
            if (isRare) {
                ServerProbes.forgetThread();
                JdbcProbes.forgetThread();
                CallProbes.forgetThread();
                MethodProbes.forgetThread();
                asAnotherThread();
                Emit.SLOTS.set(slot);
                if (i % 16 == 0) {
                    Session.empty(memory);
                    slot.epoch = 0; // of another recording
                } else {
                    slot.at = slot.end; // full
                }
            }
            Object connection = new Object();
            ServerProbes.connectionOpen(connection, peer);
            ServerProbes.queued(connection, true);
            long visit = ServerProbes.visitBegin(connection);
            int step = ServerProbes.tlsEnter();
            ServerProbes.tlsKey();
            ServerProbes.tlsExit(step, 0, connection);
            ServerProbes.parse();
            ServerProbes.request("GET", name);
            int service = ServerProbes.serviceBegin(name);
            statement(connection, name);
            call(name);
            ask(name);
            crowd(i);
            application(name);
            ServerProbes.serviceEnd(service);
            ServerProbes.status(200);
            ServerProbes.requestEnd();
            ServerProbes.visitEnd(visit);
            ServerProbes.connectionClose(connection);
            otherServers(peer, name);
            exchange(connection, name);
            helidon(connection);
            servlet(connection);
            grpc();
            streams(connection, peer);
            handshakes(connection, peer);
            method();
            ThreadProbes.goesOn(Thread.currentThread());
        }
    }

    /** One that has no place to write yet. */
    private static void asAnotherThread() {
        Emit.SLOTS.remove();
        try {
            ServerProbes.status(200);
        } catch (UnsatisfiedLinkError notYet) {
            // The library comes with the first recording. The branch was taken, which is all.
        }
    }

    /** Runs a {@link FullThread}, or none if there can be no more: it is one branch of many. */
    private static void asFullThread() {
        try {
            FullThread thread = new FullThread();
            thread.start();
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (OutOfMemoryError e) {
            return; // the probes work without
        }
    }

    /** One whose table of thread-locals grows, as a worker's may by those of the probes: a branch of the JDK's that is compiled into what calls them. */
    private static final class FullThread extends Thread {
        FullThread() {
            super(null, null, "loadline-rehearsal", 0, false);
        }

        @Override
        public void run() {
            for (int i = 0; i < THREAD_LOCALS; i++) {
                new ThreadLocal<Object>().set(this);
            }
        }
    }

    /** As Jetty, Undertow, Netty and hooks have it. */
    private static void otherServers(InetSocketAddress peer, String name) {
        Object connection = new Object();
        ServerProbes.connectionOpen(connection, peer);
        ServerProbes.queued(connection, false);
        aVisitWithin(connection, name);
        handshake(connection, true);
        handshake(connection, false);
        tasks(connection);
        long visit = ServerProbes.visitBegin(connection);
        for (int i = 0; i < 2; i++) {
            if (ServerProbes.isFirst(connection)) {
                ServerProbes.request("GET", name + "?more");
            }
        }
        ServerProbes.handedOver();
        ServerProbes.visitEnd(visit);
        ServerProbes.answersInPart(connection, 103, false);
        ServerProbes.answersInPart(connection, 200, false);
        ServerProbes.answersInPart(connection, 0, false);
        ServerProbes.answersInPart(connection, 0, true);
        ServerProbes.visitEnd(ServerProbes.responded(connection, 200));
        visit = ServerProbes.visitBegin(connection);
        ServerProbes.arrived("GET", name);
        ServerProbes.answered(200, false);
        ServerProbes.arrived("GET", name);
        ServerProbes.answered(200, true);
        ServerProbes.processed();
        ServerProbes.visitEnd(visit);
        ServerProbes.connectionClose(connection);
    }

    /** As the JDK's server has it: one that was not told, one that is answered in its visit and one out of it, and those that nobody handles. */
    private static void exchange(Object connection, String name) {
        Object exchange = new Object();
        ExchangeProbes.written(exchange);
        long visit = ServerProbes.loopVisitBegin(connection);
        ExchangeProbes.begins(exchange, connection, "GET", name);
        int service = ExchangeProbes.serviceBegin(name);
        ExchangeProbes.serviceEnd(ExchangeProbes.serviceBegin(name));
        ExchangeProbes.serviceEnd(service);
        ExchangeProbes.written(exchange);
        ExchangeProbes.rejected("GET /rehearsal HTTP/1.1", 404);
        ExchangeProbes.rejected("a rehearsal it", 400);
        ExchangeProbes.rejected("rehearsal", 400);
        ServerProbes.visitEnd(visit);
        ExchangeProbes.written(exchange);
    }

    /** Where places are taken, by objects that are there and by one that has gone: in a recording that is so after a while alone. */
    private static void crowd(int turn) {
        if (turn % 32 == 0) {
            crowded = new Identities(1, 1);
            crowd = new Object[8];
            new PoolsSeen().add(crowded, "rehearsal"); // in the recording's there is no more room soon
        }
        Object one = new Object();
        int place = turn % crowd.length;
        crowded.entry(crowd[place]);
        crowd[place] = one;
        crowded.put(one, 1);
        crowded.put(one, 2);
        if (crowded.get(one) == 2 && turn % 8 == 0) {
            crowded.entry(one).clear(); // for those who come later
        }
    }

    /** Made by who waits for it, by an event loop, in no visit; run once, and again; and what is no task. */
    private static void tasks(Object connection) {
        Object task = new Object();
        TaskProbes.carry(task);
        ServerProbes.goesAsynchronous();
        long visit = ServerProbes.visitBegin(connection);
        TaskProbes.carry(task);
        ServerProbes.goesAsynchronous();
        ServerProbes.visitEnd(visit);
        visit = ServerProbes.loopVisitBegin(connection);
        ServerProbes.visitEnd(ServerProbes.loopVisitBegin(connection));
        TaskProbes.carry(task);
        TaskProbes.carry(task);
        TaskProbes.carryAgain(task);
        ServerProbes.visitEnd(TaskProbes.runBegin(task)); // within the visit
        ServerProbes.visitEnd(visit);
        for (Object run : new Object[] {task, task, connection}) {
            TaskProbes.begins(run);
            ServerProbes.visitEnd(TaskProbes.runBegin(run));
            TaskProbes.ends();
        }
        ServerProbes.visitEnd(TaskProbes.runBegin(task));
    }

    /** A part of a visit that is itself told as one, to the same connection. */
    private static void aVisitWithin(Object connection, String name) {
        long visit = ServerProbes.visitBegin(connection);
        long within = ServerProbes.visitBegin(connection);
        ServerProbes.request("GET", name);
        ServerProbes.answersInPart(connection, 200, true);
        ServerProbes.visitEnd(ServerProbes.responded(connection, 200));
        ServerProbes.visitEnd(within);
        ServerProbes.visitEnd(visit);
    }

    /** A visit with one step of a handshake and the next one's begin, and one that it does not end in. */
    private static void handshake(Object connection, boolean succeeded) {
        ServerProbes.engineIsDone(true, false);
        long visit = ServerProbes.visitBegin(connection);
        ServerProbes.engineShakesHands(connection);
        ServerProbes.engineShakesHands(succeeded ? null : Resumption.UNTOLD);
        ServerProbes.engineIsDone(succeeded, succeeded);
        ServerProbes.engineIsDone(false, false);
        ServerProbes.engineShakesHands(Resumption.UNTOLD);
        ServerProbes.engineIsDone(true, false);
        ServerProbes.engineShakesHands(connection);
        ServerProbes.visitEnd(visit);
    }

    /** Where a server tells its requests itself, and where nobody listens; of a container there is none yet. */
    private static void servlet(Object request) {
        ServletProbes.serverTells(true);
        ServletProbes.end(ServletProbes.begin(request), request, request, null);
        ServletProbes.serviceEnd(ServletProbes.serviceBegin(request, request));
        ServletProbes.serverTells(false);
        long visit = ServerProbes.visitBegin(request);
        ServletProbes.end(ServletProbes.begin(request), request, request, null);
        ServletProbes.serviceEnd(ServletProbes.serviceBegin(request, request));
        ServletProbes.serviceEnd(ServerProbes.outermostServiceBegin("rehearsal"));
        ServletProbes.end(visit, request, request, null);
    }

    private static void helidon(Object connection) {
        HelidonProbes.connectionOpen(connection, connection);
        HelidonProbes.end(HelidonProbes.begin(connection, connection), connection, connection, null);
        HelidonProbes.end(ServerProbes.visitBegin(connection), connection, connection, null);
        ServerProbes.connectionClose(connection);
    }

    private static void grpc() {
        Object call = new Object();
        ServerProbes.visitEnd(GrpcProbes.visitBegin(call)); // which is not told
        GrpcProbes.answered(call, 0);
        GrpcProbes.closed(call);
        GrpcProbes.arrived(call, call, "rehearsal/Call");
        long visit = GrpcProbes.visitBegin(call);
        ServerProbes.serviceEnd(ServerProbes.serviceBegin("rehearsal/Call"));
        GrpcProbes.answered(call, 0);
        GrpcProbes.answered(call, -1);
        ServerProbes.visitEnd(visit);
        GrpcProbes.closed(call);
        GrpcProbes.asks(call);
        GrpcProbes.made(call, "rehearsal");
        GrpcProbes.hasAnswer(call);
        GrpcProbes.asks(call);
        GrpcProbes.hasAnswer(call);
        visit = ServerProbes.visitBegin(call); // a request that calls in this process
        GrpcProbes.arrived(new Object(), call, "rehearsal/Call");
        ServerProbes.visitEnd(visit);
    }

    /** Of HTTP/2: one with a body behind its headers, and headers behind that; one of gRPC's; and what is no number. */
    private static void streams(Object connection, InetSocketAddress peer) {
        for (String of : new String[] {"io.grpc.Rehearsal", "rehearsal"}) {
            if (StreamProbes.areHeardIn(of)) {
                StreamProbes.areHeardHere(of);
            }
        }
        ServerProbes.visitEnd(StreamProbes.visitBegin(connection, 1)); // of which nothing is known, or a client's
        StreamProbes.headersWritten(connection, 1, "200", null, false);
        StreamProbes.answered(connection, 1);
        StreamProbes.closed(connection, 1);
        ServerProbes.visitEnd(StreamProbes.headersRead(connection, 1, peer, "GET", null));
        ServerProbes.visitEnd(StreamProbes.headersRead(connection, 1, peer, "POST", "/rehearsal"));
        ServerProbes.visitEnd(StreamProbes.visitBegin(connection, 1));
        ServerProbes.visitEnd(StreamProbes.headersRead(connection, 1, peer, null, null));
        StreamProbes.headersWritten(connection, 1, "200", null, false);
        StreamProbes.headersWritten(connection, 1, null, null, false);
        StreamProbes.answered(connection, 1);
        StreamProbes.headersWritten(connection, 3, null, "0", true);
        for (String nonsense : new String[] {"", "+1", ":1", "1000"}) {
            StreamProbes.headersWritten(connection, 3, nonsense, null, true);
        }
        StreamProbes.closed(connection, 1);
        ServerProbes.streamOpen(connection, peer);
    }

    /** As Undertow has them: a step within another, one on the connection that was made meanwhile, one that never ends, and no handshake at all. */
    private static void handshakes(Object connection, InetSocketAddress peer) {
        Object socket = new Object();
        HandshakeProbes.closed(socket);
        long step = HandshakeProbes.stepBegin(socket, peer, connection);
        HandshakeProbes.lastStepEnd(HandshakeProbes.stepBegin(socket, peer, connection), true);
        HandshakeProbes.stepEnd(step);
        HandshakeProbes.connected(socket, peer);
        long visit = ServerProbes.visitBegin(socket);
        HandshakeProbes.lastStepEnd(HandshakeProbes.stepBegin(socket, peer, connection), false);
        ServerProbes.visitEnd(visit);
        HandshakeProbes.closed(socket);
        HandshakeProbes.connected(connection, peer);
        socket = new Object();
        HandshakeProbes.stepEnd(HandshakeProbes.stepBegin(socket, peer, connection));
        HandshakeProbes.stepEnd(HandshakeProbes.stepBegin(socket, peer, connection));
        HandshakeProbes.closed(socket);
    }

    /** A method that calls another. */
    private static void method() {
        MethodProbes.enter(METHOD);
        MethodProbes.enter(METHOD);
        MethodProbes.exit(METHOD);
        MethodProbes.exit(METHOD);
    }

    /** As through a pool's proxy: each call within another of its kind. */
    private static void statement(Object statement, String sql) {
        int wait = JdbcProbes.poolWaitBegin(statement);
        int inner = JdbcProbes.poolWaitBegin(statement);
        JdbcProbes.poolWaitEnd(inner, statement);
        JdbcProbes.poolWaitEnd(wait, statement);
        JdbcProbes.poolWaitEnd(JdbcProbes.poolWaitBegin(statement), statement); // whose name is known now
        int preparing = JdbcProbes.prepareBegin();
        inner = JdbcProbes.prepareBegin();
        JdbcProbes.prepareEnd(inner, statement, sql);
        JdbcProbes.prepareEnd(preparing, statement, sql);
        int running = JdbcProbes.sqlBegin(statement, null);
        inner = JdbcProbes.sqlBegin(statement, sql);
        JdbcProbes.sqlEnd(inner);
        JdbcProbes.sqlEnd(running);
        JdbcProbes.release(statement);
    }

    /** One within another. */
    private static void call(String name) {
        int call = CallProbes.beginNamed(name);
        CallProbes.end(CallProbes.begin(SERVICE));
        AskProbes.answeredBy(AskProbes.ask(SERVICE), null);
        AskProbes.askAgain(null, null);
        CallProbes.end(call);
        IiopProbes.asked(name);
        CallProbes.end(IiopProbes.callBegin());
    }

    /** Two that are answered, one that nobody could ask, and those that are asked for once more. */
    private static void ask(String name) {
        CompletableFuture<Object> answer = new CompletableFuture<>();
        AskProbes.answeredBy(AskProbes.ask(SERVICE), answer);
        answer.complete(name);
        AskProbes.answeredBy(AskProbes.ask(AT_DEFAULT_PORT), null);
        AskProbes.answeredBy(AskProbes.ask("rehearsal", null), null);
        AskProbes.answeredBy(AskProbes.ask("rehearsal", name, -1), null);
        AskProbes.answeredBy(AskProbes.ask("rehearsal", InetSocketAddress.createUnresolved("rehearsal", 1)), null);
        for (String url : new String[] {null, "/path", "rehearsal", "http://rehearsal:1/at?key=1", "http://user@rehearsal/"}) {
            AskProbes.Asked call = AskProbes.askAgain(url, url == null ? null : "http://rehearsal");
            if (call != null) {
                AskProbes.askAgain(url, null);
                AskProbes.hasAskedAgain();
                AskProbes.answeredIn(call, WHOLE).accept(name);
                call.accept(name); // once more
            }
        }
        AskProbes.awaited(AskProbes.askNamed(name), answer);
        AskProbes.over(answer);
        AskProbes.over(name);
        AskProbes.awaited(null, name);
        CallProbes.end(CallProbes.begin("rehearsal", name));
        CallProbes.end(CallProbes.begin("rehearsal", name, -1));
    }

    private static final class Whole implements Function<Object, CompletableFuture<?>> {
        @Override
        public CompletableFuture<?> apply(Object head) {
            return CompletableFuture.completedFuture(head);
        }
    }

    private static void application(String name) {
        long span = AppProbes.spanBegin(name);
        AppProbes.named(Type.APP_PUSH, name);
        AppProbes.pop();
        AppProbes.event(name, span);
        AppProbes.spanEnd(span);
    }
}
