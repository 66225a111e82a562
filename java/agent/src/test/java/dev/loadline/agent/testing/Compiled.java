package dev.loadline.agent.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What HotSpot's optimising compiler made of the methods of some types, and what of it was thrown away, by its own logs. */
public final class Compiled implements AutoCloseable {
    private static final int TURNS = 80;
    /** Turns since it was compiled in which nothing was thrown away: what is compiled again at first is so by then. */
    private static final int SETTLED = 5;

    private static final int FEW = 2;

    private static final Pattern LINE = Pattern.compile("\\] +(\\d+) .* (\\S+::\\S+) ");
    private static final Pattern TRAP = Pattern.compile("<uncommon_trap thread.* reason='(\\w+)'.* compile_id='(\\d+)'.*");
    /** Of what is not the JDK's. */
    private static final Pattern WITHIN_JDK = Pattern.compile("(?!java\\.|jdk\\.|sun\\.)\\S+: \\S+ in java\\..*");
    private static final Pattern FRAME = Pattern.compile(" *<jvms bci='(\\d+)' method='(\\S+) (\\S+) .*");

    private final Path log;
    /** In which the compiler says what compiled code met that it was made without. */
    private final Path reasons;
    private final String optimised;
    private int read;

    /** @param types begins of types' names, as a regular expression */
    public Compiled(String types) throws IOException {
        this.log = Files.createTempFile("loadline-agent-test", ".compiled");
        this.reasons = Files.createTempFile("loadline-agent-test", ".reasons");
        this.optimised = ".* 4  +(" + types + ")\\S*::.*";
    }

    /** What a JVM is to be started with, beside its own. */
    public String[] options(String... own) {
        List<String> options = new ArrayList<>(List.of(own));
        options.add("-Xlog:jit+compilation=debug:file=" + log + "::filecount=0");
        options.addAll(List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation", "-XX:LogFile=" + reasons));
        return options.toArray(String[]::new);
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

    /**
     * Why each of them was thrown away, its innermost frames first with their bytecodes' places, when the JVM has ended. Not of those that met a lock which
     * somebody else held, and, of what is not the JDK's, not of the first few that met a branch within the JDK, which its other callers never took either:
     * that comes when it comes. What the agent has them do new there would meet one after the other.
     */
    public List<String> why(List<String> thrownAway) throws IOException {
        List<String> lines = Files.readAllLines(reasons);
        List<String> why = new ArrayList<>();
        int withinJdk = 0;
        for (String line : thrownAway) {
            Matcher compiled = LINE.matcher(line);
            String reason = compiled.find() ? compiled.group(2) + ": " + reason(lines, compiled.group(1)) : line;
            if (!reason.contains(" in java.util.concurrent.locks.") && (!WITHIN_JDK.matcher(reason).matches() || ++withinJdk > FEW)) {
                why.add(reason);
            }
        }
        return why;
    }

    private static String reason(List<String> lines, String id) {
        for (int i = 0; i < lines.size(); i++) {
            Matcher trap = TRAP.matcher(lines.get(i));
            if (trap.matches() && trap.group(2).equals(id)) {
                StringBuilder reason = new StringBuilder(trap.group(1));
                String before = " in ";
                for (int at = i + 1; at < lines.size(); at++) {
                    Matcher frame = FRAME.matcher(lines.get(at));
                    if (!frame.matches()) {
                        break;
                    }
                    reason.append(before).append(frame.group(2)).append('.').append(frame.group(3)).append('@').append(frame.group(1));
                    before = " < ";
                }
                return reason.toString();
            }
        }
        return "no trap of its own: what it was compiled upon holds no more";
    }

    private List<String> lines() throws IOException {
        return Files.readAllLines(log);
    }

    @Override
    public void close() throws IOException {
        Files.delete(log);
        Files.delete(reasons);
    }

    /** A turn. */
    public interface Work {
        void run() throws Exception;
    }
}
