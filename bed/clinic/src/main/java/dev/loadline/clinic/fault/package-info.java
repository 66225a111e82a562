/** Mistakes as they are made in such applications, one at a time, by {@code --clinic.fault=NAME}: to see whether they are found. */
package dev.loadline.clinic.fault;
