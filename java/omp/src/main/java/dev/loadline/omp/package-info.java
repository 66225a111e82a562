/**
 * OpenMP for Java, as a program sees it: the run-time library.
 *
 * <p>Terms are OpenMP's: a <em>region</em> is code that a <em>team</em> of threads runs, the thread
 * that met the region being its <em>master</em>, number 0; outside every region a thread is a team of
 * one. Directives are comments ({@code //omp parallel for}) that the compiler in
 * {@code dev.loadline.omp.compiler} turns into calls of {@code dev.loadline.omp.runtime}; a program
 * compiled by plain {@code javac} ignores them and runs sequentially, and these methods then answer
 * as a team of one does.
 *
 * <p>What always holds: a region's team has one size from its beginning to its end, unless the region
 * is one dynamic loop, which more threads may join; what a region throws, its caller gets; and a team
 * never outlives the need for it by more than ten seconds.
 */
package dev.loadline.omp;
