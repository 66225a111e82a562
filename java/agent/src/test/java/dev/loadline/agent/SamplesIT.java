package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Allocations;
import dev.loadline.agent.programs.Churn;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Spool.Event;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.JRE;

/** Samples of what runs on the CPUs, and of what is allocated. */
@Tag("alone")
class SamplesIT {
    private static final String HOT = Churn.class.getName() + ".burn(Churn.java:";
    private static final long EVERY_NS = 4_000_000;

    private static long weight(List<Event> samples) {
        return samples.stream().mapToLong(e -> e.b() & 0xFFFF_FFFFL).sum();
    }

    @Test
    void a_planted_method_is_the_hottest_while_threads_and_classes_come_and_go() throws Exception {
        try (Target target = Target.start(Churn.class)) {
            target.tell("hot"); // before the recording: its thread and methods are there already
            target.tell("300");
            Spool spool;
            try (TestRecorder recorder = TestRecorder.prepare().sampling(EVERY_NS)) {
                recorder.record(target.pid());
                String[] churned = target.tell("3000").split(" ");
                assertTrue(Integer.parseInt(churned[0]) > 100, churned[0]);
                spool = recorder.stop();
            }
            assertEquals("", spool.message);
            assertEquals(0, spool.lostSamples);
            List<Event> samples = spool.of(Type.SAMPLE);
            List<Event> planted = samples.stream().filter(e -> spool.stack(e).get(0).startsWith(HOT)).toList();
            long hot = planted.get(0).a();
            List<Event> its = samples.stream().filter(e -> e.a() == hot).toList();
            assertTrue(weight(planted) > 0.9 * weight(its), () -> weight(planted) + " of " + weight(its));
            List<String> stack = spool.stack(planted.get(0));
            assertTrue(stack.get(1).startsWith(Churn.class.getName() + ".planted("), stack::toString);
            assertTrue(stack.get(stack.size() - 1).startsWith("java.lang.Thread.run"), stack::toString);
            assertTrue(samples.stream().map(Event::a).distinct().count() > 10, "threads that live shortly have their share");
            long unseen = samples.stream().filter(e -> spool.stack(e).get(0).startsWith("(")).count();
            assertTrue(unseen < samples.size() / 5, () -> unseen + " of " + samples.size() + " could not be walked");
            // What it left behind lets the program go on, and a second recording without samples has none.
            target.tell("100");
            try (TestRecorder recorder = TestRecorder.prepare()) {
                recorder.record(target.pid());
                target.tell("100");
                assertTrue(recorder.stop().of(Type.SAMPLE).isEmpty());
            }
            assertEquals("", target.errors().replaceAll("(?m)^WARNING:.*\\R?", ""));
        }
    }

    /** Its checks find calls with an exception pending, unchecked ones, and wrong arguments. */
    @Test
    void the_native_half_keeps_the_rules_of_jni() throws Exception {
        try (Target target = Target.start(Churn.class, "-Xcheck:jni", "-XX:+DisplayVMOutputToStderr")) {
            target.tell("hot");
            for (int round = 0; round < 2; round++) {
                try (TestRecorder recorder = TestRecorder.prepare().sampling(EVERY_NS).allocations(1 << 16)) {
                    recorder.record(target.pid());
                    target.tell("300");
                    assertEquals("", recorder.stop().message);
                }
            }
            String errors = target.errors();
            assertFalse(errors.contains("in native method"), errors);
        }
    }

    @Test
    void a_method_that_has_no_frame_yet_and_a_routine_without_one_count_to_who_called_them() throws Exception {
        String small = "-XX:CompileCommand=dontinline," + Churn.class.getName() + "::small*";
        try (Target target = Target.start(Churn.class, "-XX:CompileCommand=quiet", small)) {
            target.tell("short");
            Spool spool;
            long id;
            try (TestRecorder recorder = TestRecorder.prepare().sampling(EVERY_NS)) {
                recorder.record(target.pid());
                id = Long.parseLong(target.tell("short"));
                spool = recorder.stop();
            }
            List<Event> its = samplesOf(spool, id);
            assertTrue(its.size() > 200, () -> its.size() + " samples");
            List<Event> unseen = its.stream().filter(e -> spool.stack(e).get(0).startsWith("(")).toList();
            assertTrue(weight(unseen) <= 0.02 * weight(its), () -> weight(unseen) + " of " + weight(its) + " could not be walked");
            for (Event e : its.stream().filter(e -> !unseen.contains(e)).toList()) {
                List<String> stack = spool.stack(e);
                assertTrue(stack.get(stack.size() - 1).startsWith("java.lang.Thread.run"), stack::toString);
                assertTrue(stack.stream().anyMatch(f -> f.startsWith(Churn.class.getName() + ".shortly(")), stack::toString);
            }
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "os.arch", matches = "amd64", disabledReason = "native code is told on x86-64")
    void what_the_kernel_does_for_a_method_is_told_with_the_function_that_asked_for_it() throws Exception {
        try (Target target = Target.start(Churn.class);
                TestRecorder recorder = TestRecorder.prepare().sampling(EVERY_NS)) {
            recorder.record(target.pid());
            long id = Long.parseLong(target.tell("calls"));
            Spool spool = recorder.stop();
            List<Event> its = samplesOf(spool, id);
            List<Event> called = its.stream().filter(e -> spool.stack(e).get(0).equals("system call(null:0)")).toList();
            assertTrue(weight(called) > 0.5 * weight(its), () -> weight(called) + " of " + weight(its));
            List<Event> read = called.stream().filter(e -> spool.stack(e).get(1).matches("_*read\\(libc\\..*")).toList();
            assertTrue(weight(read) > 0.9 * weight(called), () -> spool.stack(called.get(0)).toString());
            List<String> stack = spool.stack(read.get(0));
            assertTrue(stack.get(2).startsWith("java.io.FileInputStream.read"), stack::toString);
            assertTrue(stack.stream().anyMatch(f -> f.startsWith(Churn.class.getName() + ".calls(")), stack::toString);
        }
    }

    /** Those of the thread with this Java id, which began during the recording. */
    private static List<Event> samplesOf(Spool spool, long id) {
        long tid = spool.where(e -> e.type() == Type.THREAD && e.a() == id).get(0).b();
        return spool.where(e -> e.type() == Type.SAMPLE && e.a() == tid);
    }

    private static final String SITE = Allocations.class.getName() + ".";
    private static final String SMALL = Allocations.Small.class.getName();
    private static final long INTERVAL = 64 << 10;
    /** Objects are as large as the program counts on: their headers are smaller by default from JDK 27 on. */
    private static final String[] SIZES = {"-XX:+IgnoreUnrecognizedVMOptions", "-XX:-UseCompactObjectHeaders"};

    private static long bytes(List<Event> samples) {
        return samples.stream().mapToLong(Event::a).sum();
    }

    /** What samples of a class in a method stand for is what was allocated, within four standard errors and the first samples' reach. */
    private static void assertEstimate(Spool spool, String method, String type, double size) {
        List<Event> its = spool.where(e -> e.type() == Type.ALLOCATION && spool.stack(e).get(0).startsWith(SITE + method + "("));
        assertTrue(its.stream().allMatch(e -> type.equals(e.c()) && (e.b() & 0xFFFF_FFFFL) * 8 == size), its::toString);
        double seen = 1 - Math.exp(-size / INTERVAL);
        double error = Math.sqrt((1 - seen) / seen * size / Allocations.MUCH);
        double off = (double) bytes(its) / Allocations.MUCH - 1;
        assertTrue(Math.abs(off) < 4 * error + 0.02, () -> method + " is off by " + off + ", standard error " + error);
    }

    @Test
    void what_samples_stand_for_is_what_was_allocated_by_class_and_method() throws Exception {
        try (Target target = Target.start(Allocations.class, SIZES)) {
            Spool spool;
            try (TestRecorder recorder = TestRecorder.prepare().allocations(INTERVAL)) {
                recorder.record(target.pid());
                target.tell("all");
                spool = recorder.stop();
            }
            assertEquals("", spool.message);
            assertEquals(0, spool.lostStacks);
            assertEquals(0, spool.sparedAllocations, "samples beyond the budget, which the next one stands for, of whatever method");
            assertEstimate(spool, "small", SMALL, 32);
            assertEstimate(spool, "array", "[B", 1_000);
            assertEstimate(spool, "chunk", "[S", 1 << 16);
            assertEstimate(spool, "large", "[I", 400_000);
            // Another agent may sample from here on, and so may the next recording; one that does not want it has none.
            try (TestRecorder recorder = TestRecorder.prepare()) {
                recorder.record(target.pid());
                target.tell("all");
                assertTrue(recorder.stop().of(Type.ALLOCATION).isEmpty());
            }
            try (TestRecorder recorder = TestRecorder.prepare().allocations(1 << 20)) {
                recorder.record(target.pid());
                target.tell("all");
                spool = recorder.stop();
            }
            assertEquals("", spool.message);
            assertTrue(spool.of(Type.ALLOCATION).size() > 100, "a second recording samples too");
        }
    }

    @Test
    void allocations_are_sampled_while_threads_and_classes_come_and_go() throws Exception {
        try (Target target = Target.start(Churn.class)) {
            try (TestRecorder recorder = TestRecorder.prepare().allocations(1 << 10).sampling(EVERY_NS)) {
                recorder.record(target.pid());
                target.tell("1500");
                assertTrue(recorder.stop().of(Type.ALLOCATION).size() > 100);
            }
            target.tell("100");
        }
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with Java 21")
    void what_a_virtual_thread_allocates_is_its_own() throws Exception {
        try (Target target = Target.start(Allocations.class, SIZES);
                TestRecorder recorder = TestRecorder.prepare().allocations(INTERVAL)) {
            recorder.record(target.pid());
            long id = Long.parseLong(target.tell("virtual"));
            Spool spool = recorder.stop();
            List<Event> its = spool.where(e -> e.type() == Type.ALLOCATION && e.virtual() == id);
            double off = (double) bytes(its) / Allocations.MUCH - 1;
            assertTrue(Math.abs(off) < 0.12, () -> "off by " + off);
        }
    }

    @Test
    void every_object_of_a_chosen_class_is_told_with_its_end() throws Exception {
        try (Target target = Target.start(Allocations.class, SIZES);
                TestRecorder recorder = TestRecorder.prepare().methods("+" + SMALL, false, 0)) {
            recorder.record(target.pid());
            target.tell("keep");
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            List<Event> made = spool.of(Type.OBJECT_NEW);
            assertEquals(Allocations.MANY, made.size());
            assertTrue(made.stream().allMatch(e -> SMALL.equals(e.c()) && (e.b() & 0xFFFF_FFFFL) * 8 == 32));
            assertEquals(Allocations.MANY, made.stream().map(Event::a).distinct().count());
            assertTrue(spool.stack(made.get(0)).get(0).startsWith(SITE + "keep("), () -> spool.stack(made.get(0)).toString());
            List<Event> freed = spool.of(Type.OBJECT_FREED);
            assertEquals(Allocations.MANY - Allocations.KEPT, freed.size());
            assertTrue(made.stream().map(Event::a).toList().containsAll(freed.stream().map(Event::a).toList()));
            assertTrue(spool.of(Type.ALLOCATION).isEmpty());
        }
    }
}
