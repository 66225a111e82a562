package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import java.io.File;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Map;
import java.util.Properties;
import java.util.ServiceLoader;
import org.osgi.framework.Bundle;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;

/** A database that is a bundle of OSGi, in Equinox. System property: bundles.storage, a folder. */
public final class Bundles extends Program {
    private Driver driver;

    public static void main(String[] arguments) throws Exception {
        new Bundles().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        if (driver == null) {
            driver = (Driver) database().loadClass("org.h2.Driver").getConstructor().newInstance();
        }
        try (Connection connection = driver.connect("jdbc:h2:mem:bundle", new Properties());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT 41 + 1")) {
            rows.next();
            return Integer.toString(rows.getInt(1));
        }
    }

    private static Bundle database() throws Exception {
        Framework framework = ServiceLoader.load(FrameworkFactory.class).findFirst().orElseThrow().newFramework(Map.of(
                "org.osgi.framework.storage", System.getProperty("bundles.storage"),
                "org.osgi.framework.bundle.parent", "ext",
                "osgi.compatibility.bootdelegation", "false"));
        framework.start();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (new File(entry).getName().startsWith("h2-")) {
                Bundle bundle = framework.getBundleContext().installBundle(new File(entry).toURI().toString());
                bundle.start();
                return bundle;
            }
        }
        throw new IllegalStateException("no database on the class path");
    }
}
