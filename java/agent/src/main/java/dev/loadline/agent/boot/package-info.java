/**
 * What probes call, defined into the boot loader so that every class can see it.
 *
 * <p>Terms: a <em>session</em> is one recording in this JVM; a <em>slot</em> is a kernel thread's
 * place to write, at most one chunk of the spool at a time; the <em>speaker</em> is the virtual
 * thread for which a carrier's slot writes.
 *
 * <p>What always holds here: no method that a probe calls blocks, parks, takes a lock, throws on
 * purpose, or calls anything that is itself probed; so no {@code java.util.concurrent} class that may
 * park, which would also take a virtual thread off its carrier. The code uses neither lambdas nor
 * string concatenation by invokedynamic: the first caller would pay for linking them. What a thread, a text or an object meets
 * when it is new lies behind {@code @DontInline}: compiled code that meets a branch which it was compiled without is thrown away
 * whole, for all threads, and with it the server's methods that it would be inlined into. A thread may be stopped
 * anywhere in here while the session ends; the spool's memory therefore is never unmapped, only
 * replaced (see {@link dev.loadline.agent.boot.Native#seal}).
 */
package dev.loadline.agent.boot;
