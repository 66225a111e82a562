/** How a site is started and stopped: port file, certificate, time limit. */
package dev.loadline.clinic.run;
