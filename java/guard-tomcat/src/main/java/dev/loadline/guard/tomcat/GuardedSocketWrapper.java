package dev.loadline.guard.tomcat;

import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;

/**
 * A connection that the poller comes to know only when somebody waits for its next bytes: one whose hello was there
 * when it was accepted goes to a worker, or is closed, before that.
 */
final class GuardedSocketWrapper extends NioSocketWrapper {
    private volatile boolean registered;

    GuardedSocketWrapper(NioChannel channel, NioEndpoint endpoint) {
        super(channel, endpoint);
    }

    /** Makes the poller wait for bytes; once. */
    void register() {
        registered = true;
        getPoller().register(this);
    }

    @Override
    public void registerReadInterest() {
        if (registered) {
            super.registerReadInterest();
        } else {
            register();
        }
    }

    @Override
    public void registerWriteInterest() {
        if (!registered) {
            register();
        }
        super.registerWriteInterest();
    }
}
