package dev.loadline.chat;

import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * What all users of a client share: what they say, how often, and what has come of it. Talk goes in
 * rounds: a round is over when each user has said its part, has a receipt for all of it, and has heard all others'.
 */
final class Talk {
    /** A delivery of longer than this counts as this long; in nanoseconds. */
    private static final long LONGEST = 3_600_000_000_000L;
    private static final int TEXTS = 64;
    private static final int SHORTEST_TEXT = 20;
    private static final int LONGEST_TEXT = 100;

    final int users;
    private final double thinkSeconds;
    private final ScheduledExecutorService thinking;
    private final String[] texts = new String[TEXTS];
    private final Histogram deliveries = new ConcurrentHistogram(LONGEST, 3);
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private volatile boolean counting;
    /** Of the round. */
    private volatile CountDownLatch unfinished = new CountDownLatch(0);

    /**
     * @param users in each room
     * @param thinkSeconds mean of the exponential pause between a receipt and what is said next; 0 for none
     * @param thinking waits for these; may be null if there are none
     */
    Talk(int users, double thinkSeconds, ScheduledExecutorService thinking, long seed) {
        this.users = users;
        this.thinkSeconds = thinkSeconds;
        this.thinking = thinking;
        var random = new Random(seed);
        for (int i = 0; i < TEXTS; i++) {
            texts[i] = random.ints(SHORTEST_TEXT + random.nextInt(LONGEST_TEXT - SHORTEST_TEXT + 1), ' ', '~' + 1)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
        }
    }

    String text(Random random) {
        return texts[random.nextInt(TEXTS)];
    }

    /** Runs {@code say} after a user's pause. */
    void afterThinking(Random random, Runnable say) {
        if (thinkSeconds == 0) {
            say.run();
        } else {
            double pause = -Math.log(1 - random.nextDouble()) * thinkSeconds;
            thinking.schedule(say, Math.round(pause * 1e9), TimeUnit.NANOSECONDS);
        }
    }

    void delivered(long nanos) {
        if (counting) {
            deliveries.recordValue(Math.max(0, Math.min(nanos, LONGEST)));
        }
    }

    void fail(Exception why) {
        failure.compareAndSet(null, why);
        CountDownLatch round = unfinished;
        while (round.getCount() > 0) {
            round.countDown();
        }
    }

    void finished() {
        unfinished.countDown();
    }

    /** Has to be called before the round's first word. */
    void begin(int talkers, boolean counted) {
        unfinished = new CountDownLatch(talkers);
        counting = counted;
        if (failure.get() != null) {
            fail(failure.get());
        }
    }

    /** Waits for the round's end; throws what failed, or that time is up. */
    void await(long nanos, String what) throws Exception {
        boolean over = unfinished.await(nanos, TimeUnit.NANOSECONDS);
        Exception failed = failure.get();
        if (failed != null) {
            throw failed;
        }
        if (!over) {
            throw new java.io.IOException(unfinished.getCount() + " users had not " + what + " when time was up (--limit)");
        }
    }

    /** Nanoseconds from saying to hearing, of each delivery of the counted round. */
    Histogram deliveries() {
        return deliveries;
    }
}
