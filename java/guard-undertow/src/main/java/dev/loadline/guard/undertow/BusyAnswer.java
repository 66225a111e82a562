package dev.loadline.guard.undertow;

import dev.loadline.guard.BusyPage;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.StatusCodes;
import java.nio.ByteBuffer;

/** The 503 of who is refused. */
final class BusyAnswer {
    private BusyAnswer() {}

    /** @param close whether its connection is not to be used again */
    static void send(BusyPage busy, boolean close, HttpServerExchange exchange) {
        exchange.setStatusCode(StatusCodes.SERVICE_UNAVAILABLE);
        exchange.getResponseHeaders().put(Headers.RETRY_AFTER, busy.retryAfter());
        exchange.getResponseHeaders().put(Headers.CACHE_CONTROL, "no-store");
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, busy.contentType());
        if (close) {
            exchange.setPersistent(false);
        }
        exchange.getResponseSender().send(ByteBuffer.wrap(busy.body()));
    }
}
