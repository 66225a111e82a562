/**
 * The Java Grande benchmarks, written anew from their descriptions (Bull et al., 2000; Guitart 2005,
 * appendix A), for measuring OpenMP for Java. Never shipped.
 *
 * <p>Terms: a <em>kernel</em> is one problem; its <em>size</em> A, B or C; its <em>check</em> says
 * what a right result is. Every kernel is one source with directives: compiled by javac it is the
 * sequential version, compiled by loadline-omp the parallel one. A <em>crew</em> shares its loops by
 * the JDK's means instead, to compare with.
 *
 * <p>What always holds: the result of a kernel does not depend on the number of threads, except in
 * the last digits where a sum of fractions is reduced; and {@code check} fails on a wrong one.
 */
package dev.loadline.grande;
