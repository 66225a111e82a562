package dev.loadline.wholesale;

import dev.loadline.Loadline;
import dev.loadline.Span;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/** The thread of one warehouse: enters transactions one after another, each a span of a recording. */
final class Clerk implements Runnable {
    /** A transaction of longer than this counts as this long; in nanoseconds. */
    private static final long LONGEST = 3_600_000_000_000L;

    private final Phase.Clock clock;
    private final Transaction transaction;
    private final Draws draws;
    private final Map<Transaction.Type, Histogram> durations = new EnumMap<>(Transaction.Type.class);
    private final AtomicLong done = new AtomicLong();
    private long written;

    Clerk(Phase.Clock clock, Transaction transaction, Draws draws) {
        this.clock = clock;
        this.transaction = transaction;
        this.draws = draws;
        for (Transaction.Type type : Transaction.Type.values()) {
            durations.put(type, new Histogram(LONGEST, 3));
        }
    }

    @Override
    public void run() {
        Transaction.Type[] deck = deck();
        int next = deck.length;
        for (Phase phase = clock.phase(); phase != Phase.OVER; phase = clock.phase()) {
            if (next == deck.length) {
                draws.shuffle(deck);
                next = 0;
            }
            Transaction.Type type = deck[next++];
            long begin = System.nanoTime();
            try (Span span = Loadline.span(type.label)) {
                written += transaction.run(type).length();
            }
            done.lazySet(done.get() + 1);
            if (phase == Phase.MEASURED) {
                durations.get(type).recordValue(Math.min(System.nanoTime() - begin, LONGEST));
            }
        }
    }

    /** Nanoseconds that each transaction took which began while measured; to be read when the thread has ended. */
    Map<Transaction.Type, Histogram> durations() {
        return durations;
    }

    /** Transactions so far, for whoever watches. */
    long done() {
        return done.get();
    }

    /** Characters of all screens: what a transaction computes is used, so that no compiler drops it. */
    long written() {
        return written;
    }

    private static Transaction.Type[] deck() {
        return java.util.Arrays.stream(Transaction.Type.values())
            .flatMap(type -> java.util.Collections.nCopies(type.cards, type).stream()).toArray(Transaction.Type[]::new);
    }
}
