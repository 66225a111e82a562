package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.ServerRequest.Session;
import dev.loadline.guard.cpu.CpusAtHand;
import dev.loadline.guard.policy.Delay;
import dev.loadline.guard.policy.Priority;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Requests as an adapter brings them, with a clock and ticks given by hand. */
class RequestGateTest {
    /** One session takes all there is for hours: who begins another one is refused. */
    private static final String ONE_NEW = "cpus=1; fullCost=80000s; resumedCost=1us";
    private static final long SECOND = 1_000_000_000L;

    private final AtomicLong now = new AtomicLong(SECOND);

    private RequestGate gate(String options) {
        GuardSettings settings = GuardSettings.of(options);
        var gate = new RequestGate(Guard.ofRequests("test", settings, now::get, CpusAtHand.ofThisProcess(settings.cpus())));
        gate.guard().policy().giveDelay(1.5); // threads wait, so that what is owed decides
        return gate;
    }

    /** A request, and what its server would say. */
    private static final class Asks implements ServerRequest {
        private final String path;
        private final Map<String, List<String>> headers = new HashMap<>();
        private String peer = "127.0.0.1";
        private Session session = Session.UNKNOWN;
        private int looks;

        Asks(String path) {
            this.path = path;
        }

        Asks with(String name, String... values) {
            headers.put(name, List.of(values));
            return this;
        }

        Asks from(String address) {
            peer = address;
            return this;
        }

        Asks session(Session said) {
            session = said;
            return this;
        }

        @Override
        public String method() {
            return "GET";
        }

        @Override
        public String path() {
            return path;
        }

        @Override
        public String pathInApplication() {
            return path.startsWith("/shop/") ? path.substring(5) : path;
        }

        @Override
        public Iterable<String> headers(String name) {
            return headers.getOrDefault(name, List.of());
        }

        @Override
        public String peer() {
            return peer;
        }

        @Override
        public String sessionCookie() {
            return "JSESSIONID";
        }

        @Override
        public Session session() {
            looks++;
            return session;
        }
    }

    private static Asks asks() {
        return new Asks("/");
    }

    private static boolean passes(RequestGate gate, Asks asks) {
        GuardedRequest request = gate.request(asks);
        return request == null || !request.refused();
    }

    /** It passes, and is answered so. */
    private static void served(RequestGate gate, Asks asks, int status, String begun, String... setCookies) {
        GuardedRequest request = gate.request(asks);
        assertFalse(request.refused());
        request.enter().leave();
        request.ended(() -> new ServerAnswer(status, List.of(setCookies), asks.session(), begun));
    }

    /** Somebody of another address has taken what there is. */
    private static RequestGate full(RequestGate gate) {
        served(gate, asks().from("10.9.9.9"), 200, null);
        assertFalse(passes(gate, asks().from("10.9.9.8")), "it refuses");
        return gate;
    }

    @Test
    void a_session_that_the_server_began_goes_on_and_who_has_none_is_refused() {
        RequestGate gate = gate(ONE_NEW);
        served(gate, asks(), 200, "A1B2");
        assertFalse(passes(gate, asks().from("10.0.0.1")));
        assertTrue(passes(gate, asks().from("10.0.0.1").with("Cookie", "theme=dark; JSESSIONID=A1B2")));
        assertTrue(passes(gate, asks().with("Cookie", "JSESSIONID=A1B2.node7")), "a server adds where it keeps it");
        assertEquals(1, gate.guard().figures().getRefusedNew());
        assertEquals(1, gate.guard().figures().getNewSessions());
    }

    @Test
    void a_cookie_that_a_response_sets_is_known_too_until_one_takes_it_away() {
        RequestGate gate = gate(ONE_NEW);
        served(gate, asks().from("10.0.0.1"), 200, null, "theme=dark; Path=/", "SESSION=\"c2Vzc2lvbg\"; Path=/; HttpOnly");
        Asks goesOn = asks().from("10.0.0.2").with("Cookie", "SESSION=c2Vzc2lvbg");
        assertTrue(passes(gate, goesOn));
        assertFalse(passes(gate, asks().from("10.0.0.2").with("Cookie", "theme=dark")));
        served(gate, goesOn, 200, null, "SESSION=; Max-Age=0; Path=/");
        assertFalse(passes(gate, goesOn), "logged out");
    }

    @Test
    void a_forged_cookie_is_worth_nothing_however_often_it_comes() {
        RequestGate gate = gate(ONE_NEW);
        Asks forged = asks().from("10.0.0.1").with("Cookie", "JSESSIONID=FORGED").session(Session.INVALID);
        served(gate, forged, 200, null); // in calm everybody is served
        for (int i = 0; i < 100; i++) {
            assertFalse(passes(gate, asks().from("10.0.1." + i).with("Cookie", "JSESSIONID=FORGED").session(Session.INVALID)));
            assertFalse(passes(gate, asks().from("10.0.2." + i).with("Cookie", "JSESSIONID=" + i + "; SESSION=" + i).session(Session.INVALID)));
        }
        assertEquals(1, gate.guard().figures().getBadClaims());
    }

    @Test
    void a_token_counts_once_it_was_let_in_and_the_server_did_not_refuse_it() {
        RequestGate gate = gate("cpus=1; fullCost=100ms; resumedCost=1us");
        served(gate, asks().from("10.0.0.1").with("Authorization", "Bearer good"), 200, null);
        served(gate, asks().from("10.0.0.2").with("Authorization", "Bearer bad"), 401, null);
        for (int i = 0; i < 100 && !gate.guard().figures().isRefusing(); i++) {
            passes(gate, asks().from("10.0.9." + i));
        }
        assertTrue(passes(gate, asks().from("10.0.0.3").with("Authorization", "Bearer good")));
        assertFalse(passes(gate, asks().from("10.0.0.4").with("Authorization", "Bearer bad")));
        served(gate, asks().from("10.0.0.3").with("Authorization", "Bearer good"), 401, null); // it has run out
        assertFalse(passes(gate, asks().from("10.0.0.3").with("Authorization", "Bearer good")));
    }

    @Test
    void who_comes_back_to_a_session_that_the_server_knows_goes_before_who_is_new() {
        RequestGate gate = gate("cpus=1; fullCost=30ms; resumedCost=1us");
        int refused = 0;
        for (int i = 0; i < 40; i++) { // what half a second carries
            refused += passes(gate, asks().from("10.0.0." + i)) ? 0 : 1;
        }
        assertTrue(refused > 0);
        now.addAndGet(SECOND + SECOND / 3); // 3 of 4 of what is owed is paid off at this delay
        assertFalse(passes(gate, asks().from("10.0.1.1")));
        assertTrue(passes(gate, asks().from("10.0.1.2").with("Cookie", "JSESSIONID=OLD").session(Session.VALID)));
        assertFalse(passes(gate, asks().from("10.0.1.3").with("Cookie", "JSESSIONID=LIE").session(Session.INVALID)));
    }

    @Test
    void the_server_is_asked_about_a_session_only_while_somebody_is_refused() {
        RequestGate gate = gate("cpus=1000; fullCost=1us");
        Asks asks = asks().with("Cookie", "JSESSIONID=A").session(Session.VALID);
        assertTrue(passes(gate, asks));
        assertEquals(0, asks.looks);
    }

    @Test
    void two_first_requests_of_one_session_are_one_session() {
        RequestGate gate = gate("cpus=1000");
        Asks asks = asks().with("Authorization", "Bearer t");
        GuardedRequest one = gate.request(asks);
        GuardedRequest other = gate.request(asks);
        one.ended(() -> new ServerAnswer(200, List.of(), Session.UNKNOWN, null));
        one.ended(() -> new ServerAnswer(200, List.of(), Session.UNKNOWN, null));
        other.ended(() -> new ServerAnswer(200, List.of(), Session.UNKNOWN, null));
        assertEquals(1, gate.guard().figures().getNewSessions());
    }

    @Test
    void a_session_that_goes_on_may_change_its_name_and_begins_no_other() {
        RequestGate gate = gate(ONE_NEW);
        served(gate, asks().with("Authorization", "Bearer t"), 200, null);
        full(gate, "10.9.9.9");
        Asks token = asks().from("10.0.0.1").with("Authorization", "Bearer t");
        served(gate, token, 200, "EACH", "SESSION=EACH"); // as a server does that begins one for each request without a cookie
        assertFalse(passes(gate, asks().from("10.0.0.2").with("Cookie", "JSESSIONID=EACH")));
        assertFalse(passes(gate, asks().from("10.0.0.2").with("Cookie", "SESSION=EACH")));
        Asks alsoLies = asks().from("10.0.0.1").with("Authorization", "Bearer t").with("Cookie", "JSESSIONID=LIE").session(Session.INVALID);
        served(gate, alsoLies, 200, "FREE");
        assertFalse(passes(gate, asks().from("10.0.0.2").with("Cookie", "JSESSIONID=FREE")), "a lie that is replaced is no session");
        RequestGate other = gate(ONE_NEW);
        served(other, asks(), 200, "BEFORE");
        full(other, "10.9.9.9");
        served(other, asks().from("10.0.0.1").with("Cookie", "JSESSIONID=BEFORE").session(Session.INVALID), 200, "AFTER"); // by a login
        assertTrue(passes(other, asks().from("10.0.0.1").with("Cookie", "JSESSIONID=AFTER")));
        assertFalse(passes(other, asks().from("10.0.0.1").with("Cookie", "JSESSIONID=BEFORE")));
        assertEquals(0, other.guard().figures().getErrors());
    }

    @Test
    void one_session_that_asks_for_many_others_is_several() {
        RequestGate gate = gate(ONE_NEW + "; sessionRequests=5");
        served(gate, asks(), 200, "A");
        full(gate, "10.9.9.8");
        Asks asks = asks().from("10.0.0.1").with("Cookie", "JSESSIONID=A").session(Session.VALID);
        int passed = 0;
        for (int i = 0; i < 20; i++) {
            passed += passes(gate, asks) ? 1 : 0;
        }
        assertEquals(5, passed);
    }

    private static void full(RequestGate gate, String stranger) {
        assertFalse(passes(gate, asks().from(stranger)), "it refuses");
    }

    @Test
    void health_passes_wherever_the_application_lies_and_exempt_addresses_do() {
        RequestGate gate = full(gate(ONE_NEW + "; exempt=10.1.0.0/16; trustedProxies=10.3.0.1"));
        assertTrue(passes(gate, new Asks("/healthz").from("10.0.0.1")));
        assertTrue(passes(gate, new Asks("/shop/health/ready").from("10.0.0.1")));
        assertFalse(passes(gate, new Asks("/health/../shop").from("10.0.0.1")));
        assertTrue(passes(gate, asks().from("10.1.2.3")));
        assertFalse(passes(gate, asks().from("10.0.0.1").with("X-Forwarded-For", "10.1.2.3")), "who says so is not trusted");
        assertTrue(passes(gate, asks().from("10.3.0.1").with("X-Forwarded-For", "10.1.2.3")));
    }

    @Test
    void a_client_that_was_served_of_late_goes_before_strangers_unless_a_proxy_hides_who_it_is() {
        RequestGate gate = gate("cpus=1; fullCost=100ms; resumedCost=1us");
        served(gate, asks().from("10.0.0.1"), 200, null);
        served(gate, asks().from("10.0.0.2").with("X-Forwarded-For", "192.0.2.1"), 200, null);
        for (int i = 0; i < 100 && !gate.guard().figures().isRefusing(); i++) {
            passes(gate, asks().from("10.0.9." + i));
        }
        now.addAndGet(SECOND + 3 * SECOND / 10);
        assertFalse(passes(gate, asks().from("10.0.3.3")));
        assertFalse(passes(gate, asks().from("10.0.0.2").with("X-Forwarded-For", "192.0.2.2")));
        assertTrue(passes(gate, asks().from("10.0.0.1")), "pictures of a page, without a cookie");
    }

    @Test
    void when_sessions_under_way_alone_are_too_much_their_requests_are_shed_by_priority() {
        RequestGate gate = gate(ONE_NEW + "; low=/search/**; high=/checkout/**");
        served(gate, asks(), 200, "A", "SESSION=B");
        served(gate, new Asks("/checkout/pay").with("Cookie", "JSESSIONID=A"), 200, null);
        full(gate, "10.9.9.9");
        Asks other = new Asks("/search/x").with("Cookie", "SESSION=B");
        for (int i = 0; i < 27; i++) {
            now.addAndGet(SECOND / 4);
            gate.guard().passed(now.get(), new Measured(new Delay.Tick(0.25, 1, 240_000_000, 25, 0, 40 * 250e6, 0, 1), "test", 200_000_000, 200_000_000));
        }
        assertTrue(gate.guard().figures().getShedLevel() > 1);
        assertTrue(passes(gate, new Asks("/search/x").with("Cookie", "JSESSIONID=A")), "it is about to complete");
        assertFalse(passes(gate, other));
        assertEquals(1, gate.guard().figures().getShedRequests());
        assertTrue(passes(gate, new Asks("/healthz").with("Cookie", "SESSION=B")));
    }

    @Test
    void observing_refuses_nobody_and_counts_and_off_looks_at_nobody() {
        RequestGate gate = gate(ONE_NEW + "; mode=observe");
        served(gate, asks().from("10.0.0.1"), 200, null);
        assertTrue(passes(gate, asks().from("10.0.0.2")));
        assertEquals(1, gate.guard().figures().getRefusedNew());
        gate.guard().mode(Mode.ENFORCE);
        assertFalse(passes(gate, asks().from("10.0.0.3")));
        gate.guard().mode(Mode.OFF);
        long requests = gate.guard().figures().getRequests();
        assertNull(gate.request(asks().from("10.0.0.4")));
        assertEquals(requests, gate.guard().figures().getRequests());
    }

    @Test
    void when_nothing_is_measured_any_more_everybody_is_served() throws Exception {
        RequestGate gate = gate(ONE_NEW);
        gate.start();
        full(gate);
        gate.guard().thread().close();
        gate.guard().thread().join();
        now.addAndGet(3 * SECOND);
        assertTrue(passes(gate, asks().from("10.0.0.1")));
        gate.close();
    }

    @Test
    void what_fails_inside_serves_the_request() {
        RequestGate gate = full(gate(ONE_NEW));
        gate.guard().classifier(new RequestClassifier() {
            @Override
            public String session(RequestView request, String claimed) {
                throw new AssertionError("a fault of the classifier");
            }
        });
        assertTrue(passes(gate, asks()));
        gate.guard().classifier(new RequestClassifier() {});
        gate.workerQueue(() -> {
            throw new IllegalStateException("a fault of the pool");
        });
        assertTrue(passes(gate, asks()));
        assertEquals(2, gate.guard().figures().getErrors());
    }

    @Test
    void a_classifier_names_sessions_and_vouches_for_them() {
        RequestGate gate = gate("cpus=1; fullCost=30ms; resumedCost=1us; high=/pay");
        gate.guard().classifier(new RequestClassifier() {
            @Override
            public String session(RequestView request, String claimed) {
                return request.header("X-Customer");
            }

            @Override
            public boolean knows(RequestView request, String session) {
                return session.equals("signed");
            }

            @Override
            public Priority priority(RequestView request, Priority byPattern) {
                return byPattern;
            }
        });
        served(gate, asks().from("10.0.0.1").with("X-Customer", "ann"), 200, null);
        int refused = 0;
        for (int i = 0; i < 40; i++) {
            refused += passes(gate, asks().from("10.0.2." + i)) ? 0 : 1;
        }
        assertTrue(refused > 0);
        assertTrue(passes(gate, asks().from("10.0.1.1").with("X-Customer", "ann")));
        now.addAndGet(SECOND + SECOND / 3);
        assertFalse(passes(gate, asks().from("10.0.1.2").with("X-Customer", "forged")));
        assertTrue(passes(gate, asks().from("10.0.1.3").with("X-Customer", "signed")));
    }

    @Test
    void cpu_time_of_the_first_request_is_what_a_handshake_is_and_what_follows_follows() {
        RequestGate gate = gate("cpus=1000");
        gate.guard().policy().giveDelay(0.1); // nobody is refused
        var sessions = new ArrayList<String>();
        for (int i = 0; i < 200; i++) {
            burn(gate, asks(), "s" + i, 2_000_000);
            sessions.add("s" + i);
        }
        for (String session : sessions) {
            burn(gate, asks().with("Cookie", "JSESSIONID=" + session).session(Session.VALID), null, 1_000_000);
        }
        now.addAndGet(SECOND);
        gate.guard().passed(now.get(), new Measured(new Delay.Tick(1, 1000, 0, 400, 0, 0, 0, Double.NaN), "test",
            gate.guard().counters().attributedCpuNanos(), gate.guard().counters().attributedCpuNanos()));
        double cost = gate.guard().figures().getNewCostMillis();
        assertTrue(cost > 2.7 && cost < 6, "a session of 2 and 1 ms: " + cost);
        assertEquals(200, gate.guard().figures().getNewSessions());
        assertEquals(0, gate.guard().figures().getEventsUnderWay());
    }

    private static void burn(RequestGate gate, Asks asks, String begun, long nanos) {
        GuardedRequest request = gate.request(asks);
        GuardedRequest.Run run = request.enter();
        long end = dev.loadline.guard.cpu.VirtualThreads.threadNanos() + nanos;
        while (dev.loadline.guard.cpu.VirtualThreads.threadNanos() < end) {
            Thread.onSpinWait();
        }
        run.leave();
        request.ended(() -> new ServerAnswer(200, List.of(), asks.session(), begun));
    }
}
