package dev.loadline.guard;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;

/**
 * How late event loops come to what they are given: that is what a request waits before anybody sees it. Each is sent a task now
 * and then, while it is asked for; one that has not run yet is as late as it is by now. Thread-safe.
 */
final class LoopLag {
    /** Between two tasks: often enough for a crowd that comes within a tenth of a second. */
    private static final long PERIOD_NANOS = 10_000_000;
    /** After which nothing is known any more. */
    private static final long STALE_NANOS = 100_000_000;
    /**
     * A loop runs the tasks that it was given when it is through with the sockets that had something to read. Who comes by a socket
     * meanwhile waits for that as well, and then for those before it in the next round: as long again.
     */
    private static final int ROUNDS = 2;

    private final List<Loop> loops;
    private final LongSupplier nanoTime;

    LoopLag(Collection<? extends Executor> loops, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.loops = loops.stream().map(Loop::new).toList();
    }

    /** What who comes now waits for, on average over the loops. */
    double nanos() {
        long now = nanoTime.getAsLong();
        double sum = 0;
        for (Loop loop : loops) {
            sum += loop.look(now);
        }
        return loops.isEmpty() ? 0 : ROUNDS * sum / loops.size();
    }

    private final class Loop implements Runnable {
        private final Executor executor;
        private boolean sent;
        private long sentNanos;
        private long knownNanos;
        private long lateNanos;

        Loop(Executor executor) {
            this.executor = executor;
            sentNanos = nanoTime.getAsLong() - PERIOD_NANOS;
            knownNanos = sentNanos;
        }

        /** Who else looks at the same time does without. */
        synchronized long look(long now) {
            if (!sent && now - sentNanos >= PERIOD_NANOS) {
                if (now - knownNanos >= STALE_NANOS) {
                    lateNanos = 0;
                }
                sent = true;
                sentNanos = now;
                try {
                    executor.execute(this);
                } catch (RejectedExecutionException e) { // it stops: whoever is on it is not late, but gone
                    sent = false;
                    lateNanos = 0;
                }
            }
            return sent ? Math.max(lateNanos, now - sentNanos) : lateNanos;
        }

        @Override
        public synchronized void run() {
            sent = false;
            knownNanos = nanoTime.getAsLong();
            lateNanos = Math.max(0, knownNanos - sentNanos);
        }
    }
}
