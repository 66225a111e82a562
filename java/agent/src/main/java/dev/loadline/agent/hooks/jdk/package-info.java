/**
 * Hooks in the JDK's own HTTP server, {@code com.sun.net.httpserver}: a filter before those of each context. Connections, handshakes and
 * queues are not seen, nor what no context is for.
 */
package dev.loadline.agent.hooks.jdk;
