package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReachTest {
    @ParameterizedTest
    @CsvSource({"jboss-modules.jar, '', dev.loadline.agent", "jboss-modules.jar, org.other, 'org.other,dev.loadline.agent'", "shop.jar, '', ''"})
    void modules_of_jboss_are_made_to_see_them(String command, String before, String after) {
        String was = System.getProperty("sun.java.command");
        try {
            System.setProperty("sun.java.command", "/opt/wildfly/" + command + " -mp modules");
            System.setProperty("jboss.modules.system.pkgs", before);
            Reach.prepare();
            assertEquals(after, System.getProperty("jboss.modules.system.pkgs"));
        } finally {
            System.setProperty("sun.java.command", was);
            System.clearProperty("jboss.modules.system.pkgs");
        }
    }
}
