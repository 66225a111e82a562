package dev.loadline.share;

import java.util.OptionalDouble;

/**
 * Somebody who gives this process its CPUs: {@link Share}, for the CPU manager of {@code loadline share}, or another that
 * the class path names in {@code META-INF/services}. What adapts to its CPUs (loadline-guard, loadline-omp) asks each
 * source that {@link java.util.ServiceLoader} finds; the first that has an answer counts.
 *
 * <p>Thread-safe, and never blocking: {@link #cpus()} may be called a thousand times a second.
 */
public interface CpuSource {
    /** CPUs given to this process now, of some perhaps a part; empty when this source does not know. */
    OptionalDouble cpus();

    /** What it is called where figures are shown. */
    String name();

    /**
     * This process can make use of so many CPUs from now on. A wish: whoever has no use for wishes ignores it.
     *
     * @param cpus zero or more; parts are allowed
     */
    default void cpusRequested(double cpus) {}
}
