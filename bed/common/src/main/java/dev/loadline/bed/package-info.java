/** What the test beds share: a self-signed certificate made at start, the file that tells a port, command lines, virtual threads, pictures, delays. */
package dev.loadline.bed;
