package dev.loadline.guard.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.share.CpuSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuTest {
    @TempDir
    Path dir;

    private static void unexpected(Throwable e) {
        throw new AssertionError(e);
    }

    private void write(String file, String text) throws IOException {
        Path path = dir.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private CpusAtHand cpus(double fixed, int processors, CpuSource... sources) {
        return new CpusAtHand(fixed, List.of(sources), Cgroup.of(dir.resolve("proc"), dir.resolve("cg")), () -> processors);
    }

    private static CpuSource manager(OptionalDouble answer) {
        return new CpuSource() {
            @Override
            public OptionalDouble cpus() {
                return answer;
            }

            @Override
            public String name() {
                return "CPU manager";
            }
        };
    }

    @Test
    void the_least_quota_of_a_version_2_tree_counts_and_is_read_anew() throws IOException {
        write("proc/cgroup", "0::/app/web\n");
        write("cg/app/web/cpu.max", "max 100000\n");
        write("cg/app/cpu.max", "150000 100000\n");
        CpusAtHand cpus = cpus(0, 4);
        assertEquals(new CpusAtHand.Answer(1.5, "cgroup quota"), cpus.now(CpuTest::unexpected));
        write("cg/app/web/cpu.max", "50000 100000\n");
        assertEquals(0.5, cpus.now(CpuTest::unexpected).cpus());
        write("cg/app/web/cpu.max", "max 100000\n");
        write("cg/app/cpu.max", "max 100000\n");
        assertEquals(new CpusAtHand.Answer(4, "processors"), cpus.now(CpuTest::unexpected));
    }

    @Test
    void a_version_1_quota_counts() throws IOException {
        write("proc/cgroup", "5:memory:/app\n3:cpu,cpuacct:/app\n0::/\n");
        write("cg/cpu/app/cpu.cfs_quota_us", "25000\n");
        write("cg/cpu/app/cpu.cfs_period_us", "100000\n");
        assertEquals(0.25, cpus(0, 2).now(CpuTest::unexpected).cpus());
        write("cg/cpu/app/cpu.cfs_quota_us", "-1\n");
        assertEquals(2, cpus(0, 2).now(CpuTest::unexpected).cpus());
    }

    @Test
    void in_a_container_only_the_top_of_the_tree_exists() throws IOException {
        write("proc/cgroup", "0::/docker/0123456789\n");
        write("cg/cpu.max", "200000 100000\n");
        assertEquals(2, cpus(0, 8).now(CpuTest::unexpected).cpus());
    }

    @Test
    void the_manager_is_asked_first_and_the_configuration_before_it() {
        assertEquals(new CpusAtHand.Answer(3, "CPU manager"),
            cpus(0, 8, manager(OptionalDouble.empty()), manager(OptionalDouble.of(3))).now(CpuTest::unexpected));
        assertEquals(new CpusAtHand.Answer(8, "processors"), cpus(0, 8, manager(OptionalDouble.empty())).now(CpuTest::unexpected));
        assertEquals(new CpusAtHand.Answer(2, "configuration"), cpus(2, 8, manager(OptionalDouble.of(3))).now(CpuTest::unexpected));
    }

    @Test
    void a_source_that_throws_is_told_of_and_the_next_one_is_asked() throws IOException {
        CpuSource broken = new CpuSource() {
            @Override
            public OptionalDouble cpus() {
                throw new NoClassDefFoundError("a fault of the CPU manager's client");
            }

            @Override
            public String name() {
                return "broken";
            }
        };
        var failed = new java.util.ArrayList<Throwable>();
        assertEquals(new CpusAtHand.Answer(3, "CPU manager"), cpus(0, 8, broken, manager(OptionalDouble.of(3))).now(failed::add));
        assertEquals(new CpusAtHand.Answer(8, "processors"), cpus(0, 8, broken).now(failed::add));
        assertEquals(2, failed.size());
    }

    /** As where only the guard's jar is. */
    @Test
    void without_the_jar_of_the_manager_s_client_there_are_the_processors() throws Exception {
        var path = new java.util.ArrayList<java.net.URL>();
        for (String entry : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
            if (!entry.contains("loadline-share") && !entry.contains("/share/target")) {
                path.add(Path.of(entry).toUri().toURL());
            }
        }
        try (var loader = new java.net.URLClassLoader(path.toArray(new java.net.URL[0]), ClassLoader.getPlatformClassLoader())) {
            assertThrows(ClassNotFoundException.class, () -> loader.loadClass(CpuSource.class.getName()));
            Class<?> type = loader.loadClass(CpusAtHand.class.getName());
            Object cpus = type.getMethod("ofThisProcess", double.class).invoke(null, 0.0);
            java.util.function.Consumer<Throwable> failed = CpuTest::unexpected;
            String answer = type.getMethod("now", java.util.function.Consumer.class).invoke(cpus, failed).toString();
            assertTrue(answer.contains("from=processors") || answer.contains("from=cgroup quota"), answer);
            type.getMethod("request", double.class, java.util.function.Consumer.class).invoke(cpus, 1.0, failed);
        }
    }

    @Test
    void on_this_machine_there_is_at_least_some_cpu() {
        assertTrue(CpusAtHand.ofThisProcess(0).now(CpuTest::unexpected).cpus() > 0);
    }

    /** Runs an event on a thread of its own, which the kernel knows by this id and which goes on living. */
    private CountDownLatch worker(ServerThreads threads, String tid) throws Exception {
        Files.deleteIfExists(dir.resolve("self"));
        Files.createSymbolicLink(dir.resolve("self"), Path.of("1/task/" + tid));
        var registered = new CountDownLatch(1);
        var end = new CountDownLatch(1);
        var thread = new Thread(() -> {
            threads.runsEvent();
            registered.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.setDaemon(true);
        thread.start();
        registered.await();
        return end;
    }

    @Test
    void threads_are_told_by_what_they_run_and_measured_between_two_calls() throws Exception {
        write("task/1/schedstat", "1000 200 5\n");
        write("task/2/schedstat", "9000 9000 5\n");
        var threads = new ServerThreads(dir.resolve("task"), dir.resolve("self"));
        worker(threads, "1");
        assertEquals(new ServerThreads.Spent(0, 0), threads.sinceLast());
        write("task/1/schedstat", "1500 900 6\n");
        write("task/2/schedstat", "19000 19000 6\n");
        write("task/3/schedstat", "70 7 1\n");
        worker(threads, "3");
        assertEquals(new ServerThreads.Spent(500, 700), threads.sinceLast());
        Files.delete(dir.resolve("task/1/schedstat"));
        write("task/3/schedstat", "80 17 1\n");
        assertEquals(new ServerThreads.Spent(10, 10), threads.sinceLast());
    }

    /** Its id may be another thread's by then. */
    @Test
    void a_thread_that_has_ended_is_not_the_servers_any_more() throws Exception {
        var threads = new ServerThreads(dir.resolve("task"), dir.resolve("self"));
        write("task/1/schedstat", "1000 200 5\n");
        CountDownLatch end = worker(threads, "1");
        threads.sinceLast();
        end.countDown();
        for (long until = System.nanoTime() + 20_000_000_000L; ; ) {
            threads.sinceLast();
            write("task/1/schedstat", (System.nanoTime() & Long.MAX_VALUE) + " 0 5\n");
            if (threads.sinceLast().equals(new ServerThreads.Spent(0, 0))) {
                return;
            }
            assertTrue(System.nanoTime() < until, "it is measured still");
        }
    }

    @Test
    void this_thread_is_measured() {
        assumeTrue(Files.isReadable(Path.of("/proc/thread-self/schedstat")), "only Linux says");
        var threads = new ServerThreads();
        threads.runsEvent();
        threads.sinceLast();
        for (long end = System.nanoTime() + 50_000_000; System.nanoTime() < end; ) {
            Thread.onSpinWait();
        }
        long ran = threads.sinceLast().runNanos();
        assertTrue(ran > 1_000_000 && ran < 1_000_000_000, "ran " + ran);
    }

    @Test
    void without_proc_nothing_is_measured() {
        var threads = new ServerThreads(dir.resolve("none"), dir.resolve("none"));
        threads.runsEvent();
        assertEquals(new ServerThreads.Spent(0, 0), threads.sinceLast());
    }
}
