package dev.loadline.guardbench.hello;

import dev.loadline.guard.hello.ClientHelloReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Time to read one captured hello, whole in a direct buffer as a server has it, with a reader used again. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HelloCost {
    @Param({"jsse17-tls13-new", "jsse17-tls13-resuming", "jsse17-tls12-ticket-resuming", "chromium-tls13-resuming"})
    private String hello;

    /** Folder of the captured hellos. */
    @Param("corpus")
    private String folder;

    private final ClientHelloReader reader = new ClientHelloReader();
    private ByteBuffer bytes;

    @Setup
    public void read() throws IOException {
        String hex = Files.readAllLines(Path.of(folder, hello + ".hex")).stream().filter(l -> !l.startsWith("#")).collect(Collectors.joining());
        byte[] all = HexFormat.of().parseHex(hex);
        bytes = ByteBuffer.allocateDirect(all.length).put(all).flip();
    }

    @Benchmark
    public Object read_and_classify() {
        reader.peek(bytes);
        return reader.hello().kind();
    }

    /** What a connection that is served pays: a reader of its own. */
    @Benchmark
    public Object read_and_classify_with_a_new_reader() {
        var own = new ClientHelloReader();
        own.peek(bytes);
        return own.hello().kind();
    }
}
