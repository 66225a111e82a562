/**
 * Probes in the methods that the user names.
 *
 * <p>Terms: a <em>probe</em> is a call of {@code dev.loadline.agent.boot.MethodProbes} with the number of the method where it
 * begins, before each of its returns, and where an exception leaves it. <em>Filters</em> say which methods have one; what of it
 * is recorded is for each recording to say.
 *
 * <p>What always holds: a probe uses no local variable and leaves the frames of the method as they are, so that no other
 * class has to be looked at to place it; a class that cannot be woven loads as it was. Classes of the boot loader have no
 * probes, since those use them.
 */
package dev.loadline.agent.methods;
