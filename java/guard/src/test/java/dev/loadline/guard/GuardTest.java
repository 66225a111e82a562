package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.Loadline;
import dev.loadline.guard.cpu.CpusAtHand;
import dev.loadline.guard.cpu.VirtualThreads;
import dev.loadline.guard.hello.ClientHello;
import dev.loadline.guard.micrometer.GuardMetrics;
import dev.loadline.guard.policy.Delay;
import dev.loadline.guard.policy.Priority;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The guard as an adapter uses it, with ticks given by hand. */
class GuardTest {
    private static final InetAddress SOMEBODY = InetAddress.getLoopbackAddress();
    private static final String ONE_NEW = "cpus=1; fullCost=80000s; resumedCost=1us; probeShare=0";

    private static ClientHello hello(String ticket) {
        return new ClientHello(0x303, false, new byte[0], ticket == null ? null : ticket.getBytes(), null, 0, false, null,
            List.of(), 200, 1);
    }

    /** One whose threads wait for longer than they should, so that what is owed decides. */
    private static Guard guard(String options) {
        var guard = new Guard("test", GuardSettings.of(options));
        guard.policy().giveDelay(1.5);
        return guard;
    }

    /** So many events waited at any time, for each of 25 that ended. */
    private static void tick(Guard guard, double waiting) {
        guard.passed(System.nanoTime(), new Measured(new Delay.Tick(0.25, 1, 240_000_000, 25, 0, waiting * 250e6, 0, 1), "test", 200_000_000, 200_000_000));
    }

    /** While it is off connections come that it is not told of, and its threads wait for them. */
    @Test
    void one_that_is_switched_on_takes_nothing_that_was_while_it_was_off_for_overload() {
        var guard = new Guard("test", GuardSettings.of("cpus=1; mode=off"));
        for (int i = 0; i < 20; i++) {
            guard.passed(System.nanoTime(), new Measured(new Delay.Tick(0.25, 1, 180_000_000, 0, 0, 200e6, 0, Double.NaN), "test", 0, 0));
        }
        guard.mode(Mode.ENFORCE);
        assertFalse(guard.snapshot().refusing());
        assertTrue(served(guard).decided());
        assertEquals(0, guard.figures().getRefusedNew());
    }

    private static RequestView request(String path) {
        return new RequestView() {
            @Override
            public String method() {
                return "GET";
            }

            @Override
            public String path() {
                return path;
            }

            @Override
            public String header(String name) {
                return null;
            }

            @Override
            public InetAddress remoteAddress() {
                return SOMEBODY;
            }

            @Override
            public int earlierRequests() {
                return 0;
            }
        };
    }

    private static GuardedConnection served(Guard guard) {
        return served(guard, SOMEBODY);
    }

    private static GuardedConnection served(Guard guard, InetAddress address) {
        GuardedConnection connection = guard.connection(address);
        connection.decide(hello(null), true, true);
        connection.handshakeDone(System.currentTimeMillis());
        return connection;
    }

    /** One connection may serve a session for minutes; the next of it is no new one. */
    @Test
    void who_asks_on_a_connection_stays_known() throws Exception {
        var now = new AtomicLong(System.nanoTime());
        GuardSettings settings = GuardSettings.of(ONE_NEW);
        Guard guard = new Guard("test", settings, now::get, CpusAtHand.ofThisProcess(settings.cpus()));
        InetAddress reader = InetAddress.getByName("192.0.2.7");
        InetAddress left = InetAddress.getByName("192.0.2.8");
        GuardedConnection connection = served(guard, reader);
        served(guard, left);
        for (int minute = 0; minute < 5; minute++) {
            now.addAndGet(TimeUnit.MINUTES.toNanos(1));
            assertFalse(connection.refusesRequest(request("/page")));
        }
        now.addAndGet(TimeUnit.SECONDS.toNanos(59));
        assertTrue(guard.known().contains(reader, now.get()));
        assertFalse(guard.known().contains(left, now.get()));
    }

    /** Jetty may run a stream of HTTP/2 on the thread that read its frames. */
    @Test
    void what_a_stream_costs_is_not_its_connections_too() {
        Guard guard = guard(ONE_NEW);
        var serving = new Serving(served(guard));
        long before = guard.counters().attributedCpuNanos();
        serving.begin();
        Serving.Apart stream = Serving.apart();
        long begin = VirtualThreads.threadNanos();
        while (VirtualThreads.threadNanos() - begin < 50_000_000) {
            Thread.onSpinWait();
        }
        stream.over();
        serving.end();
        long its = guard.counters().attributedCpuNanos() - before;
        assertTrue(its > 0 && its < 25_000_000, its + " ns, of which 50 ms were the stream's");
        Serving.apart().over(); // on a thread that works for no connection
    }

    @Test
    void a_ticket_replayed_is_refused_while_refusing_and_only_then() {
        Guard guard = guard(ONE_NEW + "; ticketReuse=3");
        for (int i = 0; i < 3; i++) {
            assertEquals(Action.SERVE, guard(ONE_NEW).connection(SOMEBODY).decide(hello("t"), true, true));
        }
        served(guard);
        assertEquals(Action.ALERT, guard.connection(SOMEBODY).decide(hello(null), true, true));
        for (int i = 0; i < 3; i++) {
            assertEquals(Action.SERVE_RESUMED_ONLY, guard.connection(SOMEBODY).decide(hello("t"), true, true));
        }
        assertEquals(Action.ALERT, guard.connection(SOMEBODY).decide(hello("t"), true, true));
        assertEquals(1, guard.figures().getRefusedReplays());
        assertEquals(Action.SERVE_RESUMED_ONLY, guard.connection(SOMEBODY).decide(hello("other"), true, true));
    }

    @Test
    void a_flood_of_forged_tickets_bars_its_address() throws Exception {
        Guard guard = guard(ONE_NEW);
        InetAddress honest = InetAddress.getByName("10.0.0.1");
        served(guard, honest);
        served(guard);
        for (int i = 0; i < 20; i++) {
            GuardedConnection forged = guard.connection(SOMEBODY);
            assertEquals(Action.SERVE_RESUMED_ONLY, forged.decide(hello("forged " + i), true, true));
            forged.handshakeRan(100_000);
            forged.handshakeFailed();
            forged.closed();
        }
        assertEquals(Action.ALERT, guard.connection(SOMEBODY).decide(hello("forged"), true, true));
        assertEquals(1, guard.figures().getRefusedAddresses());
        assertEquals(20, guard.figures().getRefusedBadClaims());
        assertEquals(Action.SERVE_RESUMED_ONLY, guard.connection(honest).decide(hello("honest"), true, true));
    }

    @Test
    void its_address_is_barred_before_anybody_is_refused_and_heard_while_there_is_room() throws Exception {
        Guard guard = guard(ONE_NEW);
        guard.policy().giveDelay(0.3);
        for (int i = 0; i < 20; i++) {
            GuardedConnection forged = guard.connection(SOMEBODY);
            assertNotEquals(Action.ALERT, forged.decide(hello("forged " + i), true, true));
            forged.handshakeRan(100_000);
            forged.handshakeFailed();
            forged.closed();
        }
        assertEquals(Action.ALERT, guard.connection(SOMEBODY).decide(hello("forged"), true, true));
        assertFalse(guard.snapshot().refusing());
        guard.policy().giveDelay(0.05);
        served(guard, InetAddress.getByName("10.0.0.1"));
        assertNotEquals(Action.ALERT, guard.connection(SOMEBODY).decide(hello("forged"), true, true));
    }

    @Test
    void claims_that_are_left_in_mid_handshake_bar_their_address_too() throws Exception {
        Guard guard = guard(ONE_NEW);
        served(guard, InetAddress.getByName("10.0.0.1"));
        served(guard);
        for (int i = 0; i < 20; i++) {
            GuardedConnection left = guard.connection(SOMEBODY);
            left.decide(hello("left " + i), true, true);
            left.handshakeRan(100_000);
            left.closed();
        }
        assertEquals(Action.ALERT, guard.connection(SOMEBODY).decide(hello("left"), true, true));
        assertEquals(1, guard.figures().getRefusedAddresses());
    }

    @Test
    void when_established_connections_alone_are_too_much_requests_are_shed_by_priority() {
        Guard guard = guard(ONE_NEW + "; low=/search/**; high=/checkout/**");
        GuardedConnection ordinary = served(guard);
        GuardedConnection buyer = served(guard);
        assertFalse(ordinary.refusesRequest(request("/search/x")));
        for (int i = 0; i < 20; i++) {
            tick(guard, 40);
        }
        assertTrue(guard.figures().getShedLevel() > 1, "level " + guard.figures().getShedLevel());
        assertTrue(ordinary.refusesRequest(request("/search/x")));
        assertFalse(ordinary.refusesRequest(request("/health/live")));
        assertFalse(buyer.refusesRequest(request("/checkout/pay")));
        for (int i = 0; i < 50; i++) {
            assertFalse(buyer.refusesRequest(request("/search/x")), "it is about to complete");
        }
        for (int i = 0; i < 100; i++) {
            tick(guard, 0);
        }
        assertEquals(0, guard.figures().getShedLevel());
        assertFalse(ordinary.refusesRequest(request("/search/x")));
    }

    @Test
    void observing_sheds_nothing_but_counts() {
        Guard guard = guard(ONE_NEW + "; low=/**; mode=observe");
        GuardedConnection connection = served(guard);
        for (int i = 0; i < 40; i++) {
            tick(guard, 60);
        }
        assertFalse(connection.refusesRequest(request("/x")));
        assertEquals(1, guard.figures().getShedRequests());
    }

    @Test
    void a_classifier_that_fails_serves_the_request_and_is_counted() {
        Guard guard = guard("");
        GuardedConnection connection = served(guard);
        guard.classifier(new RequestClassifier() {
            @Override
            public Priority priority(RequestView request, Priority byPattern) {
                throw new IllegalStateException("a fault of the classifier");
            }
        });
        assertFalse(connection.refusesRequest(request("/")));
        assertEquals(1, guard.figures().getErrors());
    }

    @Test
    void a_session_older_than_its_hello_was_resumed() {
        Guard guard = guard("");
        GuardedConnection connection = guard.connection(SOMEBODY);
        connection.decide(hello("t"), true, true);
        connection.handshakeDone(System.currentTimeMillis() - 1_000);
        assertEquals(1, guard.figures().getResumedHandshakes());
        assertEquals(0, guard.figures().getBadClaims());
    }

    @Test
    void events_under_way_are_counted_once_each_and_end_with_the_connection() {
        Guard guard = guard("");
        GuardedConnection one = served(guard);
        GuardedConnection other = served(guard);
        one.dispatched();
        one.dispatched();
        other.dispatched();
        assertEquals(2, guard.figures().getEventsUnderWay());
        one.begun();
        one.done();
        one.done();
        assertEquals(1, guard.figures().getEventsUnderWay());
        other.closed();
        assertEquals(0, guard.figures().getEventsUnderWay());
        assertEquals(1, guard.figures().getOpenConnections());
    }

    @Test
    void an_event_that_comes_when_the_connection_is_gone_does_not_count() {
        Guard guard = guard("");
        GuardedConnection connection = served(guard);
        connection.closed();
        connection.dispatched();
        connection.begun();
        assertEquals(0, guard.figures().getEventsUnderWay());
        connection.done();
        connection.closed();
        assertEquals(0, guard.figures().getEventsUnderWay());
        assertEquals(0, guard.figures().getOpenConnections());
    }

    /** Requests that wait for another machine, say: nobody waits for a CPU behind them. */
    @Test
    void events_that_never_end_keep_nobody_out_for_ever() throws Exception {
        assumeTrue(Files.isReadable(Path.of("/proc/self/schedstat")), "only Linux says what threads wait for");
        var stop = new AtomicBoolean();
        try (Guard guard = new Guard("test", GuardSettings.of("cpus=1; fullCost=20ms; resumedCost=1us; probeShare=0"))) {
            var worker = new Thread(() -> {
                guard.threads().runsEvent();
                while (!stop.get()) {
                    long end = System.nanoTime() + 2_000_000;
                    while (System.nanoTime() < end) {
                        Thread.onSpinWait();
                    }
                    LockSupport.parkNanos(20_000_000);
                }
            });
            for (int i = 0; i < 40; i++) {
                served(guard).dispatched(); // more than half an interval carries: it begins to refuse
            }
            assertTrue(guard.figures().getRefusedNew() > 0);
            worker.start();
            guard.start();
            long before = guard.figures().getRefusedNew();
            assertEquals(0, admitted(guard, 20)); // forty under way, and for all it knows they compete
            assertEquals(before + 20, guard.figures().getRefusedNew());
            int admitted = 0;
            for (int i = 0; i < 1_000 && admitted < 20; i++) { // fifty a second would fit
                admitted += admitted(guard, 1);
                Thread.sleep(10);
            }
            assertEquals(20, admitted);
            assertEquals(40, guard.figures().getEventsUnderWay());
        } finally {
            stop.set(true);
        }
    }

    private static int admitted(Guard guard, int offered) {
        int admitted = 0;
        for (int i = 0; i < offered; i++) {
            admitted += guard.connection(SOMEBODY).decide(hello(null), true, true) == Action.SERVE ? 1 : 0;
        }
        return admitted;
    }

    @Test
    void figures_are_in_micrometer() {
        Guard guard = guard(ONE_NEW);
        var registry = new SimpleMeterRegistry();
        new GuardMetrics(() -> guard, "https").bindTo(registry);
        served(guard);
        guard.connection(SOMEBODY).decide(hello(null), true, true);
        assertEquals(1, registry.get("loadline.guard.refused").tags("reason", "budget", "connector", "https")
            .functionCounter().count());
        assertEquals(1, registry.get("loadline.guard.handshakes").tag("kind", "full").functionCounter().count());
        assertEquals(1, registry.get("loadline.guard.refusing").gauge().value());
    }

    /** As a Spring Boot application does, before its connector starts. */
    @Test
    void meters_may_be_bound_before_there_is_a_guard() {
        var there = new AtomicReference<Guard>();
        var registry = new SimpleMeterRegistry();
        new GuardMetrics(there::get, "https").bindTo(registry);
        assertEquals(0, registry.get("loadline.guard.handshakes").tag("kind", "full").functionCounter().count());
        assertTrue(Double.isNaN(registry.get("loadline.guard.refusing").gauge().value()));
        assertTrue(Double.isNaN(registry.get("loadline.guard.cost").tag("kind", "new").gauge().value()));
        System.gc();
        there.set(guard(""));
        served(there.get());
        assertEquals(1, registry.get("loadline.guard.handshakes").tag("kind", "full").functionCounter().count());
        assertEquals(0, registry.get("loadline.guard.refusing").gauge().value());
    }

    @Test
    void refusals_and_times_of_refusing_are_in_jfr(@TempDir Path dir) throws Exception {
        Path file = dir.resolve("guard.jfr");
        try (var recording = new Recording()) {
            recording.start();
            Guard guard = guard(ONE_NEW);
            served(guard);
            guard.connection(SOMEBODY).decide(hello(null), true, true);
            tick(guard, 0);
            for (int i = 0; i < 10; i++) {
                tick(guard, 0);
            }
            recording.stop();
            recording.dump(file);
        }
        Map<String, List<RecordedEvent>> events = RecordingFile.readAllEvents(file).stream()
            .collect(java.util.stream.Collectors.groupingBy(e -> e.getEventType().getName()));
        assertEquals("budget", events.get("dev.loadline.guard.Refused").get(0).getString("reason"));
        assertNotNull(events.get("dev.loadline.guard.Refusing"), "it ended: nobody was refused for long enough");
        assertEquals(11, events.get("dev.loadline.guard.Budget").size());
    }

    @Test
    void refusals_and_times_of_refusing_are_in_a_recording_of_loadline() {
        Loadline.TOLD.clear();
        Guard guard = guard(ONE_NEW);
        served(guard);
        guard.connection(SOMEBODY).decide(hello(null), true, true);
        for (int i = 0; i < 11; i++) {
            tick(guard, 0);
        }
        assertEquals(List.of("guard refused budget 1", "begin guard refusing", "end guard refusing"), Loadline.TOLD);
    }

    @Test
    void the_thread_of_a_guard_measures_and_ends_with_it() throws Exception {
        Guard guard = guard("");
        guard.start();
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20); guard.figures().getCpusFrom().startsWith("not"); ) {
            assertTrue(System.nanoTime() < end, "no tick within 20 s");
            Thread.sleep(10);
        }
        assertTrue(guard.figures().getCpus() > 0);
        guard.close();
        guard.close();
        assertEquals(Action.SERVE, guard.connection(SOMEBODY).decide(hello(null), true, true));
    }

    @Test
    void the_alert_is_one_record() {
        assertEquals(Guard.ALERT.length - 5, ByteBuffer.wrap(Guard.ALERT).getShort(3));
    }
}
