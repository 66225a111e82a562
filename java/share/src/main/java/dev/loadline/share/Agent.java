package dev.loadline.share;

import dev.loadline.share.adapt.CommonPool;
import dev.loadline.share.adapt.VirtualThreads;

/**
 * {@code -javaagent:loadline-share.jar}: an application that knows nothing of the CPU manager registers, and what the JVM
 * can change follows. Nothing is instrumented. Further settings are system properties, see {@link Settings}.
 */
public final class Agent {
    private Agent() {}

    /** Called by the JVM before the application's main method. */
    public static void premain(String arguments) {
        Share share = Share.shared();
        VirtualThreads.find().ifPresent(share::onChange);
        CommonPool.find().ifPresent(share::onChange);
    }
}
