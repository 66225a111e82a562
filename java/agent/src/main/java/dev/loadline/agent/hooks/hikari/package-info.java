/** Hooks in a HikariCP pool, defined beside it: who waits for a connection, has it, and gives it back. */
package dev.loadline.agent.hooks.hikari;
