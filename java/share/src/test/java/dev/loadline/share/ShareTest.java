package dev.loadline.share;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class ShareTest {
    private static final int ALL = Runtime.getRuntime().availableProcessors();

    @TempDir
    Path dir;

    private Settings settings(Path socket) {
        return new Settings(socket, "shop", 2, Settings.AUTO);
    }

    private static void until(BooleanSupplier holds) throws InterruptedException {
        for (int i = 0; i < 500 && !holds.getAsBoolean(); i++) {
            Thread.sleep(10);
        }
        assertTrue(holds.getAsBoolean(), "did not come about within 5 s");
    }

    @Test
    void without_a_daemon_there_are_all_cpus() {
        try (Share share = Share.connect(settings(dir.resolve("none.sock")))) {
            share.cpusRequested(1.5);
            share.report(10, 20);
            assertEquals(ALL, share.cpusAssigned());
            assertTrue(share.cpusGiven().isEmpty());
            assertFalse(share.assignment().managed());
        }
    }

    @Test
    void it_registers_and_reads_what_it_has() throws Exception {
        try (var daemon = new FakeDaemon(dir)) {
            daemon.assign(1.5, 0b11);
            try (Share share = Share.connect(settings(daemon.socket()))) {
                assertEquals("register name=shop priority=2.0", daemon.hear());
                assertEquals(1.5, share.cpusAssigned());
                assertEquals(BitSet.valueOf(new long[] {0b11}), share.assignment().set());
                assertTrue(share.assignment().managed());
                share.cpusRequested(2.5);
                assertEquals("request request=2.5", daemon.hear());
                share.cpusRequested(2.5); // nothing new
                share.report(41.5, 12);
                assertEquals("report goodput=41.5 p95_ms=12.0", daemon.hear());
                share.cpusRequestedAutomatically();
                assertEquals("request request=auto", daemon.hear());
            }
        }
    }

    @Test
    void a_listener_hears_of_each_change_until_it_is_ended() throws Exception {
        try (var daemon = new FakeDaemon(dir)) {
            daemon.assign(2, 0b11);
            try (Share share = Share.connect(settings(daemon.socket()))) {
                daemon.hear();
                var seen = new LinkedBlockingQueue<Double>();
                share.onChange(now -> {
                    throw new IllegalStateException("one that fails does not keep others from hearing");
                });
                Runnable end = share.onChange(now -> seen.add(now.cpus()));
                assertEquals(2, seen.poll(5, TimeUnit.SECONDS));
                daemon.assign(0.5, 0b10);
                daemon.say("cpus assigned=0.5 set=1");
                assertEquals(0.5, seen.poll(5, TimeUnit.SECONDS));
                end.run();
                daemon.say("cpus assigned=0.5 set=1");
                assertNull(seen.poll(200, TimeUnit.MILLISECONDS));
            }
        }
    }

    @Test
    void a_daemon_that_stops_lets_go_and_one_that_comes_back_is_found() throws Exception {
        try (Share share = Share.connect(settings(dir.resolve("share.sock")))) {
            share.cpusRequested(3);
            try (var daemon = new FakeDaemon(dir)) {
                daemon.assign(0.5, 1);
                assertEquals("register name=shop priority=2.0 request=3.0", daemon.hear());
                until(() -> share.cpusAssigned() == 0.5);
                daemon.letGo();
            }
            until(() -> share.cpusAssigned() == ALL);
            try (var daemon = new FakeDaemon(dir)) {
                daemon.assign(0.25, 1);
                until(() -> share.cpusAssigned() == 0.25);
            }
        }
    }

    @Test
    void a_daemon_that_dies_leaves_the_application_where_it_was() throws Exception {
        var daemon = new FakeDaemon(dir);
        daemon.assign(0.5, 1);
        try (Share share = Share.connect(settings(daemon.socket()))) {
            until(() -> share.cpusAssigned() == 0.5);
            daemon.close();
            Thread.sleep(300);
            assertEquals(0.5, share.cpusAssigned());
        }
    }

    @Test
    void who_is_refused_has_all_cpus() throws Exception {
        try (var daemon = new FakeDaemon(dir, "error user 4242 may not register", 1)) {
            try (Share share = Share.connect(settings(daemon.socket()))) {
                daemon.hear();
                assertEquals(ALL, share.cpusAssigned());
            }
        }
    }

    @Test
    void a_page_of_another_version_is_not_read() throws Exception {
        try (var daemon = new FakeDaemon(dir, null, 2)) {
            daemon.assign(0.5, 1);
            try (Share share = Share.connect(settings(daemon.socket()))) {
                daemon.hear();
                assertTrue(share.cpusGiven().isEmpty());
            }
        }
    }

    @Test
    void what_makes_no_sense_is_refused() {
        assertThrows(IllegalArgumentException.class, () -> new Settings(null, "a b", 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Settings(null, "a", 0, 1));
        assertThrows(IllegalArgumentException.class, () -> new Settings(null, "a", 1, Double.NaN));
        try (Share share = Share.connect(settings(dir.resolve("none.sock")))) {
            assertThrows(IllegalArgumentException.class, () -> share.cpusRequested(-1));
            assertThrows(IllegalArgumentException.class, () -> share.report(Double.NaN, 1));
        }
    }
}
