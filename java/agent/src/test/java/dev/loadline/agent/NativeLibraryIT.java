package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

/** What the native half asks of the C library in the image of a JVM, which may be another than where it was built. */
class NativeLibraryIT {
    private static final Path LIBRARY = Path.of("target/libloadline-agent.so").toAbsolutePath();
    /** 2.17, of 2012: what the usual builds of JDK 17 ask for themselves. */
    private static final int NEWEST_GLIBC = 17;

    @Test
    void it_asks_for_no_newer_glibc_than_a_jdk_does() throws Exception {
        var version = Pattern.compile("GLIBC_2\\.(\\d+)").matcher(Files.readString(LIBRARY, StandardCharsets.ISO_8859_1));
        List<String> all = new ArrayList<>();
        List<String> newer = new ArrayList<>();
        while (version.find()) {
            all.add(version.group());
            if (Integer.parseInt(version.group(1)) > NEWEST_GLIBC) {
                newer.add(version.group());
            }
        }
        assertFalse(all.isEmpty(), "it asks for none at all");
        assertEquals(List.of(), newer);
    }

    @Test
    void musl_finds_all_that_it_calls() throws Exception {
        try (DirectoryStream<Path> loaders = Files.newDirectoryStream(Path.of("/lib"), "ld-musl-*.so.1")) {
            var loader = loaders.iterator();
            assumeTrue(loader.hasNext(), "no musl here: scripts/setup installs it");
            var list = new ProcessBuilder(loader.next().toString(), "--list", LIBRARY.toString())
                    .redirectErrorStream(true).start();
            String said = new String(list.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, list.waitFor(), said);
            assertTrue(said.contains("libc.so.6 => " + loader(said)), said);
        }
    }

    /** The path that musl gives first, which is its own: it is its own C library, too. */
    private static String loader(String said) {
        return said.strip().split(" ")[0];
    }
}
