package dev.loadline.guard.servers;

import dev.loadline.guard.Guard;

/** A server with the {@link Shop} and a guard of requests, on a free port of the loopback, in plain HTTP. */
interface ShopServer extends AutoCloseable {
    int port();

    Guard guard();
}
