/**
 * The application's side of the CPU manager ({@code loadline share}): asks for CPUs, and reads what it has.
 *
 * <p>Terms: the <em>daemon</em> divides the machine's CPUs; an <em>assignment</em> is what it gave this process; the
 * <em>page</em> is the file, mapped read-only, in which the daemon keeps that up to date.
 *
 * <p>What always holds: without a daemon an application has all the CPUs that the JVM sees; nothing here throws because
 * there is none, and one that comes, goes or comes back is noticed within about a second; reading the assignment never
 * blocks, allocates or calls the system.
 */
package dev.loadline.share;
