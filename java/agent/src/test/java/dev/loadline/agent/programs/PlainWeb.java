package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Any Tomcat, with one file to serve: no type of servlets is named here, which are javax' up to Tomcat 9. */
public final class PlainWeb extends Program {
    public static void main(String[] arguments) throws Exception {
        new PlainWeb().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        if (!command.equals("start")) {
            throw new IllegalArgumentException(command);
        }
        Path files = Files.createTempDirectory("plain-web");
        Files.writeString(files.resolve("hello"), "hello");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(files.toString());
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", files.toString());
        Tomcat.addServlet(context, "files", "org.apache.catalina.servlets.DefaultServlet");
        context.addServletMappingDecoded("/", "files");
        tomcat.start();
        return Integer.toString(connector.getLocalPort());
    }
}
