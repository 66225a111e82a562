package dev.loadline.omp.runtime;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.RandomAccess;

/** How often loops run, and lists to run over. Pure. */
public final class Loops {
    private Loops() {}

    /**
     * Iterations of {@code for (i = from; i < to; i += step)}.
     *
     * @param from first value
     * @param to first value that is too large
     * @param step at least 1
     * @return how many
     */
    public static long up(long from, long to, long step) {
        requireStep(step > 0, step, "up");
        return to <= from ? 0 : (Math.subtractExact(to, from) - 1) / step + 1;
    }

    /**
     * Iterations of {@code for (i = from; i > to; i += step)}.
     *
     * @param from first value
     * @param to first value that is too small
     * @param step at most -1
     * @return how many
     */
    public static long down(long from, long to, long step) {
        requireStep(step < 0, step, "down");
        return to >= from ? 0 : (Math.subtractExact(from, to) - 1) / -step + 1;
    }

    /**
     * Iterations of {@code for (i = from; i <= to; i += step)}.
     *
     * @param from first value
     * @param to last value at most
     * @param step at least 1
     * @return how many
     */
    public static long upTo(long from, long to, long step) {
        requireStep(step > 0, step, "up");
        return to < from ? 0 : Math.addExact(Math.subtractExact(to, from) / step, 1);
    }

    /**
     * Iterations of {@code for (i = from; i >= to; i += step)}.
     *
     * @param from first value
     * @param to last value at least
     * @param step at most -1
     * @return how many
     */
    public static long downTo(long from, long to, long step) {
        requireStep(step < 0, step, "down");
        return to > from ? 0 : Math.addExact(Math.subtractExact(from, to) / -step, 1);
    }

    private static void requireStep(boolean right, long step, String direction) {
        if (!right) {
            throw new IllegalArgumentException("the step of a parallel loop that counts " + direction + " is " + step);
        }
    }

    /**
     * A chunk from a {@code schedule} clause.
     *
     * @param chunk its value
     * @return the same
     */
    public static long chunk(long chunk) {
        if (chunk < 1) {
            throw new IllegalArgumentException("the chunk of a schedule is " + chunk + "; it must be at least 1");
        }
        return chunk;
    }

    /**
     * Something to run over by index.
     *
     * @param elements what the program's loop names
     * @param <T> of its elements
     * @return the same, if it can be indexed quickly, else a copy
     */
    public static <T> List<T> list(Iterable<T> elements) {
        if (elements instanceof List<T> list && list instanceof RandomAccess) {
            return list;
        }
        if (elements instanceof Collection<T> collection) {
            return new ArrayList<>(collection);
        }
        List<T> copy = new ArrayList<>();
        elements.forEach(copy::add);
        return copy;
    }
}
