/**
 * The guard in Undertow 2.3: {@link dev.loadline.guard.undertow.ConnectionGuard} guards the connections of a listener that speaks TLS,
 * {@link dev.loadline.guard.undertow.GuardHandler} requests, where TLS ends in front of the server or nowhere, and streams of HTTP/2.
 *
 * <p>A connection: Undertow asks {@link dev.loadline.guard.undertow.GuardedSslContext} for its engine when it has accepted it. That is a
 * {@link dev.loadline.guard.undertow.GuardedEngine}, which hears the hello before JSSE's own does, and is that one from then on; its
 * session ({@link dev.loadline.guard.undertow.GuardedSession}) tells the handler of which connection a request is.
 *
 * <p>What always holds: it decides on the I/O thread that read the hello or the request, and who is refused meets no worker and no
 * cryptography. What an event waits for is how late the I/O threads are, and the queue of the workers, which is measured for each that
 * is handed to them.
 */
package dev.loadline.guard.undertow;
