package dev.loadline.auction.fault;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A CPU quota of three tenths of a CPU: in each period of 100 ms the site stands still once it has run for 30 ms. Needs root. */
final class Throttled extends Fault {
    private static final int QUOTA_US = 30_000;
    private static final int PERIOD_US = 100_000;
    private static final Path V1 = Path.of("/sys/fs/cgroup/cpu");
    private static final Path V2 = Path.of("/sys/fs/cgroup");

    private Path parent;
    private Path own;

    Throttled(String name) {
        super(name);
    }

    @Override
    public void siteReady() throws IOException {
        long pid = ProcessHandle.current().pid();
        boolean v1 = Files.isDirectory(V1);
        parent = v1 ? V1 : V2;
        own = parent.resolve("auction-" + pid);
        try {
            Files.createDirectory(own);
            // Who removes it if the site is killed must stand outside of it.
            new ProcessBuilder("sh", "-c", "while kill -0 " + pid + " 2>/dev/null; do sleep 1; done; rmdir " + own + " 2>/dev/null").start();
            if (v1) {
                Files.writeString(own.resolve("cpu.cfs_period_us"), Integer.toString(PERIOD_US));
                Files.writeString(own.resolve("cpu.cfs_quota_us"), Integer.toString(QUOTA_US));
            } else {
                Files.writeString(own.resolve("cpu.max"), QUOTA_US + " " + PERIOD_US);
            }
            Files.writeString(own.resolve("cgroup.procs"), Long.toString(pid));
        } catch (IOException e) {
            throw new IOException("--fault throttled makes a cgroup with a CPU quota below " + parent + ", which needs root: " + e, e);
        }
    }

    @Override
    public void close() {
        if (own == null) {
            return;
        }
        try {
            Files.writeString(parent.resolve("cgroup.procs"), Long.toString(ProcessHandle.current().pid()));
            Files.deleteIfExists(own);
        } catch (IOException e) {
            System.err.println("auction: leaving the cgroup: " + e.getMessage());
        }
    }
}
