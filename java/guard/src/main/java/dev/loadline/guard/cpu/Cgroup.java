package dev.loadline.guard.cpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The CPU quota of this process's cgroup and of those above it, version 1 and 2. Where the files are is
 * found once; what they say is read each time.
 */
final class Cgroup {
    private final List<Path> levels = new ArrayList<>();

    private Cgroup() {}

    /**
     * @param procSelf /proc/self
     * @param mount where cgroups are mounted: /sys/fs/cgroup
     */
    static Cgroup of(Path procSelf, Path mount) {
        var cgroup = new Cgroup();
        try {
            for (String line : Files.readAllLines(procSelf.resolve("cgroup"))) {
                String[] part = line.split(":", 3);
                if (part.length < 3) {
                    continue;
                }
                if (part[1].isEmpty()) {
                    cgroup.add(mount, part[2]);
                } else if (List.of(part[1].split(",")).contains("cpu")) {
                    cgroup.add(mount.resolve("cpu"), part[2]);
                    cgroup.add(mount.resolve(part[1]), part[2]);
                }
            }
        } catch (IOException e) {
            // No /proc, no cgroups: there is no quota to respect.
        }
        return cgroup;
    }

    /** The group itself and all above it; in a container the path is the host's, and only its top exists. */
    private void add(Path root, String path) {
        for (Path level = root.resolve(path.substring(1)).normalize(); level != null && level.startsWith(root);
             level = level.getParent()) {
            if (Files.exists(level.resolve("cpu.max")) || Files.exists(level.resolve("cpu.cfs_quota_us"))) {
                levels.add(level);
            }
        }
    }

    /** The smallest quota in CPUs; empty when none is set. */
    OptionalDouble quota() {
        double least = Double.MAX_VALUE;
        for (Path level : levels) {
            least = Math.min(least, quota(level));
        }
        return least == Double.MAX_VALUE ? OptionalDouble.empty() : OptionalDouble.of(least);
    }

    private static double quota(Path level) {
        try {
            Path v2 = level.resolve("cpu.max");
            if (Files.exists(v2)) {
                String[] part = Files.readString(v2).trim().split(" ");
                return part[0].equals("max") ? Double.MAX_VALUE : ratio(part[0], part[1]);
            }
            String quota = Files.readString(level.resolve("cpu.cfs_quota_us")).trim();
            return quota.startsWith("-") ? Double.MAX_VALUE
                : ratio(quota, Files.readString(level.resolve("cpu.cfs_period_us")).trim());
        } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
            return Double.MAX_VALUE; // the group is gone or not ours to read: it bounds nothing that we know
        }
    }

    private static double ratio(String quota, String period) {
        double cpus = Double.parseDouble(quota) / Double.parseDouble(period);
        return cpus > 0 ? cpus : Double.MAX_VALUE;
    }
}
