/**
 * Programs that the guard's benches run, never shipped: the auction site behind each protection
 * ({@code site}), a server and clients that compare the guard's reading of a hello with what JSSE then
 * did ({@code verdict}), and clients that mean harm ({@code attack}). All of them stay on the loopback
 * interface and end by themselves.
 */
package dev.loadline.guardbench;
