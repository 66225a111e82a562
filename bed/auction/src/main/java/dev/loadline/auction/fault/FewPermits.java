package dev.loadline.auction.fault;

import jakarta.servlet.Filter;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A bulkhead of two permits around some slow service that every page asks first: pages wait for each other while the CPU idles. */
final class FewPermits extends Fault {
    private static final int PERMITS = 2;
    private static final long ASKS_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

    private final Semaphore bulkhead = new Semaphore(PERMITS);

    FewPermits(String name) {
        super(name);
    }

    @Override
    public Optional<Filter> aroundPages() {
        return Optional.of((request, response, chain) -> {
            bulkhead.acquireUninterruptibly();
            try {
                LockSupport.parkNanos(ASKS_NANOS);
            } finally {
                bulkhead.release();
            }
            chain.doFilter(request, response);
        });
    }
}
