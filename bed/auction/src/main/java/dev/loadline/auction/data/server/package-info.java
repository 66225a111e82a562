/**
 * Database servers that the site starts for itself: installed by the distribution, run from a
 * directory of this run alone, on loopback, and gone when the site is.
 */
package dev.loadline.auction.data.server;
