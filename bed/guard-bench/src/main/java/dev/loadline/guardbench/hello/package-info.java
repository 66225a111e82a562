/** What reading a hello costs. */
package dev.loadline.guardbench.hello;
