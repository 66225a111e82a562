package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.programs.Orders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Methods that are recorded, in a program whose calls are known. */
class MethodsIT {
    private static final long MS = 1_000_000;
    private static final String PROGRAM = "dev.loadline.programs.Orders$";
    private static final String ALL = PROGRAM + "*";
    private static final int DEPTH_SHIFT = 48;
    private static final long CPU = (1L << DEPTH_SHIFT) - 1;

    /** An invocation as the spool has it: {@code DEPTH Class.method(parameters)}, with {@code !} if an exception left it. */
    private static String invocation(Event e) {
        long depth = e.b() >>> DEPTH_SHIFT & 0x3FFF;
        return depth + " " + e.c().replace(PROGRAM, "") + (e.b() < 0 ? " !" : "");
    }

    private static List<String> invocations(Spool spool) {
        return spool.of(Type.METHOD).stream().map(MethodsIT::invocation).toList();
    }

    private static Target atStart(String filters, String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of(options));
        all.add("-XX:+EnableDynamicAgentLoading");
        all.add("-javaagent:" + TestRecorder.JAR + "=methods=" + filters);
        return Target.start(Orders.class, all.toArray(String[]::new));
    }

    private static Spool record(String filters, String command) throws Exception {
        return record(filters, filters, command, 0);
    }

    private static Spool record(String woven, String filters, String command, long shortest) throws Exception {
        try (Target target = atStart(woven);
                TestRecorder recorder = TestRecorder.prepare().methods(filters.replace(':', '\n'), false, shortest)) {
            recorder.record(target.pid());
            target.tell(command);
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals("", target.errors());
            return spool;
        }
    }

    @Test
    void overloads_and_constructors_are_told_apart_and_lie_in_who_called_them() throws Exception {
        Spool spool = record(ALL, "order");
        assertEquals(
                List.of("0 Shop.<init>()",
                        "1 Shop.add(int)", "2 Shop.add(int)", "1 Shop.add(int,String)",
                        "1 Shop.add(int)", "2 Shop.add(int)", "1 Shop.add(int,String)",
                        "1 Paper.<init>(Object)", "1 Invoice.<init>(int[],CharSequence)", "1 Invoice.<init>(int[])",
                        "0 Shop.order(int)"),
                invocations(spool));
        List<Event> all = spool.of(Type.METHOD);
        Event order = all.get(all.size() - 1);
        for (Event e : all.subList(1, all.size())) {
            assertTrue(e.ts() - e.a() >= order.ts() - order.a() && e.ts() <= order.ts(), e::toString);
        }
    }

    @Test
    void filters_go_in_order() throws Exception {
        Spool spool = record(ALL + ":!**.<init>:!**.add:" + PROGRAM + "Shop.add(int)", "order");
        assertEquals(
                List.of("1 Shop.add(int)", "1 Shop.add(int)", "1 Shop.add(int)", "1 Shop.add(int)", "0 Shop.order(int)"),
                invocations(spool));
        assertEquals(0, spool.of(Type.METHOD_LEFT_OUT).size(), "what has no probe costs nothing and is not counted");
    }

    @Test
    void calls_that_the_recording_leaves_out_are_counted_where_they_were_made() throws Exception {
        Spool spool = record(ALL, ALL + ":!**.add", "order", 0);
        assertEquals(
                List.of("0 Shop.<init>()", "1 Paper.<init>(Object)", "1 Invoice.<init>(int[],CharSequence)",
                        "1 Invoice.<init>(int[])", "0 Shop.order(int)"),
                invocations(spool));
        assertEquals(List.of(PROGRAM + "Shop.order(int) 6"), leftOut(spool));
        assertEquals(0, spool.callsLeftOut, "there is an invocation to count them in");
    }

    private static List<String> leftOut(Spool spool) {
        return spool.of(Type.METHOD_LEFT_OUT).stream().map(e -> e.c() + " " + e.a()).toList();
    }

    @Test
    void short_calls_are_counted_with_all_that_they_left_out() throws Exception {
        Spool spool = record(ALL, ALL, "recurse 10", 10_000 * MS);
        assertEquals(List.of(), invocations(spool));
        assertEquals(1 + 177, spool.callsLeftOut, "the constructor, and each call of fibonacci(10)");
    }

    @Test
    void recursion_is_as_deep_as_it_was() throws Exception {
        Spool spool = record(ALL + ":!**.<init>", "recurse 5");
        assertEquals(15, invocations(spool).size());
        Map<String, Long> byDepth = invocations(spool).stream().collect(Collectors.groupingBy(i -> i.substring(0, 1), Collectors.counting()));
        assertEquals(Map.of("0", 1L, "1", 2L, "2", 4L, "3", 6L, "4", 2L), byDepth);
    }

    @Test
    void exceptions_end_what_they_leave_also_constructors() throws Exception {
        Spool spool = record(ALL, "fail");
        assertEquals(
                List.of("0 Shop.<init>()",
                        "2 Shop.add(int)", "2 Shop.add(int)", "1 Shop.thrown() !", "1 Shop.add(int)", "0 Shop.caught()",
                        "0 Broken.before(int) !", "0 Shop.add(int)",
                        "0 Broken.before(int)", "0 Frail.<init>(int,boolean) !", "0 Shop.add(int)",
                        "0 Broken.before(int)", "0 Frail.<init>(int,boolean)", "0 Broken.<init>(int) !", "0 Shop.add(int)"),
                invocations(spool));
    }

    @Test
    void a_stack_that_overflows_leaves_the_next_calls_as_they_are() throws Exception {
        try (Target target = atStart(ALL, "-Xss512k"); TestRecorder recorder = TestRecorder.prepare().methods(ALL, false, 0)) {
            recorder.record(target.pid());
            assertEquals("overflowed", target.tell("overflow"));
            target.tell("order");
            List<String> all = invocations(recorder.stop());
            List<String> order = List.of("1 Shop.add(int)", "2 Shop.add(int)", "1 Shop.add(int,String)");
            assertEquals(order, all.stream().filter(i -> i.contains(".add(")).limit(3).toList());
            assertEquals(2, all.stream().filter(i -> i.equals("0 Shop.order(int)")).count(), all::toString);
        }
    }

    @Test
    void a_thread_that_is_not_wanted_has_its_calls_counted() throws Exception {
        Spool spool = record(ALL, ALL + "\n\thttp-*\n\t!http-2", "threads http-1 http-2 batch", 0);
        assertEquals(8, invocations(spool).size());
        assertEquals(1, spool.of(Type.METHOD).stream().map(Event::tid).distinct().count());
        assertEquals(2 * 8, spool.callsLeftOut);
    }

    @Test
    void cpu_time_is_what_was_burnt_and_not_what_was_slept() throws Exception {
        try (Target target = atStart(ALL); TestRecorder recorder = TestRecorder.prepare().methods(ALL, true, 0)) {
            recorder.record(target.pid());
            target.tell("burn " + 40 * MS);
            target.tell("begin");
            Thread.sleep(50);
            target.tell("end");
            Thread.sleep(100);
            Spool spool = recorder.stop();
            Event burn = only(spool, "Shop.burn(long)");
            assertTrue(burn.a() >= 40 * MS && cpu(burn) > 4 * MS && cpu(burn) <= burn.a(), burn::toString);
            Event waited = only(spool, "Shop.wait4()");
            assertTrue(waited.a() >= 20 * MS && cpu(waited) < 4 * MS, waited::toString);
        }
    }

    private static Event only(Spool spool, String name) {
        List<Event> found = spool.where(e -> e.type() == Type.METHOD && e.c().equals(PROGRAM + name));
        assertEquals(1, found.size(), name);
        return found.get(0);
    }

    private static long cpu(Event e) {
        assertEquals(1, e.b() >>> 62 & 1, "it has its CPU time");
        return e.b() & CPU;
    }

    @Test
    void an_invocation_that_had_begun_before_is_none() throws Exception {
        try (Target target = atStart(ALL);
                TestRecorder first = TestRecorder.prepare().methods(ALL, false, 0);
                TestRecorder second = TestRecorder.prepare().methods(ALL, false, 0)) {
            first.record(target.pid());
            target.tell("begin");
            Thread.sleep(50);
            assertEquals(List.of("0 Shop.<init>()"), invocations(first.stop()));
            second.record(target.pid());
            target.tell("end");
            Thread.sleep(100);
            assertEquals(List.of("0 Shop.add(int)"), invocations(second.stop()));
        }
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with Java 21")
    void virtual_threads_do_not_mix() throws Exception {
        Spool spool = record(ALL, "virtual 40");
        Map<Long, List<Event>> byThread = spool.of(Type.METHOD).stream().filter(e -> e.virtual() != 0)
                .collect(Collectors.groupingBy(Event::virtual));
        assertEquals(40, byThread.size());
        for (List<Event> of : byThread.values()) {
            assertEquals(List.of("1 Shop.inner(long)", "1 Shop.inner(long)", "0 Shop.outer()"),
                    of.stream().map(MethodsIT::invocation).toList());
            assertTrue(of.get(2).a() >= 10 * MS, of::toString);
        }
    }

    @Test
    void a_recording_that_asks_for_more_than_has_probes_says_so() throws Exception {
        try (Target target = atStart(PROGRAM + "Shop.order");
                TestRecorder recorder = TestRecorder.prepare().methods(ALL, false, 0)) {
            recorder.record(target.pid());
            target.tell("order");
            Spool spool = recorder.stop();
            assertEquals(List.of("0 Shop.order(int)"), invocations(spool));
            assertTrue(spool.message.contains("as far as they have probes"), spool.message);
        }
    }

    @Test
    void with_the_agent_at_start_no_class_is_redefined_when_a_recording_begins_or_ends() throws Exception {
        Path log = Files.createTempFile("loadline-agent-test", ".redefined");
        try (Target target = atStart(ALL, "-Xlog:redefine+class*=info:file=" + log + "::filecount=0")) {
            target.tell("order");
            String before = Files.readString(log);
            for (int i = 0; i < 2; i++) {
                try (TestRecorder recorder = TestRecorder.prepare().methods(ALL, false, 0)) {
                    recorder.record(target.pid());
                    target.tell("order");
                    assertEquals(11, invocations(recorder.stop()).size());
                }
            }
            try (TestRecorder without = TestRecorder.prepare()) {
                without.record(target.pid());
                target.tell("order");
                assertEquals(0, invocations(without.stop()).size(), "nobody asked for methods");
            }
            assertEquals("", Files.readString(log).substring(before.length()));
        } finally {
            Files.delete(log);
        }
    }

    @Test
    void attached_late_methods_are_recorded_only_if_classes_may_be_redefined() throws Exception {
        try (Target target = Target.start(Orders.class)) {
            target.tell("order");
            try (TestRecorder recorder = TestRecorder.prepare().methods(ALL, false, 0)) {
                recorder.record(target.pid());
                target.tell("order");
                Spool spool = recorder.stop();
                assertEquals(0, invocations(spool).size());
                assertTrue(spool.info.contains("\"lacks_methods\": true"), spool.info);
            }
            try (TestRecorder armed = TestRecorder.prepare(TestRecorder.ONLY_ARM).methods(ALL, false, 0)) {
                armed.attach(target.pid());
                armed.await(TestRecorder.STOPPED);
            }
            try (TestRecorder recorder = TestRecorder.prepare(TestRecorder.RESTORE).methods(ALL, false, 0)) {
                recorder.record(target.pid());
                target.tell("order");
                Spool spool = recorder.stop();
                assertEquals(11, invocations(spool).size());
                assertFalse(spool.info.contains("lacks_methods"), spool.info);
            }
            try (TestRecorder recorder = TestRecorder.prepare(TestRecorder.MAY_REDEFINE).methods(PROGRAM + "Shop.order", false, 0)) {
                recorder.record(target.pid());
                target.tell("order");
                assertEquals(List.of("0 Shop.order(int)"), invocations(recorder.stop()));
            }
        }
    }
}
