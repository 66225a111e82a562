/**
 * As much of GIOP 1.2 and of object references as calls with whole numbers need (OMG, CORBA 3.3, part 2, chapters 7 and 9).
 *
 * <p>The driver speaks it by itself, so that calling costs the same whichever broker answers, and 64 clients have a
 * connection each, which within one broker they would share. The plain server speaks it, so that it has the same clients.
 */
package dev.loadline.threading.giop;
