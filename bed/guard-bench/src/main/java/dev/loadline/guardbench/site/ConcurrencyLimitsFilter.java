package dev.loadline.guardbench.site;

import com.netflix.concurrency.limits.Limiter;
import com.netflix.concurrency.limits.limit.Gradient2Limit;
import com.netflix.concurrency.limits.limit.VegasLimit;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;

/**
 * What the filter of concurrency-limits-servlet does, for jakarta.servlet, which that module does not
 * know: a request without a permit is answered 503 at once, one that throws counts as ignored.
 * {@code -Dprotection.limit} is gradient2 (the default) or vegas, {@code -Dprotection.maxLimit} its bound.
 */
final class ConcurrencyLimitsFilter implements Filter {
    private final Limiter<Void> limiter;

    private ConcurrencyLimitsFilter(Limiter<Void> limiter) {
        this.limiter = limiter;
    }

    static ConcurrencyLimitsFilter ofProperties() {
        int most = Integer.getInteger("protection.maxLimit", 50);
        String kind = System.getProperty("protection.limit", "gradient2");
        var limit = switch (kind) {
            case "gradient2" -> Gradient2Limit.newBuilder().initialLimit(Math.min(20, most)).minLimit(1).maxConcurrency(most).build();
            case "vegas" -> VegasLimit.newBuilder().initialLimit(Math.min(20, most)).maxConcurrency(most).build();
            default -> throw new IllegalArgumentException("-Dprotection.limit=" + kind + ": it must be gradient2 or vegas");
        };
        return new ConcurrencyLimitsFilter(SimpleLimiter.<Void>newBuilder().limit(limit).build());
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
        Optional<Limiter.Listener> permit = limiter.acquire(null);
        if (permit.isEmpty()) {
            ((HttpServletResponse) response).sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
            return;
        }
        boolean done = false;
        try {
            chain.doFilter(request, response);
            done = true;
        } finally {
            if (done) {
                permit.get().onSuccess();
            } else {
                permit.get().onIgnore();
            }
        }
    }
}
