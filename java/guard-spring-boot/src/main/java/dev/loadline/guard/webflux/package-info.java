/**
 * The guard of requests in Spring WebFlux. Terms: a <em>loop</em> is a thread of the server that requests come by and on which most of
 * them are served; <em>work</em> is a request that was let in, on whatever threads of Reactor's; a <em>handoff</em> is work that waits
 * for another thread. What always holds: what is handed over and never runs is forgotten when its request ends.
 */
package dev.loadline.guard.webflux;
