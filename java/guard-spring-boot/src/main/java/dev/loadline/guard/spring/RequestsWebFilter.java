package dev.loadline.guard.spring;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.webflux.GuardWebFilter;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** Guards the requests of a reactive application where no connector is guarded: as {@link RequestsFilter}, decided when the first comes. */
final class RequestsWebFilter implements WebFilter, Ordered, DisposableBean {
    private final GuardSettings settings;
    private final RequestClassifier classifier;
    private final GuardOptions.Requests when;
    private final GuardInUse inUse;
    private volatile boolean decided;
    private volatile GuardWebFilter filter;

    /** @param classifier null for none */
    RequestsWebFilter(GuardSettings settings, RequestClassifier classifier, GuardOptions.Requests when, GuardInUse inUse) {
        this.settings = settings;
        this.classifier = classifier;
        this.when = when;
        this.inUse = inUse;
        inUse.ofRequests(this::guard);
    }

    private Guard guard() {
        GuardWebFilter now = filter;
        return now == null ? null : now.guard();
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        if (!decided) {
            decide();
        }
        GuardWebFilter now = filter;
        return now == null ? chain.filter(exchange) : now.filter(exchange, chain);
    }

    private synchronized void decide() {
        if (!decided && (when == GuardOptions.Requests.ON || when == GuardOptions.Requests.AUTO && !inUse.guardsConnections())) {
            var made = new GuardWebFilter(settings);
            if (classifier != null) {
                made.guard().classifier(classifier);
            }
            filter = made;
        }
        decided = true;
    }

    @Override
    public synchronized void destroy() {
        decided = true;
        if (filter != null) {
            filter.close();
        }
    }
}
