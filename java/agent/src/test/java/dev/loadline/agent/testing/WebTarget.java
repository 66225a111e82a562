package dev.loadline.agent.testing;

import dev.loadline.agent.programs.PlainWeb;
import dev.loadline.agent.programs.Web;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A {@link Target} that runs {@link Web} on one of the Tomcats, or a like program on another server. */
public final class WebTarget {
    private static final Path TOMCAT_10 = Path.of("target/tomcat10/tomcat-embed-core.jar");
    private static final Path OPENSSL = Path.of("target/tomcat-openssl/tomcat-coyote-ffm.jar");
    private static final Path TOMCAT_9 = Path.of("target/tomcat9/*");
    private static final Path KEYSTORE = Path.of("target/test.p12").toAbsolutePath();

    private WebTarget() {}

    /** Starts the JVM; the server starts when it is told to. */
    public static Target start(int version, String protocol, String tls, String... options) throws Exception {
        keystore();
        List<String> arguments = new ArrayList<>(Arrays.asList(options));
        arguments.addAll(List.of("-Dweb.protocol=" + protocol, "-Dweb.tls=" + tls, "-Dweb.keystore=" + KEYSTORE));
        String classPath = version == 10
                ? Target.classPathWith(TOMCAT_10, "tomcat-embed-core") + File.pathSeparator + OPENSSL.toAbsolutePath()
                : Target.classPath();
        return Target.startWith(classPath, Web.class, arguments.toArray(String[]::new));
    }

    /** The same of another server's program. */
    public static Target start(Class<? extends Program> program, String tls, String... options) throws Exception {
        keystore();
        List<String> arguments = new ArrayList<>(Arrays.asList(options));
        arguments.addAll(List.of("-Dweb.tls=" + tls, "-Dweb.keystore=" + KEYSTORE));
        return Target.start(program, arguments.toArray(String[]::new));
    }

    /** The last Tomcat of Java EE, whose servlets are javax', with a {@link PlainWeb}. */
    public static Target beforeJakarta(String... options) throws Exception {
        return Target.startWith(Target.classPathWith(TOMCAT_9, "tomcat-embed-core"), PlainWeb.class, options);
    }

    private static synchronized void keystore() throws Exception {
        if (Files.exists(KEYSTORE)) {
            return;
        }
        // Another fork of the tests may make it just now: whole, or not there.
        Path own = KEYSTORE.resolveSibling("test-" + ProcessHandle.current().pid() + ".p12");
        Process keytool = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair",
                "-keyalg", "RSA", "-keysize", "2048", "-dname", "CN=localhost", "-alias", "test",
                "-storetype", "PKCS12", "-storepass", "changeit", "-keystore", own.toString())
                .inheritIO().start();
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool failed");
        }
        Files.move(own, KEYSTORE, StandardCopyOption.ATOMIC_MOVE);
    }
}
