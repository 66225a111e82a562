package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Api;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

/** The way in to a JVM that had the agent since its start. */
class DoorIT {
    private static final long PATIENCE_MS = 10_000;

    private static Path folder(Target target) {
        return Path.of("/tmp/.loadline-" + target.pid());
    }

    /** The door is opened beside the program's start. */
    private static void awaitDoor(Target target) throws Exception {
        for (long waited = 0; !Files.exists(folder(target).resolve("door")); waited += 10) {
            assertTrue(waited < PATIENCE_MS, "there is no door");
            Thread.sleep(10);
        }
    }

    private static Target start(String... more) throws Exception {
        String[] arguments = new String[more.length + 1];
        arguments[0] = "-javaagent:" + TestRecorder.JAR;
        System.arraycopy(more, 0, arguments, 1, more.length);
        return Target.start(Api.class, arguments);
    }

    @Test
    void a_jvm_that_takes_no_agents_is_recorded_again_and_again_and_says_nothing() throws Exception {
        Path folder;
        try (Target target = start("-XX:+DisableAttachMechanism", "-XX:-EnableDynamicAgentLoading")) {
            awaitDoor(target);
            folder = folder(target);
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS)));
            for (int round = 0; round < 2; round++) {
                try (TestRecorder recorder = TestRecorder.prepare()) {
                    recorder.enter(target.pid()).await(TestRecorder.RECORDING);
                    target.tell("all");
                    assertEquals(1, recorder.stop().of(Type.APP_POP).size());
                }
            }
            assertEquals("", target.errors());
        }
        assertFalse(Files.exists(folder), "it is taken away when the JVM ends");
    }

    @Test
    void a_recorder_that_gave_up_while_the_jvm_was_stopped_has_nothing_begun_for_it() throws Exception {
        try (Target target = start();
                TestRecorder gone = TestRecorder.prepare()) {
            awaitDoor(target);
            target.signal("STOP");
            try (SocketChannel caller = SocketChannel.open(UnixDomainSocketAddress.of(folder(target).resolve("door")))) {
                caller.write(StandardCharsets.UTF_8.encode(gone.directory + "\n"));
            }
            target.signal("CONT");
            try (TestRecorder next = TestRecorder.prepare()) {
                next.enter(target.pid()).await(TestRecorder.RECORDING);
                target.tell("all");
                assertEquals(1, next.stop().of(Type.APP_POP).size());
            }
            assertEquals(0, gone.read().state);
            assertEquals("", target.errors());
        }
    }

    @Test
    void a_second_recorder_is_refused_and_callers_that_say_nothing_or_nonsense_keep_nobody_waiting() throws Exception {
        try (Target target = start();
                TestRecorder first = TestRecorder.prepare();
                TestRecorder second = TestRecorder.prepare()) {
            awaitDoor(target);
            UnixDomainSocketAddress door = UnixDomainSocketAddress.of(folder(target).resolve("door"));
            try (SocketChannel silent = SocketChannel.open(door);
                    SocketChannel endless = SocketChannel.open(door)) {
                assertTrue(silent.isConnected());
                assertThrows(IOException.class, () -> {
                    for (;;) {
                        endless.write(StandardCharsets.UTF_8.encode("x".repeat(10_000)));
                    }
                });
                first.enter(target.pid()).await(TestRecorder.RECORDING);
                second.enter(target.pid());
                assertEquals(TestRecorder.FAILED, second.read().state);
                target.tell("all");
                assertEquals(1, first.stop().of(Type.APP_POP).size());
            }
        }
    }
}
