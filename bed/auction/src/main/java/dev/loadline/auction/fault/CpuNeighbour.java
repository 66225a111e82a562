package dev.loadline.auction.fault;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Processes that compute on the site's CPUs, one for each; they end with the site, however it ends. */
final class CpuNeighbour extends Fault {
    // Looks now and then whether the site is still its parent.
    private static final String COMPUTE =
        "parent=$PPID; while kill -0 $parent 2>/dev/null; do i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; done";

    private final List<Process> neighbours = new ArrayList<>();

    CpuNeighbour(String name) {
        super(name);
    }

    @Override
    public void siteReady() throws IOException {
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            neighbours.add(new ProcessBuilder("sh", "-c", COMPUTE).start());
        }
    }

    @Override
    public void close() {
        neighbours.forEach(Process::destroyForcibly);
    }
}
