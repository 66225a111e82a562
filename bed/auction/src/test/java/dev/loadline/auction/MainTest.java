package dev.loadline.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
    @TempDir
    private Path dir;

    private Process site(String... more) throws Exception {
        var command = new java.util.ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), "dev.loadline.auction.Main",
            "--port", "0", "--items", "50", "--users", "10", "--work", dir.resolve("work").toString()));
        command.addAll(List.of(more));
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(dir.resolve("out").toFile()).start();
    }

    private void assertNothingIsLeft() throws Exception {
        try (var left = Files.list(dir.resolve("work"))) {
            assertEquals(0, left.count());
        }
    }

    @Test
    void sigtermEndsItCleanly() throws Exception {
        Path portFile = dir.resolve("port");
        Process process = site("--port-file", portFile.toString(), "--max-seconds", "60");
        try {
            for (int i = 0; i < 300 && !Files.exists(portFile) && process.isAlive(); i++) {
                Thread.sleep(100);
            }
            int port = Integer.parseInt(Files.readString(portFile).strip());
            assertEquals(200, new Browser(port).get("/").statusCode());
            process.destroy();
            assertTrue(process.waitFor(10, TimeUnit.SECONDS), "still running 10 s after SIGTERM");
        } finally {
            process.destroyForcibly();
        }
        String said = Files.readString(dir.resolve("out"));
        assertEquals(1, said.lines().count(), said);
        assertTrue(said.startsWith("auction: ready on https://127.0.0.1:"), said);
        assertFalse(Files.exists(portFile));
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 700, 2500})
    void sigtermWhileItStartsLeavesNothing(int delay) throws Exception {
        // So many items that it is still filling its tables when the signal comes.
        Process process = site("--items", "500000", "--max-seconds", "60");
        try {
            Path work = dir.resolve("work");
            for (int i = 0; i < 300 && !(Files.exists(work) && work.toFile().list().length > 0); i++) {
                Thread.sleep(100);
            }
            // While keytool runs, or the tables fill: each moment must do.
            Thread.sleep(delay);
            process.destroy();
            assertTrue(process.waitFor(10, TimeUnit.SECONDS), "still running 10 s after SIGTERM");
        } finally {
            process.destroyForcibly();
        }
        assertEquals("", Files.readString(dir.resolve("out")));
        assertNothingIsLeft();
    }

    @Test
    void itEndsByItselfWhenItsTimeIsOver() throws Exception {
        Process process = site("--max-seconds", "1");
        try {
            assertTrue(process.waitFor(30, TimeUnit.SECONDS));
            assertEquals(0, process.exitValue());
        } finally {
            process.destroyForcibly();
        }
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --port 65536   | --port is 65536; it must be a whole number from 0 to 65535
        --items 0      | --items is 0; it must be a whole number from 1 to 1000000
        --pool ten     | --pool is ten; it must be a whole number from 1 to 1000
        --key dsa      | --key is dsa; it must be rsa or ec
        --seed         | --seed needs a value (--help says which)
        --frobnicate 1 | unknown option --frobnicate (--help lists them)
        """)
    void aWrongOptionIsNamedWithWhatItTakes(String line, String message) {
        var error = assertThrows(UsageException.class, () -> Config.parse(List.of(line.split(" "))));
        assertEquals(message, error.getMessage());
    }

    @Test
    void optionsAreRead() throws Exception {
        var config = Config.parse(List.of("--port", "0", "--items=7", "--key", "ec", "--seed", "-3"));
        assertEquals(Config.defaults().port(0).size(7, 1000).key(Config.Key.EC).seed(-3), config);
    }

    @Test
    void theHelpNamesEveryOptionAndItsDefault() {
        for (String part : List.of("--port N", "[8443]", "--items N", "[3000]", "--users N", "[1000]", "--threads N", "[50]",
            "--pool N", "[10]", "--seed N", "--key rsa|ec", "--work DIR", "--port-file F", "--max-seconds N")) {
            assertTrue(Config.HELP.contains(part), part);
        }
    }
}
