/**
 * Who games the guard: tickets replayed, addresses whose claims are not good. Memory is bounded by fixed
 * tables; when one is full it forgets who did least.
 */
package dev.loadline.guard.abuse;
