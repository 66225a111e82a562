/**
 * How many CPUs this process has at hand, now: from the CPU manager when there is one, else the least of
 * affinity, cgroup quota and what the virtual machine says. A number may be a fraction (a quota), is
 * above zero, and is read anew each time, because all of these change while a process runs.
 */
package dev.loadline.guard.cpu;
