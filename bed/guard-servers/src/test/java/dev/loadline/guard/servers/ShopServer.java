package dev.loadline.guard.servers;

import dev.loadline.guard.Guard;

/** A server with the {@link Shop} and a guard of requests, on a free port of the loopback, in plain HTTP. */
interface ShopServer extends AutoCloseable {
    int port();

    Guard guard();

    /** What guards its streams of HTTP/2, beside a guard of connections. */
    default Guard streamGuard() {
        throw new UnsupportedOperationException("it has none");
    }
}
