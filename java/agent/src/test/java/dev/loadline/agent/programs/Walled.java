package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Driver;

/** A database whose classes see nothing but their own and the JDK's, as a module's do in JBoss and in OSGi. */
public final class Walled extends Program {
    private Driver driver;

    public static void main(String[] arguments) throws Exception {
        new Walled().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        if (driver == null) {
            driver = (Driver) new Module(H2.jar().toURI().toURL()).loadClass(H2.DRIVER).getConstructor().newInstance();
        }
        return H2.ask(driver);
    }

    private static final class Module extends URLClassLoader {
        Module(URL jar) {
            super(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("dev.loadline.")) {
                throw new ClassNotFoundException(name + " is not in this module");
            }
            return super.loadClass(name, resolve);
        }
    }
}
