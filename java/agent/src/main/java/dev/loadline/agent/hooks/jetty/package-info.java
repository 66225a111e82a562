/**
 * Hooks in a Jetty 12, defined beside it.
 *
 * <p>A connector makes its connections on end points that tell of each event, and on which thread it runs; the server gets a
 * handler before its own that tells of requests, and its pool a queue that tells of events that wait for a thread. Each delegates to
 * what was there before, and those of connections end with them.
 */
package dev.loadline.agent.hooks.jetty;
