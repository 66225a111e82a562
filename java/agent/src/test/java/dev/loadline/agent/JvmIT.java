package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Locks;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** The jvm level: monitors, parks, collections, threads. */
class JvmIT {
    private static final String MONITOR = Locks.Monitor.class.getName();
    private static final String LOCKS = Locks.class.getName();
    private static final long MS = 1_000_000;
    /** Why a virtual thread is unmounted, as the native half tells it. */
    private static final long LEFT_PARKS = 1;
    private static final long LEFT_ENDED = 2;

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with Java 21")
    void who_lets_a_virtual_thread_go_on_is_told_where_the_agent_was_there_at_start() throws Exception {
        try (Target target = Target.start(Locks.class, Way.START.options()); TestRecorder recorder = Way.START.recorder()) {
            recorder.record(target.pid());
            String[] ids = target.tell("unpark").split(" ");
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            long parked = Long.parseLong(ids[0]);
            Event park = spool.where(e -> e.virtual() == parked && e.type() == Type.PARK).get(0);
            List<Event> told = spool.where(e -> e.type() == Type.GOES_ON && e.a() == parked && e.ts() > park.ts());
            assertEquals(1, told.size(), told::toString);
            Event goesOn = told.get(0);
            assertEquals(tidOf(spool, Long.parseLong(ids[1])), goesOn.tid());
            Event mount = spool.where(e -> e.virtual() == parked && e.type() == Type.MOUNT && e.ts() > park.ts()).get(0);
            assertTrue(goesOn.ts() - park.ts() >= 15 * MS && goesOn.ts() <= mount.ts(), told + " " + mount);
        }
    }

    private record Told(List<String> words, Spool spool) {
        long word(int i) {
            return Long.parseLong(words.get(i));
        }
    }

    private static Told record(String command) throws Exception {
        try (Target target = Target.start(Locks.class); TestRecorder recorder = TestRecorder.prepare()) {
            recorder.record(target.pid());
            String reply = target.tell(command);
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            return new Told(List.of(reply.split(" ")), spool);
        }
    }

    private static Event only(Spool spool, int type, String c) {
        List<Event> found = spool.where(e -> e.type() == type && c.equals(e.c()));
        assertEquals(1, found.size(), () -> "events of type " + type + " on " + c + ": " + found);
        return found.get(0);
    }

    /** The innermost frame that is not the JDK's lies in this method of the program. */
    private static void assertCode(Spool spool, Event end, String method) {
        List<String> stack = spool.stack(end);
        String code = stack.stream().filter(f -> !f.startsWith("java.") && !f.startsWith("jdk.")).findFirst().orElse("");
        assertTrue(code.startsWith(LOCKS + "." + method), stack::toString);
    }

    private static int tidOf(Spool spool, long javaId) {
        List<Event> found = spool.where(e -> e.type() == Type.THREAD && e.a() == javaId && (e.b() != 0 || e.tid() != 0));
        assertFalse(found.isEmpty(), "no thread " + javaId);
        Event thread = found.get(0);
        return thread.b() != 0 ? (int) thread.b() : thread.tid();
    }

    @Test
    void a_contended_monitor_is_waited_for_as_long_as_it_is_held() throws Exception {
        Told told = record("contend");
        Event enter = only(told.spool, Type.MONITOR_ENTER, MONITOR);
        Event entered = only(told.spool, Type.MONITOR_ENTERED, MONITOR);
        assertEquals(told.word(1), enter.a());
        assertEquals(told.word(1), entered.a());
        assertEquals(tidOf(told.spool, told.word(0)), enter.tid());
        // The JVM shows a thread as blocked a moment before it tells its agents.
        assertTrue(enter.ts() - told.word(2) < 50 * MS, "it waits while the monitor is held");
        assertTrue(Math.abs(entered.ts() - told.word(3)) < 5 * MS, "it enters when the holder leaves");
        List<String> stack = told.spool.stack(entered);
        assertTrue(stack.get(0).startsWith(LOCKS + ".wantMonitor(Locks.java:"), stack::toString);
        assertTrue(stack.get(stack.size() - 1).startsWith("java.lang.Thread.run"), stack::toString);
        assertEquals(0, told.spool.lostStacks);
    }

    @Test
    void a_wait_that_times_out_says_so() throws Exception {
        Told told = record("wait");
        Event wait = only(told.spool, Type.MONITOR_WAIT, MONITOR);
        Event waited = only(told.spool, Type.MONITOR_WAITED, MONITOR);
        assertEquals(60, wait.b());
        assertEquals(1, (int) waited.b());
        assertTrue(waited.ts() - wait.ts() >= 60 * MS);
        assertCode(told.spool, waited, "lambda$await");
    }

    @Test
    void a_wait_that_is_notified_says_so() throws Exception {
        Told told = record("notify");
        Event wait = only(told.spool, Type.MONITOR_WAIT, MONITOR);
        Event waited = only(told.spool, Type.MONITOR_WAITED, MONITOR);
        assertEquals(told.word(1), wait.a());
        assertEquals(0, (int) waited.b());
    }

    @Test
    void a_park_names_the_lock_and_its_owner() throws Exception {
        Told told = record("lock");
        Event park = only(told.spool, Type.PARK, "java.util.concurrent.locks.ReentrantLock$NonfairSync");
        assertEquals(told.word(1), park.b());
        assertEquals(tidOf(told.spool, told.word(0)), park.tid());
        Event unparked = told.spool.where(e -> e.type() == Type.UNPARKED && e.tid() == park.tid()).get(0);
        assertTrue(unparked.ts() - park.ts() >= 45 * MS, "parked while the lock is held");
        assertCode(told.spool, unparked, "lambda$lock");
        assertTrue(told.spool.stack(unparked).get(0).startsWith("jdk.internal.misc.Unsafe.park("));
    }

    @Test
    void a_collection_has_its_pause_its_collector_and_its_cause() throws Exception {
        try (Target target = Target.start(Locks.class, "-XX:+UseSerialGC"); TestRecorder recorder = TestRecorder.prepare()) {
            recorder.record(target.pid());
            // A young one may come before it, of what attaching allocates. And Serial on 17 makes none
            // that is asked for while a thread is in a JNI critical region, as one that loads the agent's classes is when it inflates.
            for (int i = 0; i < 100 && asked(recorder.read()) == null; i++) {
                if (i % 10 == 0) {
                    target.tell("gc");
                }
                Thread.sleep(20);
            }
            Spool spool = recorder.stop();
            Event start = spool.of(Type.GC_START).get(0);
            Event end = spool.of(Type.GC_END).get(0);
            assertTrue(start.ts() < end.ts() && start.tid() == end.tid() && start.tid() != 0);
            Event info = asked(spool);
            assertTrue(info != null, "the collection was told");
            assertEquals("MarkSweepCompact", info.c());
            long before = (info.b() >>> 32) * 4096;
            long after = (info.b() & 0xFFFF_FFFFL) * 4096;
            assertTrue(after > 0 && after <= before && before < 256 << 20, before + " to " + after);
            Event generations = spool.where(e -> e.type() == Type.GC_GENERATIONS && e.ts() >= info.ts()).get(0);
            long old = (generations.a() & 0xFFFF_FFFFL) * 4096;
            assertEquals(0, generations.a() >>> 32, "a full collection leaves nothing in the survivor spaces");
            assertTrue(old > 0 && old <= after && after < generations.b() * 4096, old + " of " + after);
        }
    }

    /** What was told of the collection that the program asked for, once all of it was; else null. */
    private static Event asked(Spool spool) {
        return spool.where(e -> e.type() == Type.GC_INFO && "System.gc()".equals(spool.strings.get((int) e.a()))).stream()
                .filter(info -> !spool.where(e -> e.type() == Type.GC_GENERATIONS && e.ts() >= info.ts()).isEmpty())
                .findFirst().orElse(null);
    }

    @Test
    void threads_have_names_and_ends() throws Exception {
        Told told = record("contend");
        Event thread = told.spool.where(e -> e.type() == Type.THREAD && e.a() == told.word(0)).get(0);
        assertEquals("waiter", thread.c());
        assertEquals(1, told.spool.where(
                e -> e.type() == Type.THREAD_END && e.a() == told.word(0)).size());
        assertTrue(told.spool.info.contains("\"names_threads\": true"), told.spool.info);
        List<Event> before = told.spool.where(e -> e.type() == Type.THREAD && e.ts() < thread.ts() && e.tid() == 0);
        assertTrue(before.stream().anyMatch(e -> "main".equals(e.c())), before::toString);
        assertTrue(before.stream().allMatch(e -> e.b() != 0), "each with the kernel's id: " + before);
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with Java 21")
    void a_virtual_thread_that_waits_for_a_monitor_has_its_stack_and_goes_on() throws Exception {
        Told told = record("virtual-monitor");
        List<Event> its = told.spool.where(e -> e.virtual() == told.word(0));
        assertEquals(1, its.stream().filter(e -> e.type() == Type.MONITOR_WAITED).count(), its::toString);
        List<Event> entered = its.stream().filter(e -> e.type() == Type.MONITOR_ENTERED && e.b() >>> 32 != 0).toList();
        assertFalse(entered.isEmpty(), its::toString);
        entered.forEach(e -> assertCode(told.spool, e, ""));
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with Java 21")
    void a_virtual_thread_parks_under_its_own_id_whatever_its_carrier() throws Exception {
        Told told = record("virtual");
        assertEquals(1, told.spool.where(e -> e.type() == Type.MOUNT && e.tid() == 0 && e.virtual() == 0).size(), "mounts are told");
        List<Event> its = told.spool.where(e -> e.virtual() == told.word(0) && e.type() != Type.SWITCH_TO);
        assertEquals(5, its.stream().filter(e -> e.type() == Type.PARK && MONITOR.equals(e.c())).count(), its::toString);
        assertEquals(0, its.stream().filter(e -> e.type() == Type.UNPARKED).count(), "it is not pinned");
        for (int i = 0; i < its.size(); i++) {
            if (its.get(i).type() == Type.PARK) {
                assertEquals(Type.UNMOUNT, its.get(i + 1).type(), its::toString);
                assertEquals(Type.MOUNT, its.get(i + 2).type(), its::toString);
                assertTrue(its.get(i + 2).ts() - its.get(i).ts() >= 12 * MS, its::toString);
                assertCode(told.spool, its.get(i + 2), "lambda$virtual");
            }
        }
        Event last = its.get(its.size() - 1);
        assertEquals(Type.UNMOUNT, last.type());
        assertEquals(LEFT_ENDED, last.b(), its::toString);
        its.stream().filter(e -> e.type() == Type.UNMOUNT && e != last).forEach(e -> assertEquals(LEFT_PARKS, e.b()));
        assertTrue(told.spool.of(Type.SWITCH_TO).stream().anyMatch(e -> e.a() == told.word(0) && "virtual-one".equals(e.c())));
    }
}
