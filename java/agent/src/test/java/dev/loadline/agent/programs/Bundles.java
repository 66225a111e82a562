package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import java.sql.Driver;
import java.util.Map;
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
            driver = (Driver) database().loadClass(H2.DRIVER).getConstructor().newInstance();
        }
        return H2.ask(driver);
    }

    private static Bundle database() throws Exception {
        Framework framework = ServiceLoader.load(FrameworkFactory.class).findFirst().orElseThrow().newFramework(Map.of(
                "org.osgi.framework.storage", System.getProperty("bundles.storage"),
                "org.osgi.framework.bundle.parent", "ext",
                "osgi.compatibility.bootdelegation", "false"));
        framework.start();
        Bundle bundle = framework.getBundleContext().installBundle(H2.jar().toURI().toString());
        bundle.start();
        return bundle;
    }
}
