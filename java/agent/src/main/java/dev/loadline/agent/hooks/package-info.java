/**
 * The server level of a JVM in which no class may be redefined: hooks in the extension points that
 * servers and pools have.
 *
 * <p>Terms: a <em>hook</em> is what is put into one server's connector or one pool, and taken out
 * again at the end; a <em>neighbour</em> is a class loader whose parent is the server's, so that
 * the classes it defines see both the server's types and {@code dev.loadline.agent.boot}.
 *
 * <p>What always holds: no class is redefined; a hook delegates to what was there before and throws
 * nothing of its own; where something else was put over a hook meanwhile, it stays; what hooks
 * cannot see is said ({@link dev.loadline.agent.hooks.Hooks#coverage()}).
 *
 * <p>Servers and pools are found from the threads that every JVM shows ({@code Places}): what a thread runs leads to
 * Tomcat's endpoint, Jetty's connectors, Netty's channels, a pool. Embedded servers have no JMX, and to walk
 * the heap would stop the program.
 */
package dev.loadline.agent.hooks;
