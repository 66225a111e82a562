package dev.loadline.grande;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.omp.Omp;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Both builds of every kernel give the right result, and the same. */
class KernelsTest {
    /** Size A of all kernels, and results of the two builds that differ by rounding at most. */
    static List<String> names() {
        return Grande.names();
    }

    /** By name, what the sequential build gave; some kernels take seconds. */
    private static final Map<String, Double> SEQUENTIAL = new HashMap<>();

    private static double sequential(String name) {
        return SEQUENTIAL.computeIfAbsent(name, n -> {
            Kernel kernel = Grande.make(n, "A");
            kernel.run();
            kernel.check();
            return kernel.result();
        });
    }

    @AfterEach
    void restore() {
        Omp.setDynamic(true);
    }

    @ParameterizedTest
    @Tag("once")
    @MethodSource("names")
    void the_parallel_build_solves_what_the_sequential_one_solves(String name) throws Exception {
        double sequential = sequential(name);
        Omp.setDynamic(false);
        Omp.setNumThreads(2);
        try (var loader = parallelClasses()) {
            Object parallel = loader.loadClass("dev.loadline.grande.Grande").getMethod("make", String.class, String.class).invoke(null, name, "A");
            call(parallel, "run");
            call(parallel, "check");
            double result = (double) call(parallel, "result");
            assertEquals(sequential, result, Math.abs(sequential) * 1e-12);
        }
    }

    @ParameterizedTest
    @Tag("once")
    @MethodSource("names")
    void streams_fork_join_and_a_pool_solve_it_too(String name) {
        double sequential = sequential(name);
        for (String crewName : List.of("streams", "forkjoin", "pool")) {
            try (Crew crew = Crew.of(crewName)) {
                Kernel kernel = Grande.make(name, "A");
                kernel.run(crew);
                kernel.check();
                assertEquals(sequential, kernel.result(), Math.abs(sequential) * 1e-12, crewName);
            }
        }
    }

    /** Whether the others wait for the one that fails already, or come to the barrier after it. */
    @ParameterizedTest
    @ValueSource(longs = {0, 50})
    @Timeout(20)
    void a_failure_in_a_pool_s_thread_reaches_the_caller(long late) {
        try (Crew crew = Crew.of("pool")) {
            assertThrows(IllegalStateException.class, () -> crew.each(number -> {
                if (number == crew.size - 1) {
                    throw new ArithmeticException();
                }
                pause(late);
            }));
        }
        assertThrows(IllegalArgumentException.class, () -> Crew.of("streem"));
    }

    private static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object call(Object kernel, String method) throws Exception {
        var found = kernel.getClass().getDeclaredMethod(method);
        found.setAccessible(true);
        return found.invoke(kernel);
    }

    /** Loads the benchmarks from the compiler's output, and all else as usual. */
    private static URLClassLoader parallelClasses() throws Exception {
        Path classes = Path.of(Grande.class.getProtectionDomain().getCodeSource().getLocation().toURI()).resolveSibling("omp-classes");
        return new URLClassLoader(new URL[] {classes.toUri().toURL()}, KernelsTest.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.startsWith("dev.loadline.grande.")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : findClass(name);
            }
        };
    }

    @Test
    void idea_encrypts_the_published_example() {
        int[] key = {1, 2, 3, 4, 5, 6, 7, 8};
        byte[] plain = {0, 0, 0, 1, 0, 2, 0, 3};
        byte[] cipher = new byte[8];
        Crypt.block(plain, cipher, 0, Crypt.subkeys(key));
        // Lai, On the Design and Security of Block Ciphers (1992), example: 11fb ed2b 0198 6de5
        assertArrayEquals(new byte[] {0x11, (byte) 0xfb, (byte) 0xed, 0x2b, 0x01, (byte) 0x98, 0x6d, (byte) 0xe5}, cipher);
        byte[] back = new byte[8];
        Crypt.block(cipher, back, 0, Crypt.inverse(Crypt.subkeys(key)));
        assertArrayEquals(plain, back);
    }

    @Test
    void air_that_meets_no_bump_keeps_its_state() {
        Euler flat = new Euler(8, 0);
        flat.run();
        assertEquals(0, flat.disturbance(), 1e-12);
        Euler bumped = new Euler(8);
        bumped.run();
        assertTrue(bumped.disturbance() > 0.01);
    }

    @Test
    void a_wrong_result_is_noticed() {
        assertThrows(IllegalStateException.class, () -> new Series(10).check());
        assertThrows(IllegalStateException.class, () -> new SuccessiveOverRelaxation(1000, 0.5).check());
        assertThrows(IllegalStateException.class, () -> new MonteCarlo(10).check());
        assertThrows(IllegalStateException.class, () -> new Crypt(800).check());
        assertThrows(IllegalStateException.class, () -> new RayTracer(10, 5).check());
        assertThrows(IllegalArgumentException.class, () -> Grande.make("Crypt", "D"));
        assertThrows(IllegalArgumentException.class, () -> Grande.make("Cript", "A"));
    }

    @Test
    void the_low_level_benchmarks_run() {
        assertTrue(LowLevel.forkJoin(10) > 0 && LowLevel.barrier(10) > 0 && LowLevel.sync(10) > 0);
    }
}
