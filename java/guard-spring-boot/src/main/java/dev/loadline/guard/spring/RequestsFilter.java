package dev.loadline.guard.spring;

import dev.loadline.guard.servlet.GuardFilter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import java.util.Map;

/**
 * Guards requests where no connector is guarded. Whether one is, is known when the server has started, after its filters: so
 * it is decided when the first request comes.
 */
final class RequestsFilter extends GuardFilter {
    private final boolean always;
    private final GuardInUse inUse;
    private FilterConfig config;
    private volatile boolean decided;

    /** @param always whether a guarded connector is no reason to leave it to that */
    RequestsFilter(Map<String, String> options, boolean always, GuardInUse inUse) {
        super(options);
        this.always = always;
        this.inUse = inUse;
        inUse.ofRequests(this::guard);
    }

    @Override
    public void init(FilterConfig config) {
        this.config = config;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
        if (!decided) {
            decide();
        }
        super.doFilter(request, response, chain);
    }

    private synchronized void decide() throws ServletException {
        if (!decided && (always || !inUse.guardsConnections())) {
            super.init(config);
        }
        decided = true;
    }
}
