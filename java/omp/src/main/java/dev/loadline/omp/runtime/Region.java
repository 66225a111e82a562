package dev.loadline.omp.runtime;

/** The code of a parallel region or of a task, run by one member of a team. */
@FunctionalInterface
public interface Region {
    /**
     * Runs it.
     *
     * @param member who runs it
     * @throws Throwable whatever the program's code throws
     */
    void run(Member member) throws Throwable;
}
