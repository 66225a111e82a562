/**
 * Does the guard's reading of a hello agree with JSSE? {@link dev.loadline.guardbench.verdict.VerdictServer}
 * reads each hello as the guard does, then lets JSSE shake hands, and notes both; clients note what
 * they saw, under their port, so that three accounts of each handshake can be joined.
 */
package dev.loadline.guardbench.verdict;
