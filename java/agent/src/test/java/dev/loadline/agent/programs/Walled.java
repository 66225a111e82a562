package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Properties;

/** A database whose classes see nothing but their own and the JDK's, as a module's do in JBoss and in OSGi. */
public final class Walled extends Program {
    private Driver driver;

    public static void main(String[] arguments) throws Exception {
        new Walled().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        if (driver == null) {
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                if (new File(entry).getName().startsWith("h2-")) {
                    ClassLoader module = new Module(new File(entry).toURI().toURL());
                    driver = (Driver) module.loadClass("org.h2.Driver").getConstructor().newInstance();
                }
            }
        }
        try (Connection connection = driver.connect("jdbc:h2:mem:walled", new Properties());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT 41 + 1")) {
            rows.next();
            return Integer.toString(rows.getInt(1));
        }
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
