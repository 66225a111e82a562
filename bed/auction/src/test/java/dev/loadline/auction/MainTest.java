package dev.loadline.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.auction.data.Dialect;
import dev.loadline.auction.data.Rowsum;
import dev.loadline.auction.files.Trees;
import dev.loadline.bed.KeyStoreFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
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
            "--port", "0", "--items", "50", "--old-items", "20", "--users", "10", "--work", dir.resolve("work").toString()));
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
            for (int i = 0; i < 600 && !Files.exists(portFile) && process.isAlive(); i++) {
                Thread.sleep(100);
            }
            int port = Integer.parseInt(Files.readString(portFile).strip());
            assertEquals(200, new Browser(port).get("/").statusCode());
            process.destroy();
            assertTrue(process.waitFor(20, TimeUnit.SECONDS), "still running 20 s after SIGTERM");
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
            for (int i = 0; i < 600 && !(Files.exists(work) && work.toFile().list().length > 0); i++) {
                Thread.sleep(100);
            }
            // While keytool runs, or the tables fill: each moment must do.
            Thread.sleep(delay);
            process.destroy();
            assertTrue(process.waitFor(20, TimeUnit.SECONDS), "still running 20 s after SIGTERM");
        } finally {
            process.destroyForcibly();
        }
        assertEquals("", Files.readString(dir.resolve("out")));
        assertNothingIsLeft();
    }

    @Test
    @Tag("once")
    void whatAKilledSiteLeftIsDeletedByTheNextAndWhatALivingOneHasIsNot() throws Exception {
        Path work = dir.resolve("work");
        Process killed = site("--port-file", dir.resolve("killed").toString(), "--max-seconds", "60");
        Process living = null;
        Process next = null;
        try {
            portOf(killed, dir.resolve("killed"));
            killed.destroyForcibly().waitFor();
            assertEquals(1, work.toFile().list().length);
            Path foreign = Files.createDirectory(work.resolve("auction-notes"));
            Files.createFile(foreign.resolve("lock"));
            living = site("--port-file", dir.resolve("living").toString(), "--max-seconds", "60");
            int port = portOf(living, dir.resolve("living"));
            assertTrue(Files.exists(foreign.resolve("lock")), "somebody else's folder is left alone");
            Trees.delete(foreign);
            assertEquals(1, work.toFile().list().length);
            assertTrue(work.toFile().list()[0].startsWith("auction-" + living.pid() + "-"));
            next = site("--port-file", dir.resolve("next").toString(), "--max-seconds", "60");
            portOf(next, dir.resolve("next"));
            assertEquals(2, work.toFile().list().length);
            assertEquals(200, new Browser(port).get("/").statusCode());
        } finally {
            for (Process process : new Process[] {killed, living, next}) {
                if (process != null) {
                    process.destroy();
                    process.waitFor(20, TimeUnit.SECONDS);
                    process.destroyForcibly();
                }
            }
        }
        assertNothingIsLeft();
    }

    private int portOf(Process process, Path portFile) throws Exception {
        for (int i = 0; i < 900 && !Files.exists(portFile) && process.isAlive(); i++) {
            Thread.sleep(100);
        }
        return Integer.parseInt(Files.readString(portFile).strip());
    }

    /** With its private database server, whether it is told to end or killed. */
    @ParameterizedTest
    @Tag("once")
    @CsvSource({"POSTGRESQL, false", "MARIADB, true"})
    void noServerOutlivesTheSite(Dialect dialect, boolean killed) throws Exception {
        Sites.assumeInstalled(dialect);
        Path portFile = dir.resolve("port");
        // The server's own user must be able to enter the directory, so it cannot be this test's.
        Path work = Files.createTempDirectory("auction-test", PosixFilePermissions.asFileAttribute(
            PosixFilePermissions.fromString("rwxr-xr-x")));
        Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxr-xr-x"));
        try {
            Process process = site("--database", Option.lower(dialect), "--port-file", portFile.toString(), "--max-seconds", "120",
                "--work", work.toString());
            List<ProcessHandle> server;
            try {
                assertEquals(200, new Browser(portOf(process, portFile)).get("/item?id=1").statusCode());
                server = process.descendants().toList();
                assertFalse(server.isEmpty());
                if (killed) {
                    process.destroyForcibly();
                } else {
                    process.destroy();
                }
                assertTrue(process.waitFor(30, TimeUnit.SECONDS), "still running 30 s after SIGTERM");
            } finally {
                process.destroyForcibly();
            }
            for (var member : server) {
                for (int i = 0; i < 200 && member.isAlive(); i++) {
                    Thread.sleep(100);
                }
                assertFalse(member.isAlive(), member.info() + " is alive");
            }
            if (!killed) {
                assertEquals(1, Files.readString(dir.resolve("out")).lines().count(), Files.readString(dir.resolve("out")));
                try (var left = Files.list(work)) {
                    assertEquals(List.of(), left.toList());
                }
            } else {
                // The shell deletes as the server's account, which may not write to what the directory lies in.
                try (var left = Files.find(work, 2, (p, a) -> p.getParent().getFileName().toString().contains("-mariadb-"))) {
                    assertEquals(List.of(), left.toList());
                }
            }
        } finally {
            Trees.delete(work);
        }
    }

    @Test
    @Tag("once")
    void tablesOfAnotherDatabaseAreMadeOnceReusedAndReplaced() throws Exception {
        String url = "jdbc:h2:" + dir.resolve("db");
        var small = List.of("--port", "0", "--items", "7", "--old-items", "3", "--users", "5", "--jdbc", url);
        try (var site = Auction.start(Config.parse(small))) {
            var visitor = new Browser(site.port()).loggedIn(1);
            assertEquals(303, visitor.post("/bid", "item", "1", "quantity", "1", "raise", "99").statusCode());
        }
        var error = assertThrows(IOException.class, () -> Auction.start(Config.parse(small)));
        assertTrue(error.getMessage().contains("--data reuse"), error.getMessage());
        long kept;
        try (var site = Auction.start(Config.parse(plus(small, "--data", "reuse")))) {
            kept = Rowsum.of(site.source());
        }
        try (var site = Auction.start(Config.parse(plus(small, "--data", "replace")))) {
            assertNotEquals(kept, Rowsum.of(site.source()));
        }
    }

    private static List<String> plus(List<String> some, String... more) {
        return Stream.concat(some.stream(), Stream.of(more)).toList();
    }

    @Test
    void aDatabaseThatDoesNotAnswerIsNamed() {
        var error = assertThrows(IOException.class,
            () -> Auction.start(Config.parse(List.of("--port", "0", "--jdbc", "jdbc:postgresql://127.0.0.1:1/x?user=a&connectTimeout=2"))));
        assertTrue(error.getMessage().startsWith("--jdbc: no connection: "), error.getMessage());
    }

    @Test
    void itEndsByItselfWhenItsTimeIsOver() throws Exception {
        Process process = site("--max-seconds", "1");
        try {
            assertTrue(process.waitFor(60, TimeUnit.SECONDS));
            assertEquals(0, process.exitValue());
        } finally {
            process.destroyForcibly();
        }
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --port 65536   | --port is 65536; it must be a whole number from 0 to 65535
        --items 0      | --items is 0; it must be a whole number from 1 to 10000000
        --pool ten     | --pool is ten; it must be a whole number from 1 to 1000
        --key dsa      | --key is dsa; it must be rsa or ec
        --seed         | --seed needs a value (--help says which)
        --frobnicate 1 | unknown option --frobnicate (--help lists them)
        --tls 1.1      | --tls is 1.1; it must be 1.2, 1.3 or both
        --database db2 | --database is db2; it must be h2, mariadb or postgresql
        --jdbc odbc:x  | --jdbc is odbc:x; it must begin with jdbc:mariadb:, jdbc:postgresql: or jdbc:h2:
        --data reuse   | --data is about the tables of --jdbc; the site's own databases always begin empty
        --http2=1      | --http2 takes no value
        --fault smal-pool | unknown fault smal-pool: did you mean small-pool? (--help lists them)
        --fault xyzzy  | unknown fault xyzzy (--help lists them)
        --jdbc jdbc:h2:mem:a --database h2 | --jdbc names the database already: leave --database away
        """)
    void aWrongOptionIsNamedWithWhatItTakes(String line, String message) {
        var error = assertThrows(UsageException.class, () -> Config.parse(List.of(line.split(" "))));
        assertEquals(message, error.getMessage());
    }

    @Test
    void optionsAreRead() throws Exception {
        var config = Config.parse(List.of("--port", "0", "--items=7", "--old-items", "8", "--users", "9", "--key", "ec",
            "--seed", "-3", "--tls", "1.2", "--http2", "--fault", "leak"));
        assertEquals(Config.defaults().port(0).size(7, 8, 9).key(KeyStoreFile.Key.EC).seed(-3).tls(Config.Tls.V1_2).http2(true)
            .fault("leak"), config);
    }

    @Test
    void fullSizeIsThatOfRubisUnlessANumberIsGiven() throws Exception {
        var config = Config.parse(List.of("--full-size", "--items", "12"));
        assertEquals(12, config.items());
        assertEquals(500_000, config.oldItems());
        assertEquals(1_000_000, config.users());
    }

    @Test
    void virtualThreadsAreRefusedWhereThereAreNone() throws Exception {
        for (var line : List.of(List.of("--virtual-threads"), List.of("--fault", "pinned"))) {
            if (Runtime.version().feature() < 21) {
                var error = assertThrows(UsageException.class, () -> Config.parse(line));
                assertTrue(error.getMessage().startsWith(String.join(" ", line) + " needs JDK 21"), error.getMessage());
            } else {
                assertTrue(Config.parse(line).virtualThreads());
            }
        }
    }

    @Test
    void theHelpNamesEveryOptionAndItsDefault() {
        for (String part : List.of("--port N", "[8443]", "--items N", "[3000]", "--users N", "[1000]", "--threads N", "[50]",
            "--pool N", "[10]", "--seed N", "--key rsa|ec", "--work DIR", "--port-file F", "--max-seconds N", "--fault NAME", "lost-notify", "--tls 1.2|1.3|both", "[both]")) {
            assertTrue(Config.help().contains(part), part);
        }
    }
}
