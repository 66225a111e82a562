package dev.loadline.guard.undertow;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.GuardedRequest;
import dev.loadline.guard.RequestGate;
import dev.loadline.guard.ServerAnswer;
import dev.loadline.guard.ServerRequest;
import dev.loadline.guard.Serving;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.HeaderValues;
import io.undertow.util.Headers;
import io.undertow.util.Protocols;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.xnio.XnioIoThread;

/**
 * Guards requests for all that is behind it, servlets or not: {@code builder.setHandler(new GuardHandler(handler,
 * "trustedProxies=10.0.0.0/8"))}. It decides on the I/O thread, before a worker is involved; who is let in waits for that one, and how
 * long is measured where the request is dispatched to the exchange's own executor, as servlets are. Sessions are known by their cookies.
 * It measures from the beginning, until it is closed.
 */
public final class GuardHandler implements HttpHandler, AutoCloseable {
    private static final AtomicInteger OPEN = new AtomicInteger();

    private final HttpHandler next;
    private final RequestGate gate;
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final Set<XnioIoThread> ioThreads = ConcurrentHashMap.newKeySet();

    /**
     * @param next who serves what is let in
     * @param options see {@link GuardSettings#of}; empty: the defaults
     * @throws IllegalArgumentException saying which is wrong
     */
    public GuardHandler(HttpHandler next, String options) {
        this.next = next;
        gate = new RequestGate("requests of Undertow", GuardSettings.of(options));
        gate.start();
        OPEN.incrementAndGet();
    }

    /** Whether there is one in this process. */
    static boolean isThere() {
        return OPEN.get() > 0;
    }

    /** Its modes, figures and classifier. */
    public Guard guard() {
        return gate.guard();
    }

    @Override
    public void close() {
        if (open.getAndSet(false)) {
            OPEN.decrementAndGet();
        }
        gate.close();
    }

    @Override
    public void handleRequest(HttpServerExchange exchange) throws Exception {
        if (ioThreads.add(exchange.getIoThread())) {
            gate.eventLoops(ioThreads);
        }
        handle(gate, exchange, next);
    }

    static void handle(RequestGate gate, HttpServerExchange exchange, HttpHandler next) throws Exception {
        GuardedRequest asked = gate.request(new ExchangeRequest(exchange));
        if (asked == null) {
            next.handleRequest(exchange);
        } else if (asked.refused()) {
            BusyAnswer.send(gate.guard().busy(), false, exchange);
        } else {
            exchange.addExchangeCompleteListener((served, others) -> {
                asked.ended(() -> answer(served));
                others.proceed();
            });
            Executor workers = exchange.getDispatchExecutor();
            exchange.setDispatchExecutor(task -> toWorker(asked, task, workers == null ? exchange.getConnection().getWorker() : workers));
            GuardedRequest.Run run = asked.enter();
            GuardedRequest.answersHere(true);
            try {
                next.handleRequest(exchange);
            } finally {
                GuardedRequest.answersHere(false);
                run.leave();
            }
        }
    }

    private static void toWorker(GuardedRequest asked, Runnable task, Executor workers) {
        GuardedRequest.Wait wait = asked.handOver();
        try {
            workers.execute(() -> {
                GuardedRequest.Run run = wait.over();
                GuardedRequest.answersHere(true);
                try {
                    task.run();
                } finally {
                    GuardedRequest.answersHere(false);
                    run.leave();
                }
            });
        } catch (RejectedExecutionException e) {
            wait.never();
            throw e;
        }
    }

    private static ServerAnswer answer(HttpServerExchange served) {
        HeaderValues cookies = served.getResponseHeaders().get(Headers.SET_COOKIE);
        return new ServerAnswer(served.getStatusCode(), cookies == null ? List.of() : List.copyOf(cookies), ServerRequest.Session.UNKNOWN, null);
    }

    /** What Undertow says of a request before anybody has handled it. */
    private record ExchangeRequest(HttpServerExchange exchange) implements ServerRequest {
        @Override
        public String method() {
            return exchange.getRequestMethod().toString();
        }

        @Override
        public String path() {
            return exchange.getRequestURI();
        }

        @Override
        public String pathInApplication() {
            return path();
        }

        @Override
        public Iterable<String> headers(String name) {
            HeaderValues values = exchange.getRequestHeaders().get(name);
            return values == null ? List.of() : values;
        }

        @Override
        public String peer() {
            var address = exchange.getSourceAddress();
            return address == null || address.getAddress() == null ? null : address.getAddress().getHostAddress();
        }

        @Override
        public boolean onGuardedConnection() {
            return Serving.isGuarded() && !exchange.getProtocol().equals(Protocols.HTTP_2_0);
        }

        @Override
        public String sessionCookie() {
            return null;
        }

        @Override
        public Session session() {
            return Session.UNKNOWN;
        }
    }
}
