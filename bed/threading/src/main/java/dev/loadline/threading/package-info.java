/**
 * One servant, called under several threading strategies and brokers, and the closed-loop driver that calls it.
 *
 * <p>Terms: a <em>servant</em> does the work of a request, CPU time and a delay; a <em>broker</em> takes requests off the
 * network, brings them to the servant and replies; a <em>strategy</em> says which thread of the broker runs the servant; a
 * <em>client</em> has a connection of its own and one request at a time on it.
 *
 * <p>What always holds: how much work a request is follows from its number alone, so that every strategy is asked for the
 * same work in the same order; a reply holds what only the servant's answer to that number is, and the driver checks it.
 *
 * <p>The strategies, the sizes of the work (0.5 ms and 5 ms of CPU, 50 ms of delay, exponential) and the closed clients are
 * those of M. Harkema, <em>Performance Modeling of Object Middleware</em>, sections 4.2, 4.5 and 5.4.
 */
package dev.loadline.threading;
