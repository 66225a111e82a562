/**
 * The guard: keeps a TLS server at its peak under any overload. This package is what an adapter for a
 * server calls and what an administrator sees; {@code hello} reads ClientHellos, {@code policy} decides,
 * {@code cpu} measures, {@code abuse} remembers who games.
 *
 * <p>An adapter makes one {@link dev.loadline.guard.Guard} per connector. For each connection it calls
 * {@link dev.loadline.guard.Guard#connection}, {@link dev.loadline.guard.GuardedConnection#decide} with
 * its hello before any cryptography, and then tells what happened: the handshake's end and its
 * time on the thread, that of requests, the close.
 *
 * <p>What always holds: nothing here throws into the server. An exception or error inside the guard admits, is
 * counted, and is logged (each kind once a minute). While the guard's own loop does not complete, everybody is
 * admitted.
 */
package dev.loadline.guard;
