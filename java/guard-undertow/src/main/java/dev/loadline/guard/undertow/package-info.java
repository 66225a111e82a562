/**
 * The guard in Undertow 2.3: {@link dev.loadline.guard.undertow.GuardHandler} guards requests, whoever serves them.
 *
 * <p>What always holds: it decides on the I/O thread that read a request, and who is refused meets no worker. What a request waits for
 * is how late the I/O threads are, and the queue of the workers, which is measured for each request that is dispatched.
 */
package dev.loadline.guard.undertow;
