/**
 * The guard in Tomcat 10.1 and 11: a connector's protocol.
 *
 * <p>{@link dev.loadline.guard.tomcat.GuardedHttp11Protocol} is what is configured;
 * {@link dev.loadline.guard.tomcat.GuardedEndpoint} stands between acceptor, poller and workers,
 * {@link dev.loadline.guard.tomcat.GuardedChannel} between socket and TLS engine,
 * {@link dev.loadline.guard.tomcat.GuardedAdapter} between HTTP and servlets.
 *
 * <p>What always holds: a connection is decided about on the acceptor's thread or the poller's, from the bytes
 * that its client sent, before a worker or an engine is involved; the bytes read for that stay in the
 * channel's buffer, where Tomcat looks for them. Whoever is refused costs no more than that. While a hello is read
 * its connection's monitor is held, so that nobody closes it meanwhile for being slow. Only what both Tomcats
 * let a subclass reach is used, so that one jar serves both: in 10.1 the methods that make channels and
 * engines are private or differ.
 */
package dev.loadline.guard.tomcat;
