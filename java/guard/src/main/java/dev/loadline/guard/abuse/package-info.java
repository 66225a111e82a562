/**
 * What the guard remembers of clients: who was served, and who games it by replayed tickets or claims that
 * are not good. Memory is bounded by fixed
 * tables; when one is full it forgets who did least.
 */
package dev.loadline.guard.abuse;
