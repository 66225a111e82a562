/** The rows that a site begins with. */
package dev.loadline.clinic.data;
