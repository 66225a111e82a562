/**
 * What compiled directives call: teams, barriers, work sharing, reductions, tasks.
 *
 * <p>Terms: a {@link dev.loadline.omp.runtime.Team} is the hot team of one master at one nesting
 * level; a {@link dev.loadline.omp.runtime.Member} is one place in it, and what a region's code holds
 * in its hand; a <em>ticket</em> is a number that only grows, by which a thread tells another that it
 * came to a point; a <em>construct</em> is a work-sharing directive as it is met, counted per member.
 *
 * <p>What always holds:
 * <ul>
 *   <li>Fork, join, barrier, reduction and the hand-out of chunks take no lock. A waiter sleeps only
 *       after it announced it; who stores what a waiter waits for then looks whether it sleeps. Both
 *       stores are volatile, so one of the two sees the other.</li>
 *   <li>A word that one thread polls is written by one other thread, or is the one atomic of a loop,
 *       and shares its cache lines with nothing that a third thread writes.</li>
 *   <li>Threads spin only while their team is not larger than the CPUs at hand.</li>
 *   <li>Reductions are combined in the order of thread numbers: for one team size the result is
 *       the same in every run, also in floating point.</li>
 *   <li>When one member throws, the others leave at the next point where they would wait for it or
 *       take more work; the team is whole again when the region's caller gets the exception.</li>
 * </ul>
 *
 * <p>These types are public because compiled programs name them. Programs themselves use
 * {@link dev.loadline.omp.Omp}.
 */
package dev.loadline.omp.runtime;
