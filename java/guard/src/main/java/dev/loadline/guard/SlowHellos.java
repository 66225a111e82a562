package dev.loadline.guard;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Closes whoever takes longer to say hello than {@code helloTimeout}: a few times a second, on the guard's thread. Thread-safe. */
public final class SlowHellos {
    /** A connection whose hello is awaited. */
    public interface Greeter {
        /** Whether it still is. */
        boolean greeting();

        /** Closes it if it did not say hello in time; it is asked while others may hear it. */
        boolean timeOut(long nowNanos, long limitNanos);
    }

    private final Guard guard;
    private final Set<Greeter> greeters = ConcurrentHashMap.newKeySet();

    public SlowHellos(Guard guard) {
        this.guard = guard;
        guard.onTick(this::expire);
    }

    public void add(Greeter greeter) {
        greeters.add(greeter);
    }

    /** It has said hello, or is gone. */
    public void remove(Greeter greeter) {
        greeters.remove(greeter);
    }

    /** How many are awaited. */
    public int size() {
        return greeters.size();
    }

    private void expire() {
        long now = System.nanoTime();
        for (Greeter greeter : greeters) {
            if (!greeter.greeting()) {
                greeters.remove(greeter);
            } else if (guard.mode() == Mode.ENFORCE && greeter.timeOut(now, guard.settings().helloTimeout().toNanos())) {
                greeters.remove(greeter);
                guard.refused(Refused.SLOW_HELLO);
            }
        }
    }
}
