package dev.loadline.guard.tomcat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.catalina.util.ServerInfo;
import org.junit.jupiter.api.Test;

/** Which Tomcats are said to be tested, and are. */
class VersionsTest {
    /** Set by each run of the tests: the constant that has the version of its Tomcat. */
    private static final String RUN = System.getProperty("tomcat.run", "");

    @Test
    void the_tomcat_of_this_run_is_the_one_that_the_guard_says_it_is_tested_with() throws Exception {
        assumeTrue(!RUN.isEmpty(), "not run by Maven");
        String said = (String) TomcatVersions.class.getDeclaredField(RUN).get(null);
        assertEquals(said + ".0", ServerInfo.getServerNumber());
        assertNull(TomcatVersions.complaint(ServerInfo.getServerNumber()));
    }

    @Test
    void an_older_one_is_named_with_what_to_do() {
        assertNull(TomcatVersions.complaint(TomcatVersions.OLDEST_10 + ".0"));
        assertNull(TomcatVersions.complaint("10.1.99.0"));
        assertNull(TomcatVersions.complaint("11.0.99.0"));
        assertTrue(TomcatVersions.complaint("10.1.5.0").startsWith("this is Tomcat 10.1.5.0, which is older than " + TomcatVersions.OLDEST_10));
        assertTrue(TomcatVersions.complaint("11.0.0.0-M1").contains("older than " + TomcatVersions.OLDEST_11));
        assertTrue(TomcatVersions.complaint("9.0.98.0").endsWith("try it with mode=observe first"));
        assertTrue(TomcatVersions.complaint("11.1.0.0").endsWith("try it with mode=observe first"));
        assertTrue(TomcatVersions.complaint("nightly").contains("of which no version can be read"));
    }

    @Test
    void the_page_names_the_same() throws Exception {
        String page = Files.readString(Path.of("../../docs/guard.md"));
        for (String range : new String[] {TomcatVersions.OLDEST_10 + " to " + TomcatVersions.NEWEST_10, TomcatVersions.OLDEST_11 + " to " + TomcatVersions.NEWEST_11}) {
            assertTrue(page.contains(range), "docs/guard.md should name " + range);
        }
    }
}
