package dev.loadline.agent.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What HotSpot's optimising compiler made of the methods of some types, and what of it was thrown away, by its own log. */
public final class Compiled {
    private static final int TURNS = 80;
    /** Turns since it was compiled in which nothing was thrown away: what is compiled again at first is so by then. */
    private static final int SETTLED = 5;

    private final Path log;
    private final String optimised;
    private int read;

    /** @param types begins of types' names, as a regular expression */
    public Compiled(Path log, String types) {
        this.log = log;
        this.optimised = ".* 4  +(" + types + ")\\S*::.*";
    }

    /** What a JVM is to be started with. */
    public static String option(Path log) {
        return "-Xlog:jit+compilation=debug:file=" + log;
    }

    /** Has it work until a method was compiled for good and nothing is thrown away any more. */
    public void warm(String method, Work work) throws Exception {
        int settled = 0;
        for (int turn = 0; turn < TURNS && settled < SETTLED; turn++) {
            work.run();
            boolean isHot = lines().stream().anyMatch(line -> line.matches(optimised) && line.contains(method));
            settled = isHot && thrownAway().isEmpty() ? settled + 1 : 0;
            read = lines().size();
        }
        assertEquals(SETTLED, settled, "turns without a change after HotSpot compiled " + method + "for good");
    }

    /** What was thrown away since. */
    public List<String> thrownAway() throws IOException {
        List<String> lines = lines();
        return lines.subList(read, lines.size()).stream()
                .filter(line -> line.matches(optimised) && line.contains("made not entrant")).toList();
    }

    private List<String> lines() throws IOException {
        return Files.readAllLines(log);
    }

    /** A turn. */
    public interface Work {
        void run() throws Exception;
    }
}
