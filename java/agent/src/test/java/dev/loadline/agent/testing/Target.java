package dev.loadline.agent.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM of its own that runs a {@link Program} and does what it is told, one line at a time. */
public final class Target implements AutoCloseable {
    private final Process process;
    private final BufferedReader replies;
    private final OutputStream commands;
    private final Path errors;

    private Target(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
        this.replies = process.inputReader(StandardCharsets.UTF_8);
        this.commands = process.getOutputStream();
    }

    /** Starts a program with the tests' class path. */
    public static Target start(Class<? extends Program> program, String... jvmArguments) throws IOException {
        return startWith(classPath(), program, jvmArguments);
    }

    /** Starts a program. */
    public static Target startWith(String classPath, Class<? extends Program> program, String... jvmArguments)
            throws IOException {
        return startWith(classPath, program.getName(), jvmArguments);
    }

    /** The same of a source file, which its JVM compiles. */
    public static Target startSource(Path source, String... jvmArguments) throws IOException {
        return startWith(classPath(), source.toString(), jvmArguments);
    }

    private static Target startWith(String classPath, String main, String... jvmArguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx256m");
        command.add("-XX:TieredStopAtLevel=" + System.getProperty("target.tiers", "4"));
        command.add("-XX:ErrorFile=" + Path.of("target/hs_err_%p.log").toAbsolutePath());
        command.addAll(Arrays.asList(jvmArguments));
        command.addAll(List.of("-cp", classPath, main));
        Path errors = Files.createTempFile("loadline-agent-test", ".err");
        Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        Target target = new Target(process, errors);
        target.expect("ready");
        return target;
    }

    public long pid() {
        return process.pid();
    }

    /** Tells the program to do something, and returns what it replies. */
    public String tell(String command) throws IOException {
        commands.write((command + "\n").getBytes(StandardCharsets.UTF_8));
        commands.flush();
        return expect("ok");
    }

    /** What the program and its JVM wrote to standard error. */
    public String errors() throws IOException {
        return Files.readString(errors);
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Sends it a signal, by its name without SIG. */
    public void signal(String name) throws Exception {
        if (new ProcessBuilder("kill", "-" + name, String.valueOf(pid())).inheritIO().start().waitFor() != 0) {
            throw new IOException("kill -" + name);
        }
    }

    private String expect(String word) throws IOException {
        String line = replies.readLine();
        if (line == null || !line.startsWith(word)) {
            throw new IOException("the target said " + line + ", not " + word + "; its errors:\n" + errors());
        }
        return line.substring(word.length()).trim();
    }

    @Override
    public void close() throws Exception {
        commands.close(); // the program ends with its input
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        Files.deleteIfExists(errors);
    }

    /** The tests' class path without the agent's own classes, which are to come from its jar. */
    public static String classPath() {
        return classPathWith(null, "no such jar");
    }

    /** The same, with one jar in place of those whose file name begins so. */
    public static String classPathWith(Path jar, String insteadOf) {
        List<String> path = new ArrayList<>();
        if (jar != null) {
            path.add(jar.toAbsolutePath().toString());
        }
        String own = Path.of("target/classes").toAbsolutePath().toString();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            String name = new File(entry).getName();
            if (!entry.equals(own) && !name.startsWith("byte-buddy") && !name.startsWith(insteadOf)) {
                path.add(entry);
            }
        }
        return String.join(File.pathSeparator, path);
    }
}
