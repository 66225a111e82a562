package dev.loadline.auction.fault;

import dev.loadline.auction.web.ConnectorExtension;
import jakarta.servlet.Filter;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Two worker threads for pages that ask some slow service first: connections queue for a worker while the CPU idles. */
final class FewWorkers extends Fault {
    static final int WORKERS = 2;
    private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

    FewWorkers(String name) {
        super(name);
    }

    @Override
    public Optional<ConnectorExtension> connector() {
        return Optional.of(connector -> {
            connector.setProperty("maxThreads", Integer.toString(WORKERS));
            connector.setProperty("minSpareThreads", Integer.toString(WORKERS));
        });
    }

    @Override
    public Optional<Filter> aroundPages() {
        return Optional.of((request, response, chain) -> {
            LockSupport.parkNanos(WAIT_NANOS);
            chain.doFilter(request, response);
        });
    }
}
