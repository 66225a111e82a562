package dev.loadline.grande;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Runs kernels: {@code Grande KERNEL SIZE [REPETITIONS [CREW]]} prints for each repetition the seconds, the
 * result, and the CPU seconds of the main thread. With a crew, that shares the loops: streams, forkjoin or pool.
 */
public final class Grande {
    private static final Map<String, Map<String, Supplier<Kernel>>> KERNELS = new LinkedHashMap<>();

    static {
        kernel("Crypt", () -> new Crypt(3_000_000), () -> new Crypt(20_000_000), () -> new Crypt(50_000_000));
        kernel("LUFact", () -> new LuFactorization(500, 6), () -> new LuFactorization(1000, 12), () -> new LuFactorization(2000, 20));
        kernel("SOR", () -> new SuccessiveOverRelaxation(1000, 0.498574406322512), () -> new SuccessiveOverRelaxation(1500, 1.1234778980135105),
                () -> new SuccessiveOverRelaxation(2000, 1.9954895063582696));
        kernel("Series", () -> new Series(10_000), () -> new Series(100_000), () -> new Series(1_000_000));
        kernel("Sparse", () -> new Sparse(50_000, 75.02484945753453), () -> new Sparse(100_000, 150.0130719633895), () -> new Sparse(500_000, 749.5245870753752));
        kernel("MolDyn", () -> new MolecularDynamics(8, 1731.4306625334357), () -> new MolecularDynamics(13, 7397.392307839352));
        kernel("MonteCarlo", () -> new MonteCarlo(2_000), () -> new MonteCarlo(60_000));
        kernel("RayTracer", () -> new RayTracer(150, 2676692), () -> new RayTracer(500, 29827635));
        kernel("Euler", () -> new Euler(64), () -> new Euler(96));
    }

    private Grande() {}

    @SafeVarargs
    private static void kernel(String name, Supplier<Kernel>... sizes) {
        Map<String, Supplier<Kernel>> bySize = new LinkedHashMap<>();
        for (int i = 0; i < sizes.length; i++) {
            bySize.put(String.valueOf((char) ('A' + i)), sizes[i]);
        }
        KERNELS.put(name, bySize);
    }

    /** @return the names of the kernels */
    public static List<String> names() {
        return List.copyOf(KERNELS.keySet());
    }

    /**
     * Makes a kernel that is ready to run.
     *
     * @param name which
     * @param size A, B or C
     * @return the kernel
     */
    public static Kernel make(String name, String size) {
        var sizes = KERNELS.get(name);
        if (sizes == null) {
            throw new IllegalArgumentException("there is no kernel '" + name + "'; there are " + String.join(", ", names()));
        }
        if (!sizes.containsKey(size)) {
            throw new IllegalArgumentException(name + " has no size '" + size + "'; it has " + String.join(", ", sizes.keySet()));
        }
        return sizes.get(size).get();
    }

    /** @param arguments kernel, size and, if not 1, repetitions; and a crew, if not directives are to share the loops */
    public static void main(String[] arguments) {
        if (arguments.length < 2) {
            System.err.println("usage: Grande KERNEL SIZE [REPETITIONS [streams|forkjoin|pool]]; kernels: " + String.join(", ", names()));
            System.exit(2);
        }
        var threads = ManagementFactory.getThreadMXBean();
        int repetitions = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 1;
        try (Crew crew = arguments.length > 3 ? Crew.of(arguments[3]) : null) {
            for (int i = 0; i < repetitions; i++) {
                Kernel kernel = make(arguments[0], arguments[1]);
                long cpuBegin = threads.getCurrentThreadCpuTime();
                long begin = System.nanoTime();
                if (crew == null) {
                    kernel.run();
                } else {
                    kernel.run(crew);
                }
                double seconds = (System.nanoTime() - begin) * 1e-9;
                double cpuSeconds = (threads.getCurrentThreadCpuTime() - cpuBegin) * 1e-9;
                kernel.check();
                System.out.println(arguments[0] + " " + arguments[1] + " " + seconds + " " + kernel.result() + " " + cpuSeconds);
            }
        }
    }
}
