package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.StoreCalls;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls of Redis and MongoDB. */
class StoreCallsIT {
    private static Process redis;
    private static int port;

    @BeforeAll
    static void startRedis() throws Exception {
        Stream<Path> places = Stream.of("/usr/bin", "/usr/local/bin").map(folder -> Path.of(folder, "redis-server"));
        Path server = places.filter(Files::isExecutable).findFirst().orElse(null);
        assumeTrue(server != null, "no redis-server here: scripts/setup installs it");
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        redis = new ProcessBuilder(server.toString(), "--port", String.valueOf(port), "--bind", "127.0.0.1", "--save", "", "--dir", "/tmp")
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        for (int attempt = 0; !listens() && attempt < 100; attempt++) {
            Thread.sleep(50);
        }
    }

    @AfterAll
    static void endRedis() {
        if (redis != null) {
            redis.destroyForcibly();
        }
    }

    private static boolean listens() {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            return socket.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"START", "REDEFINE"})
    void each_command_is_told_with_the_stores_address_and_ends_with_its_answer(Way way) throws Exception {
        List<String> options = new ArrayList<>(List.of(way.options()));
        options.add("-Dredis=" + port);
        try (Target target = Target.start(StoreCalls.class, options.toArray(String[]::new)); TestRecorder recorder = way.recorder()) {
            String mongo = "mongodb://127.0.0.1:" + target.tell("mongo");
            for (String client : List.of("documents", "jedis", "lettuce")) {
                target.tell(client);
            }
            recorder.record(target.pid());
            assertEquals("plums", target.tell("documents"));
            assertEquals("OK plums", target.tell("jedis"));
            assertEquals("OK plums", target.tell("lettuce"));
            assertEquals("plums", target.tell("reactive"));
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            String at = "redis://127.0.0.1:" + port;
            Map<String, Integer> answered = new HashMap<>();
            Map<Long, String> open = new HashMap<>();
            for (var e : spool.where(e -> e.type() == Type.CALL_BEGIN || e.type() == Type.CALL_END)) {
                if (e.type() == Type.CALL_BEGIN) {
                    open.put(e.a(), e.c());
                } else {
                    answered.merge((e.a() == 0 ? "by its thread " : "by another ") + open.remove(e.a()), 1, Integer::sum);
                }
            }
            // Lettuce greets the server, too, with each connection.
            int commands = answered.remove("by another " + at);
            assertEquals(true, commands >= 3, () -> "set, get and get, and " + (commands - 3) + " more");
            assertEquals(Map.of("by its thread " + mongo, 2, "by its thread " + at, 2), answered);
            assertEquals(Map.of(), open);
        }
    }
}
