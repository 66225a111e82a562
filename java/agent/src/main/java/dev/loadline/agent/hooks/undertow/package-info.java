/**
 * Hooks in Undertow 2, and so in WildFly, defined beside it.
 *
 * <p>A listener's handler is one that tells of requests, and has the workers that they are dispatched to tell of their visits.
 * A connection is told of from its handshake on, by the engine of a context that stands before the port's, or from its first request.
 * Not seen are what an I/O thread does beside that before a request is read, and services.
 */
package dev.loadline.agent.hooks.undertow;
