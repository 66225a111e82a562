package dev.loadline.threading;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** CPU time of processes, in seconds. */
final class CpuTime {
    /** Of the fields in /proc/PID/stat that are in clock ticks: 100 a second on every Linux that a JDK runs on. */
    private static final double TICKS = 100;
    /** After the command's name: user time, then system time (proc(5), fields 14 and 15). */
    private static final int USER = 11;

    private CpuTime() {
    }

    static double own() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime() / 1e9;
    }

    /** NaN for process 0. */
    static double of(long pid) throws IOException {
        if (pid == 0) {
            return Double.NaN;
        }
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[USER]) + Long.parseLong(fields[USER + 1])) / TICKS;
    }
}
