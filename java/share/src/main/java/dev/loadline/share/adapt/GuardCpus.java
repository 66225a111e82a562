package dev.loadline.share.adapt;

import dev.loadline.guard.cpu.CpuSource;
import dev.loadline.share.Share;
import java.util.OptionalDouble;

/** The guard admits what these CPUs can serve; found by its ServiceLoader. */
public final class GuardCpus implements CpuSource {
    private final Share share = Share.shared();

    /** For the ServiceLoader. */
    public GuardCpus() {}

    @Override
    public OptionalDouble cpus() {
        return share.cpusGiven();
    }

    @Override
    public String name() {
        return "loadline share";
    }
}
