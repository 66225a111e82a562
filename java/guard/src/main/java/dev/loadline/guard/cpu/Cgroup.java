package dev.loadline.guard.cpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * The CPU quota of this process's cgroup and of those above it, version 1 and 2. Where the files are is
 * found once; what they say is read each time.
 */
final class Cgroup {
    /** A group's quota. @param period null: version 2, where the quota's file has it */
    private record Level(Path quota, Path period) {}

    /** Each once: version 1 has its controllers under their own names and under a joint one. */
    private final Set<Level> levels = new LinkedHashSet<>();

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
            Path group = real(level);
            Path v2 = group.resolve("cpu.max");
            Path v1 = group.resolve("cpu.cfs_quota_us");
            if (Files.exists(v2)) {
                levels.add(new Level(v2, null));
            } else if (Files.exists(v1)) {
                levels.add(new Level(v1, group.resolve("cpu.cfs_period_us")));
            }
        }
    }

    private static Path real(Path level) {
        try {
            return level.toRealPath();
        } catch (IOException e) {
            return level; // it is not there, and nor are its files
        }
    }

    /** The smallest quota in CPUs; empty when none is set. */
    OptionalDouble quota() {
        double least = Double.MAX_VALUE;
        for (Level level : levels) {
            least = Math.min(least, quota(level));
        }
        return least == Double.MAX_VALUE ? OptionalDouble.empty() : OptionalDouble.of(least);
    }

    private static double quota(Level level) {
        try {
            String quota = Files.readString(level.quota).trim();
            if (level.period == null) {
                String[] part = quota.split(" ");
                return part[0].equals("max") ? Double.MAX_VALUE : ratio(part[0], part[1]);
            }
            return quota.startsWith("-") ? Double.MAX_VALUE : ratio(quota, Files.readString(level.period).trim());
        } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
            return Double.MAX_VALUE; // the group is gone or not ours to read: it bounds nothing that we know
        }
    }

    private static double ratio(String quota, String period) {
        double cpus = Double.parseDouble(quota) / Double.parseDouble(period);
        return cpus > 0 ? cpus : Double.MAX_VALUE;
    }
}
