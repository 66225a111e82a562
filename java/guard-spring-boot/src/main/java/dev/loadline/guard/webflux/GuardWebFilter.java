package dev.loadline.guard.webflux;

import dev.loadline.guard.BusyPage;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.GuardedRequest;
import dev.loadline.guard.RequestGate;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoOperator;

/**
 * Guards the requests of a WebFlux application, before all its other filters. Sessions are known by their cookies. Where it runs on
 * Netty, what requests wait for is how late its event loops are, and, where Reactor hands them to other threads, how long that takes.
 * It measures from the beginning, until it is closed. The Spring Boot starter makes one by itself; a bean of this class does as well.
 */
public final class GuardWebFilter implements WebFilter, Ordered, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("loadline-guard");
    private static final boolean NETTY = ClassUtils.isPresent("reactor.netty.Connection", GuardWebFilter.class.getClassLoader());

    private final RequestGate gate;
    private final AtomicBoolean lookedForLoops = new AtomicBoolean();
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * @param options see {@link GuardSettings#of}; empty: the defaults
     * @throws IllegalArgumentException saying which is wrong
     */
    public GuardWebFilter(String options) {
        this(GuardSettings.of(options));
    }

    public GuardWebFilter(GuardSettings settings) {
        gate = new RequestGate("requests", settings);
        Work.hook();
        gate.start();
    }

    /** Its modes, figures and classifier. */
    public Guard guard() {
        return gate.guard();
    }

    @Override
    public void close() {
        if (!closed.getAndSet(true)) {
            gate.close();
            Work.unhook();
        }
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        if (!lookedForLoops.getAndSet(true)) {
            findLoops(exchange.getRequest());
        }
        GuardedRequest asked = gate.request(new ExchangeRequest(exchange.getRequest()));
        if (asked == null) {
            return chain.filter(exchange);
        } else if (asked.refused()) {
            return refuse(exchange.getResponse());
        }
        var work = new Work(asked);
        var error = new AtomicReference<Throwable>();
        return new Working(Mono.defer(() -> chain.filter(exchange)).doOnError(error::set)
            .doFinally(how -> work.ended(() -> ExchangeRequest.answer(exchange.getResponse(), error.get()))), work);
    }

    /** What the thread that subscribes does for it is its work: mostly that is all. */
    private static final class Working extends MonoOperator<Void, Void> {
        private final Work work;

        Working(Mono<Void> rest, Work work) {
            super(rest);
            this.work = work;
        }

        @Override
        public void subscribe(CoreSubscriber<? super Void> actual) {
            work.run(() -> source.subscribe(actual));
        }
    }

    private Mono<Void> refuse(ServerHttpResponse response) {
        BusyPage busy = gate.guard().busy();
        response.setStatusCode(HttpStatus.SERVICE_UNAVAILABLE);
        HttpHeaders headers = response.getHeaders();
        headers.set(HttpHeaders.RETRY_AFTER, busy.retryAfter());
        headers.set(HttpHeaders.CACHE_CONTROL, "no-store");
        headers.set(HttpHeaders.CONTENT_TYPE, busy.contentType());
        headers.setContentLength(busy.body().length);
        return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(busy.body())));
    }

    private void findLoops(ServerHttpRequest request) {
        try {
            if (!NETTY || !NettyLoops.measure(gate, request)) {
                LOG.log(System.Logger.Level.INFO, "loadline-guard: the server of this reactive application is not Netty, and does not show how many"
                    + " requests wait for a thread: overload is seen by what its threads wait for a CPU alone");
            }
        } catch (RuntimeException | LinkageError e) {
            gate.guard().failed(e);
        }
    }
}
