package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoorTest {
    @TempDir
    Path tmp;

    @Test
    void a_folder_is_made_that_others_cannot_enter() throws Exception {
        Path folder = tmp.resolve("new");
        assertTrue(Door.prepare(folder));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)));
    }

    @Test
    void that_of_a_dead_jvm_is_taken_and_that_of_a_living_one_left_alone() throws Exception {
        Path folder = Files.createDirectory(tmp.resolve("there"));
        Path door = folder.resolve("door");
        try (ServerSocketChannel living = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            living.bind(UnixDomainSocketAddress.of(door));
            assertFalse(Door.prepare(folder));
            assertTrue(Files.exists(door, LinkOption.NOFOLLOW_LINKS));
        }
        assertTrue(Files.exists(door, LinkOption.NOFOLLOW_LINKS), "a closed socket stays");
        Path unopened = Files.createFile(folder.resolve("door.new"));
        assertTrue(Door.prepare(folder));
        assertFalse(Files.exists(door, LinkOption.NOFOLLOW_LINKS));
        assertFalse(Files.exists(unopened, LinkOption.NOFOLLOW_LINKS), "it would be in the way");
    }

    @Test
    void what_is_no_folder_of_ours_is_left_alone() throws Exception {
        Path link = Files.createSymbolicLink(tmp.resolve("link"), Files.createDirectory(tmp.resolve("elsewhere")));
        assertFalse(Door.prepare(link));
        assertFalse(Door.prepare(Files.createFile(tmp.resolve("file"))));
    }

    @Test
    void none_is_opened_when_the_program_is_over_and_an_open_one_goes_with_it() throws Exception {
        Path folder = tmp.resolve("new");
        for (boolean over : new boolean[] {false, true}) {
            Door door = new Door(folder, null);
            if (over) {
                door.close();
            }
            try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                assertEquals(!over, door.open(server));
                assertEquals(!over, Files.exists(folder.resolve("door"), LinkOption.NOFOLLOW_LINKS));
            }
            door.close();
            assertFalse(Files.exists(folder));
        }
    }

    @Test
    void what_is_somebody_elses_stays_at_the_programs_end() throws Exception {
        Path folder = Files.createDirectory(tmp.resolve("there"));
        try (ServerSocketChannel living = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            living.bind(UnixDomainSocketAddress.of(folder.resolve("door")));
            Door door = new Door(folder, null);
            assertFalse(door.open(server));
            door.close();
            assertTrue(Files.exists(folder.resolve("door"), LinkOption.NOFOLLOW_LINKS));
        }
    }
}
