package dev.loadline.guard;

import java.util.function.Consumer;

/** What fails inside the guard: counted, told, and never passed on. Thread-safe. */
final class Failures {
    private final Counters counters;
    private final Consumer<Throwable> told;

    /** @param told logs it; may fail as well */
    Failures(Counters counters, Consumer<Throwable> told) {
        this.counters = counters;
        this.told = told;
    }

    void add(Throwable e) {
        counters.errors.increment();
        try {
            told.accept(e);
        } catch (RuntimeException | Error broken) {
            // Whoever logs is broken as well: the count alone tells of both.
            counters.errors.increment();
        }
    }

    /** What fails here fails alone: neither the loop nor a decision ends with it. */
    void safely(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | Error e) {
            add(e);
        }
    }
}
