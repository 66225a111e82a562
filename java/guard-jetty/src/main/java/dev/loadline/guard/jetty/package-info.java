/**
 * The guard in Jetty 12: {@link dev.loadline.guard.jetty.ConnectionGuard} guards the connections of a connector that speaks
 * TLS, {@link dev.loadline.guard.jetty.GuardHandler} requests, where TLS ends in front of the server or nowhere.
 *
 * <p>A connection: {@link dev.loadline.guard.jetty.GuardedConnectionFactory} stands in the place of Jetty's factory of TLS
 * connections and first makes a {@link dev.loadline.guard.jetty.HelloConnection}, which reads the hello and decides. Who is let in
 * gets the connection of Jetty's own factory, on a {@link dev.loadline.guard.jetty.GuardedEndPoint}: it hands over what was read, and
 * sees each of the connection's events.
 *
 * <p>What always holds: a connection is decided about before there is an engine for it, from the bytes that its client sent, on a
 * thread that does not block; whoever is refused costs no more than that. Jetty does not tell when an event begins to wait for a
 * thread of its pool: the queue of that pool is asked for its length.
 */
package dev.loadline.guard.jetty;
