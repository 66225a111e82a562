/**
 * What the guard remembers of clients: who was served, who probes, and who games it by replayed tickets or
 * claims that are not good. Memory is bounded: a table that is full forgets who did least, or who came longest
 * ago.
 */
package dev.loadline.guard.abuse;
