package dev.loadline.share;

import java.util.OptionalDouble;

/** What the CPU manager gives this process, over {@link Share#shared()}; found by the ServiceLoader. */
public final class SharedCpus implements CpuSource {
    private final Share share = Share.shared();

    /** For the ServiceLoader. */
    public SharedCpus() {}

    @Override
    public OptionalDouble cpus() {
        return share.cpusGiven();
    }

    @Override
    public String name() {
        return "loadline share";
    }

    /** Asks the daemon, unless {@code loadline.share.request} says what is to be asked for. */
    @Override
    public void cpusRequested(double cpus) {
        if (!share.isRequestSettled()) {
            share.cpusRequested(cpus);
        }
    }
}
