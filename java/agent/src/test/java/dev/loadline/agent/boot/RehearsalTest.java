package dev.loadline.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RehearsalTest {
    private static final String INFO = "java.vm.info = ";

    @ParameterizedTest
    @CsvSource({"-XX:+TieredCompilation, true", "-XX:-TieredCompilation, true", "-XX:TieredStopAtLevel=1, false", "-Xint, false"})
    void it_is_for_jvms_that_compile_by_profiles(String option, boolean wanted) throws IOException, InterruptedException {
        String info = infoWith(option);
        boolean saysNothing = Runtime.version().feature() >= 27 && option.contains("TieredStopAtLevel");
        assertEquals(wanted || saysNothing, Rehearsal.isProfiled(info), info);
    }

    /** What such a JVM of this JDK says of itself. */
    private static String infoWith(String option) throws IOException, InterruptedException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process jvm = new ProcessBuilder(java, option, "-XshowSettings:properties", "-version").redirectErrorStream(true).start();
        String said = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, jvm.waitFor(), said);
        return said.lines()
                .map(String::strip)
                .filter(line -> line.startsWith(INFO))
                .map(line -> line.substring(INFO.length()))
                .findFirst()
                .orElseThrow(() -> new AssertionError(said));
    }
}
