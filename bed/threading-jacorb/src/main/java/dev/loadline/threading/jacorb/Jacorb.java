package dev.loadline.threading.jacorb;

import java.util.Properties;
import org.omg.CORBA.ORB;

/** JacORB, set up by code: no file of properties is asked for. */
public final class Jacorb {
    /** Requests that may wait for a thread. */
    private static final int QUEUE = 10_000;

    private Jacorb() {
    }

    /**
     * Serves on the loopback interface.
     *
     * @param port 0 for a free one
     * @param least threads of an object adapter that are kept
     * @param most threads of an object adapter at once
     */
    public static ORB server(int port, int least, int most) {
        var properties = properties();
        properties.setProperty("OAIAddr", "127.0.0.1");
        properties.setProperty("OAPort", Integer.toString(port));
        properties.setProperty("jacorb.poa.queue_max", Integer.toString(QUEUE));
        properties.setProperty("jacorb.poa.thread_pool_min", Integer.toString(least));
        properties.setProperty("jacorb.poa.thread_pool_max", Integer.toString(most));
        return ORB.init(new String[0], properties);
    }

    /** Calls others only. Who cannot be reached is told at once, not after five tries of half a second each. */
    public static ORB client() {
        var properties = properties();
        properties.setProperty("jacorb.retries", "0");
        return ORB.init(new String[0], properties);
    }

    private static Properties properties() {
        var properties = new Properties();
        properties.setProperty("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.setProperty("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        properties.setProperty("jacorb.orb.print_version", "off");
        return properties;
    }
}
