/**
 * A wholesale company in memory: the middle tier of order entry, one thread a warehouse, no I/O.
 *
 * <p>Terms: a <em>company</em> sells <em>items</em> from <em>warehouses</em>, each with ten
 * <em>districts</em> of customers and a <em>stock</em> entry per item; a <em>transaction</em> is one
 * of five types, drawn from a deck that holds the mix; a <em>point</em> is one number of warehouses,
 * warmed up and then measured.
 *
 * <p>What always holds, at the end of each point, when no transaction runs: see {@link Invariants}.
 * A transaction holds at most one monitor at a time. The same seed gives the same company; what its
 * threads do to each other's warehouses depends on their timing.
 *
 * <p>The shape (five types, their mix, B-trees of 25 MB a warehouse, a thread each) is that of the
 * middle tier described by Luo and John, <em>Workload Characterization of Multithreaded Java
 * Servers</em>, ISPASS 2001, section 3.1; the types and rules of business are those of order entry
 * in TPC-C 5.11, clause 2. Its figures are no figures of any published benchmark.
 */
package dev.loadline.wholesale;
