/**
 * The auction site behind each protection: the program is {@code dev.loadline.auction.Main} itself, with
 * {@link dev.loadline.guardbench.site.Protection} on its class path and its choice in system properties.
 */
package dev.loadline.guardbench.site;
