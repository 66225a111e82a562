/**
 * Faults to plant, one class each: something wrong with an otherwise sound site, to be found in a
 * recording. docs/auction.md says what each looks like there.
 *
 * <p>What always holds: a fault changes nothing but what its name says; without one, no code of this
 * package runs while a page is served; each lets go of whoever it holds when the site stops.
 */
package dev.loadline.auction.fault;
