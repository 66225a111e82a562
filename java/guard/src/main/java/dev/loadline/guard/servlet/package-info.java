/**
 * The guard as a servlet filter: requests in place of connections, on any server of jakarta.servlet 5 and up. Nothing else
 * refers to this package: it loads only where the servlet API is.
 */
package dev.loadline.guard.servlet;
