/**
 * What the guard decides: pure functions and small state machines, without clock, thread or file.
 *
 * <p>Terms. The <em>cost</em> of a connection is the CPU time that it takes over its whole life:
 * handshake, requests, encryption. <em>Work</em> is CPU time promised to connections that were admitted.
 * A connection is <em>full</em> when its handshake did the asymmetric cryptography of a new session,
 * <em>resumed</em> when it reused one. A client is <em>known</em> when it was served in the last minute or
 * two: if it resumes, its session is under way; one that is not known begins a session. <em>Waiting</em> is
 * how many of the server's threads wait for a CPU, or events for a thread, on average and per CPU at hand.
 * The guard is <em>refusing</em> from the first connection that did not fit until the load offered has
 * fallen below what can be served.
 *
 * <p>What always holds:
 * <ul>
 * <li>work is charged when a connection is admitted, and corrected by what it turned out to be: what a
 *     client claims lowers its charge only as far as claims turned out good, or cheap;
 * <li>over any time, the work admitted for new connections is at most what the CPUs could do in it, times
 *     the correction, plus one interval's worth;
 * <li>nobody is refused while less is offered than can be served;
 * <li>time is a number of nanoseconds given by the caller, and going backwards changes nothing.
 * </ul>
 */
package dev.loadline.guard.policy;
