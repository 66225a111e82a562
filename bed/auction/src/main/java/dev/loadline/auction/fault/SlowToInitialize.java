package dev.loadline.auction.fault;

import java.util.concurrent.locks.LockSupport;

/** A class whose initializer waits, as one does that asks another server for its configuration. */
final class SlowToInitialize {
    private static final long WAIT_NANOS = 10_000_000;

    static {
        LockSupport.parkNanos(WAIT_NANOS);
    }

    private SlowToInitialize() {
    }
}
