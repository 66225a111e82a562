package dev.loadline.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.guard.cpu.CpusAtHand;
import dev.loadline.guard.hello.ClientHello;
import dev.loadline.share.CpuSource;
import java.net.InetAddress;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a guard asks a CPU manager for. */
@Timeout(60)
class CpuRequestTest {
    private static final InetAddress SOMEBODY = InetAddress.getLoopbackAddress();

    /** Gives one CPU, and keeps what it was asked for last. */
    private static final class Manager implements CpuSource {
        volatile double requested = -1;

        @Override
        public OptionalDouble cpus() {
            return OptionalDouble.of(1);
        }

        @Override
        public String name() {
            return "the test";
        }

        @Override
        public void cpusRequested(double cpus) {
            requested = cpus;
        }
    }

    private static Guard guard(String options, Manager manager) {
        GuardSettings settings = GuardSettings.of(options);
        return new Guard("test", settings, System::nanoTime, CpusAtHand.ofThisProcess(settings.cpus(), List.of(manager)));
    }

    private static void knock(Guard guard) {
        GuardedConnection connection = guard.connection(SOMEBODY);
        Action action = connection.decide(new ClientHello(0x303, false, new byte[0], null, null, 0, false, null, List.of(), 200, 1), true, true);
        if (action == Action.SERVE) {
            connection.handshakeDone(System.currentTimeMillis());
        }
        connection.closed();
    }

    /** New connections for some seconds, twenty a second. */
    private static void offer(Guard guard, double seconds) throws InterruptedException {
        for (long end = System.nanoTime() + (long) (seconds * 1e9); System.nanoTime() < end; Thread.sleep(50)) {
            knock(guard);
        }
    }

    @Test
    void a_guard_asks_for_what_is_offered_at_its_cost_refused_or_not() throws Exception {
        var manager = new Manager();
        try (Guard guard = guard("fullCost=200ms; probeShare=0", manager)) {
            guard.start();
            guard.policy().giveDelay(1.5); // one CPU is too few for twenty a second at 0.2 s each
            offer(guard, 8);
            assertTrue(guard.figures().getRefusedNew() > 0, "it refuses");
            double needed = 20 * 0.2 * 1.25;
            assertEquals(needed, manager.requested, 0.25 * needed);
        }
    }

    @Test
    void all_connectors_of_a_process_ask_together() throws Exception {
        var manager = new Manager();
        try (Guard one = guard("fullCost=100ms", manager); Guard other = guard("fullCost=100ms", manager)) {
            one.start();
            other.start();
            for (long end = System.nanoTime() + 8_000_000_000L; System.nanoTime() < end; Thread.sleep(50)) {
                knock(one);
                knock(other);
            }
            assertEquals(2 * 20 * 0.1 * 1.25, manager.requested, 0.25 * 5);
        }
    }

    @Test
    void a_guard_that_is_told_not_to_ask_does_not() throws Exception {
        for (String options : List.of("cpuRequest=off", "cpus=2")) {
            var manager = new Manager();
            try (Guard guard = guard(options, manager)) {
                guard.start();
                offer(guard, 1);
                assertEquals(-1, manager.requested, options);
            }
        }
    }
}
