package dev.loadline.weather.web;

import dev.loadline.threading.jacorb.Jacorb;
import dev.loadline.weather.service.RemoteLocation;
import dev.loadline.weather.service.RemoteWeather;
import java.io.IOException;
import java.net.BindException;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardService;
import org.apache.catalina.startup.Tomcat;
import org.omg.CORBA.ORB;

/** A Tomcat on plain HTTP, whose servlets call the servers at two addresses over connections that they keep. */
public final class Site implements AutoCloseable {
    private static final long GRACE_MS = 500;
    private static final int SPARE_THREADS = 5;
    /** More than visitors who have their page and not yet its picture. */
    private static final int PICTURES = 2_000;

    private final Tomcat tomcat = new Tomcat();
    private final Connector connector = new Connector();
    private final ORB orb = Jacorb.client();
    private final Pictures pictures = new Pictures(PICTURES);

    /**
     * Starts it; when this returns, the port answers.
     *
     * @param port 0 for a free one
     * @param threads most requests at once
     * @param location address of the location server
     * @param weather address of the weather server
     */
    public Site(int port, int threads, long authenticateNs, String location, String weather) throws IOException, LifecycleException {
        tomcat.setBaseDir(pictures.folder().toString());
        connector.setPort(port);
        // Or a port that is taken would be a line in the log, and no more.
        connector.setThrowOnFailure(true);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", Integer.toString(threads));
        connector.setProperty("minSpareThreads", Integer.toString(Math.min(threads, SPARE_THREADS)));
        tomcat.getService().addConnector(connector);
        ((StandardService) tomcat.getService()).setGracefulStopAwaitMillis(GRACE_MS);
        Context context = tomcat.addContext("", pictures.folder().toString());
        Tomcat.addServlet(context, "Forecast", new ForecastServlet(new RemoteLocation(orb.string_to_object(location)),
            new RemoteWeather(orb.string_to_object(weather)), pictures, authenticateNs));
        context.addServletMappingDecoded("/forecast", "Forecast");
        Tomcat.addServlet(context, "Radar", new RadarServlet(pictures));
        context.addServletMappingDecoded(RadarServlet.PATH + "*", "Radar");
        try {
            tomcat.start();
        } catch (LifecycleException e) {
            close();
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof BindException) {
                    throw new IOException("cannot listen: " + cause.getMessage() + ": choose another --port", e);
                }
            }
            throw e;
        }
    }

    /** The port of HTTP. */
    public int port() {
        return connector.getLocalPort();
    }

    @Override
    public void close() throws LifecycleException, IOException {
        try (pictures) {
            tomcat.stop();
            tomcat.destroy();
        } finally {
            orb.shutdown(false);
            // Tomcat keeps the first site's folder as its home, and would make it anew for the next site of this JVM.
            System.clearProperty("catalina.home");
        }
    }
}
