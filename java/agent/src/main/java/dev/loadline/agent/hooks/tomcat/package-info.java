/**
 * Hooks in a Tomcat, 9, 10.1 and 11, defined beside it.
 *
 * <p>An endpoint gets a map of connections that tells of those that open and close, an executor that
 * tells when an event is queued and when a worker has it, a handler that tells when it is processed,
 * and contexts whose engines tell of their handshakes; the container behind it gets a valve that
 * tells of requests. Each delegates to what was there before.
 */
package dev.loadline.agent.hooks.tomcat;
