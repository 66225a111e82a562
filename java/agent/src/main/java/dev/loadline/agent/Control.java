package dev.loadline.agent;

import dev.loadline.agent.boot.Native;

/** Waits for the recorder to say stop, or to be gone. */
final class Control {
    private static final int POLL_MS = 500;
    /** How long a recorder may take to open its end of the FIFO. */
    private static final int PATIENCE_MS = 10_000;

    private Control() {}

    /** Returns when the recording is to stop; calls back twice a second until then. */
    static void await(int fd, Runnable tick) {
        int nobodyMs = 0;
        boolean seen = false;
        for (;;) {
            int said = Native.awaitControl(fd, POLL_MS);
            if (said == Native.STOP || said == Native.CLOSED) {
                return;
            }
            if (said == Native.NOBODY) {
                nobodyMs += POLL_MS;
                if (seen || nobodyMs >= PATIENCE_MS) {
                    return;
                }
            } else {
                seen = true;
            }
            tick.run();
        }
    }
}
