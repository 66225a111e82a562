package dev.loadline.guard.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.guard.tomcat.GuardValve;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.management.ObjectName;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.core.StandardEngine;
import org.apache.catalina.startup.Constants;
import org.apache.catalina.startup.ContextConfig;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.util.ServerInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tomcat 11, and 10.1 in a second run. */
class TomcatTest {
    @Test
    void under_overload_a_filter_keeps_the_sessions_that_are_there() throws Exception {
        try (var server = new TomcatServer(false)) {
            new Scenario(server).run(true);
        }
    }

    /** With so few workers that requests wait for one, and not for a CPU. */
    @Test
    void a_valve_does_without_a_change_of_the_application() throws Exception {
        try (var server = new TomcatServer(true, "maxThreads=6")) {
            new Scenario(server).run(false);
        }
    }

    /** Its own use of the CPUs says little then. */
    @Test
    void a_neighbour_that_takes_the_cpus_hides_no_overload() throws Exception {
        assumeTrue(ServerInfo.getServerNumber().startsWith("11."), "once is enough");
        try (var server = new TomcatServer(false)) {
            new Scenario(server).refusesBesideNeighbours();
        }
    }

    @Test
    void on_virtual_threads_overload_is_seen_as_well() throws Exception {
        assumeTrue(Runtime.version().feature() >= 24, "which virtual threads wait for a carrier is told from JDK 24 on");
        assumeTrue(ServerInfo.getServerNumber().startsWith("11."), "once is enough");
        try (var server = new TomcatServer(false, "useVirtualThreads=true")) {
            new Scenario(server).run(false);
        }
    }

    @Test
    void who_is_answered_later_is_seen_to_the_end() throws Exception {
        for (boolean valve : new boolean[] {false, true}) {
            try (var server = new TomcatServer(valve)) {
                Scenario.completesLater(server);
            }
        }
    }

    /** docs/guard.md has it to be copied. */
    @Test
    void the_web_xml_of_the_page_guards_an_application(@TempDir Path folder) throws Exception {
        String page = Files.readString(Path.of("../../docs/guard.md"));
        int begin = page.indexOf("```xml\n<filter>") + "```xml\n".length();
        String filter = page.substring(begin, page.indexOf("```", begin));
        Files.createDirectories(folder.resolve("shop/WEB-INF"));
        Files.writeString(folder.resolve("shop/WEB-INF/web.xml"), "<web-app xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"6.0\">" + filter
            + "<servlet><servlet-name>shop</servlet-name><servlet-class>" + Shop.class.getName() + "</servlet-class>"
            + "<async-supported>true</async-supported></servlet>"
            + "<servlet-mapping><servlet-name>shop</servlet-name><url-pattern>/</url-pattern></servlet-mapping></web-app>");
        var tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        var config = new ContextConfig();
        config.setDefaultWebXml(Constants.NoDefaultWebXml);
        tomcat.addWebapp(tomcat.getHost(), "", folder.resolve("shop").toString(), config);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        try {
            tomcat.start();
            assertEquals(200, new Visitor(tomcat.getConnector().getLocalPort()).get("/later").status());
            var server = ManagementFactory.getPlatformMBeanServer();
            var name = new ObjectName("dev.loadline:type=Guard,name=\"guard\"");
            assertEquals(1L, server.getAttribute(name, "Requests"));
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
    }

    @Test
    void a_path_of_no_application_is_left_to_tomcat() throws Exception {
        try (var server = new TomcatServer(true)) {
            assertEquals(400, new Visitor(server.port()).get("/%zz").status());
            assertEquals(200, new Visitor(server.port()).get("/").status());
        }
    }

    @Test
    void a_valve_with_a_wrong_option_does_not_start() {
        var valve = new GuardValve();
        valve.setGuard("objective=soon");
        valve.setContainer(new StandardEngine());
        Throwable wrong = assertThrows(LifecycleException.class, valve::start);
        while (wrong.getCause() != null && !wrong.getMessage().contains("soon")) {
            wrong = wrong.getCause();
        }
        assertTrue(wrong.getMessage().contains("objective: 'soon'"), wrong.getMessage());
    }
}
