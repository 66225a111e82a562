/**
 * What the guard decides: pure functions and small state machines, without clock, thread or file.
 *
 * <p>Terms. A <em>session</em> begins with a connection of a client that is not known; its <em>cost</em> is the CPU time of
 * its first handshake and of all that follows. A handshake is <em>full</em> when it did the asymmetric cryptography of a new
 * TLS session, <em>resumed</em> when it reused one. A client is <em>known</em> when it was served in the last minute or two:
 * if it resumes, its session is under way. <em>Delay</em> is how long an admitted request waits before it has a worker and a
 * CPU, for the turn of its handshake included; its <em>target</em> follows from the user's {@link
 * dev.loadline.guard.policy.Objective}. The guard is <em>refusing</em> from the first session that did not fit until nobody
 * was refused for a second.
 *
 * <p>What always holds:
 * <ul>
 * <li>nobody begins to be refused while the delay is below its target;
 * <li>nobody begins a session, while refusing, at twice the target: the delay is bounded;
 * <li>sessions under way are held back only while nobody begins;
 * <li>a session is charged when it begins, and corrected by what it turned out to be: what a client claims lowers its
 *     charge only as far as claims turned out good, or cheap;
 * <li>time is a number of nanoseconds given by the caller, and going backwards changes nothing.
 * </ul>
 */
package dev.loadline.guard.policy;
