/** The guard's figures in Micrometer. Nothing else refers to this package: it loads only where Micrometer is. */
package dev.loadline.guard.micrometer;
