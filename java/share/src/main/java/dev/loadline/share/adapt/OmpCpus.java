package dev.loadline.share.adapt;

import dev.loadline.omp.CpuSource;
import dev.loadline.share.Share;

/** Teams of loadline-omp follow the CPUs at hand; found by its ServiceLoader. */
public final class OmpCpus implements CpuSource {
    private final Share share = Share.shared();

    /** For the ServiceLoader. */
    public OmpCpus() {}

    @Override
    public int cpus() {
        return Math.max(1, (int) Math.round(share.cpusAssigned()));
    }

    @Override
    public boolean isGiven() {
        return share.cpusGiven().isPresent();
    }
}
