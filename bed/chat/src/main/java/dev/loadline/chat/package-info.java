/**
 * Rooms of users who write to each other over TCP: a server and a client, each a JVM of its own, which
 * do little but receive, distribute and send.
 *
 * <p>Terms: a <em>user</em> has one connection and is in one <em>room</em>; what a user <em>says</em> the
 * server <em>broadcasts</em> to all others of the room, and <em>receipts</em> to the user, who then says the
 * next; a <em>delivery</em> is one message that reached one user. A <em>link</em> is one end of a
 * connection; a <em>transport</em> makes links: with two threads for each (platform or virtual ones),
 * or all on a few event loops.
 *
 * <p>What always holds: messages of one user reach each other user in the order said, none lost, none
 * twice; the client checks it. A user has one message under way, so that queues are bounded by the
 * users of a room. Server and client use the same transports, in either JVM any of them.
 *
 * <p>The shape (rooms of 20, long-lived connections, two threads for each at both ends) is that of the chat
 * server described by Luo and John, <em>Workload Characterization of Multithreaded Java Servers</em>,
 * ISPASS 2001, section 3.1. Its figures are no figures of any published benchmark.
 */
package dev.loadline.chat;
