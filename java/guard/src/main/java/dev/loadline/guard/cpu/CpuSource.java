package dev.loadline.guard.cpu;

import java.util.OptionalDouble;

/**
 * Somebody who knows how many CPUs this process was given: a CPU manager's client. Found by
 * {@link java.util.ServiceLoader}; the first that has an answer counts.
 */
public interface CpuSource {
    /** CPUs given to this process now; empty when this source does not know. Called a few times a second. */
    OptionalDouble cpus();

    /** What it is called where figures are shown. */
    String name();
}
