package dev.loadline.weather.service;

import dev.loadline.threading.Broker;
import dev.loadline.threading.corba.Orbs;
import dev.loadline.threading.jacorb.Jacorb;
import org.omg.PortableServer.Servant;
import org.omg.PortableServer.ThreadPolicyValue;

/** The location server and the weather server: each a broker with a pool of threads of its own. */
public final class Middleware implements AutoCloseable {
    private final Broker.Running location;
    private final Broker.Running weather;

    /**
     * Starts both, on free ports of the loopback interface.
     *
     * @param threads of each that run the servant
     */
    public Middleware(int threads, long locateNs, long forecastNs) throws Exception {
        location = serve(new LocationServant(new Phones(locateNs)), threads);
        try {
            weather = serve(new WeatherServant(new Almanac(forecastNs)), threads);
        } catch (Exception e) {
            location.close();
            throw e;
        }
    }

    private static Broker.Running serve(Servant servant, int threads) throws Exception {
        return Orbs.serve(Jacorb.server(0, threads, threads), servant, ThreadPolicyValue.ORB_CTRL_MODEL);
    }

    /** Address of the location server. */
    public String location() {
        return location.ior();
    }

    /** Address of the weather server. */
    public String weather() {
        return weather.ior();
    }

    @Override
    public void close() throws Exception {
        try (location) {
            weather.close();
        }
    }
}
