package dev.loadline.chat;

import dev.loadline.bed.KeyStoreFile;
import dev.loadline.bed.Options;
import dev.loadline.bed.PortFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** The command: {@code chat server} until it is told to stop, {@code chat client} for one run. */
public final class Main {
    private static final String HELP = """
        chat: rooms of users who write to each other over TCP, on the loopback interface (a test bed of Loadline)

        usage: java -jar chat.jar server [OPTIONS]
               java -jar chat.jar client --port PORT [OPTIONS]

        both:
          --port N         server: to listen on (default 0: a free one); client: of the server
          --io KIND        threads: two platform threads a connection (default); virtual: two virtual ones (JDK 21 and later);
                           nio: event loops
          --loops N        of nio (default: as many as CPUs)
          --tls            with a certificate made at start; the client trusts any
        server:
          --port-file F    the port is written here when it is ready
          --max-seconds S  ends by itself (default: never)
        client:
          --rooms N        (default 10)
          --users N        in each room (default 20)
          --messages N     that each user says while it counts (default 100)
          --warm N         that each user says before (default as many)
          --think S        mean pause of a user between a receipt and the next message (default 0)
          --limit S        gives up after so long (default 300)
          --seed N         of texts and pauses (default 1)
          --json FILE      the figures as JSON as well

        Run rule: all users join; each says --warm messages; when all are delivered, each says --messages, one at a time, as
        soon as it has the receipt for the last. Figures are of that second round, from the first word to the last delivery.

        examples:
          java -jar chat.jar server --port-file /tmp/port &
          java -jar chat.jar client --port $(cat /tmp/port) --rooms 20
          java -jar chat.jar client --port $(cat /tmp/port) --rooms 500 --io nio --messages 20 --think 1
        """;

    private Main() {
    }

    /** Exits with 0 when done, 1 when it failed or a message was lost, 2 on a wrong command line. */
    public static void main(String[] args) {
        if (List.of(args).contains("--help") || List.of(args).contains("-h")) {
            System.out.print(HELP);
            return;
        }
        try {
            if (args.length == 0 || !List.of("server", "client").contains(args[0])) {
                throw new Options.UsageException("says neither server nor client; --help has examples");
            }
            var options = new Options(List.of(args).subList(1, args.length));
            if (args[0].equals("server")) {
                serve(options);
            } else {
                talk(options);
            }
            System.exit(0);
        } catch (Options.UsageException e) {
            System.err.println("chat: " + e.getMessage());
            System.exit(2);
        } catch (OutOfMemoryError e) {
            System.err.println("chat: " + e.getMessage() + ": so many connections need more memory, threads or descriptors (-Xmx, ulimit -u, ulimit -n)");
            System.exit(1);
        } catch (Exception e) {
            System.err.println("chat: " + (e.getMessage() == null ? e.toString() : e.getMessage()));
            System.exit(1);
        }
    }

    private static Transport transport(Options options, String name, boolean client) throws IOException {
        Transport.Kind kind = Transport.Kind.valueOf(options.oneOf("--io", "threads", List.of("threads", "virtual", "nio")).toUpperCase(Locale.ROOT));
        int loops = options.number("--loops", Runtime.getRuntime().availableProcessors(), 1, 256);
        var tls = !options.flag("--tls") ? null : client ? Tls.client() : Tls.server(KeyStoreFile.Key.EC);
        options.done();
        return Transport.of(kind, loops, tls, name);
    }

    private static void serve(Options options) throws Exception {
        int port = options.number("--port", 0, 0, 65_535);
        String portFile = options.text("--port-file", null);
        double maxSeconds = options.seconds("--max-seconds", 0, 0);
        String io = options.text("--io", "threads");
        boolean tls = options.flag("--tls");
        var server = new Server();
        try (Transport transport = transport(options, "chat", false)) {
            int listening = transport.listen(port, server::newUser);
            var ended = new CountDownLatch(1);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                System.out.printf("chat: %d messages, %d deliveries%n", server.broadcasts(), server.deliveries());
                System.out.flush();
                ended.countDown();
            }, "chat-stop"));
            if (portFile != null) {
                PortFile.write(Path.of(portFile), listening);
            }
            System.out.printf("chat: ready on 127.0.0.1:%d (pid %d, %s%s, JDK %d)%n", listening, ProcessHandle.current().pid(), io, tls ? ", TLS" : "",
                Runtime.version().feature());
            System.out.flush();
            if (maxSeconds == 0) {
                ended.await();
            } else {
                ended.await(Math.round(maxSeconds * 1e3), TimeUnit.MILLISECONDS);
            }
        } finally {
            if (portFile != null) {
                Files.deleteIfExists(Path.of(portFile));
            }
        }
    }

    private static void talk(Options options) throws Exception {
        int port = options.number("--port", 0, 0, 65_535);
        if (port == 0) {
            throw new Options.UsageException("client needs --port, which the server prints");
        }
        int messages = options.number("--messages", 100, 1, 1_000_000);
        var plan = new Client.Plan(options.number("--rooms", 10, 1, 10_000), options.number("--users", 20, 2, 1_000), options.number("--warm", messages, 0, 1_000_000),
            messages, options.seconds("--think", 0, 0), options.seconds("--limit", 300, 1), options.number("--seed", 1, 0, Integer.MAX_VALUE));
        String json = options.text("--json", null);
        String io = options.text("--io", "threads");
        try (Transport transport = transport(options, "user", true)) {
            Client.Result result = Client.run(transport, new InetSocketAddress(InetAddress.getLoopbackAddress(), port), plan);
            Histogram took = result.deliveries();
            System.out.printf(Locale.ROOT, "chat: %d connections (%s), joined in %.1f s%n", plan.connections(), io, result.connectSeconds());
            System.out.printf(Locale.ROOT, "%.0f messages/s said, %.0f/s delivered, over %.1f s%n", result.saidPerSecond(), result.deliveredPerSecond(), result.seconds());
            System.out.printf(Locale.ROOT, "from saying to hearing, ms: p50 %.2f  p95 %.2f  p99 %.2f  max %.1f%n", took.getValueAtPercentile(50) / 1e6,
                took.getValueAtPercentile(95) / 1e6, took.getValueAtPercentile(99) / 1e6, took.getMaxValue() / 1e6);
            if (json != null) {
                Files.writeString(Path.of(json), json(plan, io, result));
            }
        }
    }

    private static String json(Client.Plan plan, String io, Client.Result result) {
        Histogram took = result.deliveries();
        return String.format(Locale.ROOT, "{\"jdk\": \"%s\", \"io\": \"%s\", \"rooms\": %d, \"users\": %d, \"connections\": %d, \"messages\": %d, \"seed\": %d, "
            + "\"connect_s\": %.3f, \"seconds\": %.3f, \"said_per_s\": %.1f, \"delivered_per_s\": %.1f, \"p50_ms\": %.4f, \"p95_ms\": %.4f, \"p99_ms\": %.4f, \"max_ms\": %.3f}%n",
            Runtime.version(), io, plan.rooms(), plan.users(), plan.connections(), plan.messages(), plan.seed(), result.connectSeconds(), result.seconds(),
            result.saidPerSecond(), result.deliveredPerSecond(), took.getValueAtPercentile(50) / 1e6, took.getValueAtPercentile(95) / 1e6,
            took.getValueAtPercentile(99) / 1e6, took.getMaxValue() / 1e6);
    }
}
