/**
 * Hooks in Undertow 2, and so in WildFly, defined beside it.
 *
 * <p>A listener's handler is one that tells of requests, and has the workers that they are dispatched to tell of their visits.
 * A connection is told of from its first request on. Not seen are what an I/O thread does before a request is read, and services.
 */
package dev.loadline.agent.hooks.undertow;
