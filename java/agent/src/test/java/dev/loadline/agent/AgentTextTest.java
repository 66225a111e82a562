package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentTextTest {
    @ParameterizedTest
    @CsvSource({
        "/opt/shop.jar --port 80, shop", "com.shop.Main a b, Main", "Main, Main", "'', ''", "jdk.compiler/com.sun.Main, Main",
    })
    void a_program_has_a_short_name(String command, String name) {
        assertEquals(name, JvmInfo.shortName(command));
    }

    @Test
    void json_texts_are_quoted() {
        assertEquals("\"a\\\"b\\\\c\\u000a\"", JvmInfo.quote("a\"b\\c\n"));
    }

    @Test
    void a_text_field_is_cut_between_characters_and_ends_with_zero() {
        byte[] field = SpoolHeader.text("x" + "\u20ac".repeat(1_000));
        assertEquals(1024, field.length);
        String text = new String(field, StandardCharsets.UTF_8).split("\0", 2)[0];
        assertEquals("x" + "\u20ac".repeat(340), text);
    }

    /** What nobody looks for any more is not made anew. */
    @Test
    void a_spool_that_is_gone_is_told_and_stays_gone(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("agent.events");
        byte[] header = new byte[4096];
        System.arraycopy("LLAGENT1".getBytes(StandardCharsets.US_ASCII), 0, header, 0, 8);
        header[8] = 1;
        header[14] = 1; // chunks of 64 KiB
        Files.write(file, header);
        SpoolHeader spool = SpoolHeader.open(file.toFile());
        spool.state(SpoolHeader.RECORDING);
        Files.delete(file);
        assertThrows(IOException.class, () -> spool.state(SpoolHeader.STOPPED));
        assertFalse(Files.exists(file));
    }

    @Test
    void every_class_that_probes_need_goes_to_the_boot_loader() {
        File[] files = new File("target/classes/dev/loadline/agent/boot").listFiles();
        TreeSet<String> built = new TreeSet<>();
        for (File file : files) {
            built.add(file.getName().replace(".class", ""));
        }
        built.remove("package-info");
        assertEquals(built, new TreeSet<>(BootClasses.NAMES));
        assertEquals("Native", BootClasses.NAMES.get(0));
    }
}
