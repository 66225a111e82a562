/** Clients that mean harm, on the loopback interface alone: forged tickets, garbage, slow hellos. */
package dev.loadline.guardbench.attack;
