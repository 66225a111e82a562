package dev.loadline.guardbench.site;

import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;

/**
 * A bulkhead and a rate limiter of resilience4j before every request, neither of which waits: a request
 * without permission is answered 503 at once. {@code -Dprotection.concurrent} and
 * {@code -Dprotection.perSecond} are their sizes, which their user must find by measuring.
 */
final class Resilience4jFilter implements Filter {
    private static final int PERIODS_PER_SECOND = 10;

    private final Bulkhead bulkhead;
    private final RateLimiter rate;

    private Resilience4jFilter(Bulkhead bulkhead, RateLimiter rate) {
        this.bulkhead = bulkhead;
        this.rate = rate;
    }

    static Resilience4jFilter ofProperties() {
        int perSecond = Integer.getInteger("protection.perSecond", 1_000);
        return new Resilience4jFilter(
            Bulkhead.of("site", BulkheadConfig.custom()
                .maxConcurrentCalls(Integer.getInteger("protection.concurrent", 16)).maxWaitDuration(Duration.ZERO).build()),
            RateLimiter.of("site", RateLimiterConfig.custom()
                .limitForPeriod(Math.max(1, perSecond / PERIODS_PER_SECOND))
                .limitRefreshPeriod(Duration.ofMillis(1_000 / PERIODS_PER_SECOND)).timeoutDuration(Duration.ZERO).build()));
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
        if (!bulkhead.tryAcquirePermission()) {
            refuse(response);
            return;
        }
        try {
            if (rate.acquirePermission()) {
                chain.doFilter(request, response);
            } else {
                refuse(response);
            }
        } finally {
            bulkhead.onComplete();
        }
    }

    private static void refuse(ServletResponse response) throws IOException {
        ((HttpServletResponse) response).sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
    }
}
