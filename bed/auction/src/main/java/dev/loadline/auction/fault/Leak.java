package dev.loadline.auction.fault;

import jakarta.servlet.Filter;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A cache keyed by what never comes back: every page leaves 64 kB. It stops at three quarters of the
 * heap, where the collector works hardest and the site can still be looked at and stopped.
 */
final class Leak extends Fault {
    static final int BYTES_PER_PAGE = 64 << 10;
    private static final long MOST = Runtime.getRuntime().maxMemory() / 4 * 3 / BYTES_PER_PAGE;

    private final Map<Long, byte[]> pages = new ConcurrentHashMap<>();
    private final AtomicLong served = new AtomicLong();

    Leak(String name) {
        super(name);
    }

    @Override
    public Optional<Filter> aroundPages() {
        return Optional.of((request, response, chain) -> {
            long key = served.incrementAndGet();
            if (key <= MOST) {
                pages.put(key, new byte[BYTES_PER_PAGE]);
            }
            chain.doFilter(request, response);
        });
    }

    @Override
    public void close() {
        pages.clear();
    }
}
