package dev.loadline.threading;

import dev.loadline.bed.Options;
import dev.loadline.bed.PortFile;
import dev.loadline.threading.giop.Ior;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.HdrHistogram.Histogram;

/** The command: {@code server} until it is told to stop, {@code client} for one run or several, {@code calibrate}. */
public final class Main {
    private static final String HELP = """
        threading: one servant under several threading strategies, on the loopback interface (a test bed of Loadline)

        usage: java -jar threading.jar server [OPTIONS]          (threading-jacorb.jar, threading-glassfish.jar: with their brokers)
               java -jar threading.jar client --ior-file F [OPTIONS]
               java -jar threading.jar calibrate                  turns of the servant's loop to a millisecond, for --spins

        server:
          --broker NAME    sockets (default), or the broker of the jar: jacorb, glassfish
          --strategy S     per-client (default), threaded, per-request, pool
          --pool N         threads of the pool (default 8)
          --virtual        virtual threads in place of platform threads (JDK 21 and later)
          --port N         to listen on (default 0: a free one)
          --port-file F    the port is written here when it is ready
          --ior-file F     the servant's address, before that
          --spins N        turns of its loop to a millisecond (default: calibrated at start)
          --max-seconds S  ends by itself (default: never)
        client:
          --ior-file F     the servant's address
          --clients N      connections, each with one request at a time (default 1)
          --cpu-us N       mean CPU time of a request (default 500)
          --delay-us N     mean delay of a request (default 0)
          --warm S         before it counts (default 1)
          --seconds S      that it counts (default 5)
          --server-pid P   whose CPU time is told too
          --stdin          reads command lines of the client, one a line, and does one after the other: one JVM, warm
                           Prints one JSON object a run; ends with 1 if an answer was wrong.

        examples:
          java -jar threading.jar server --strategy pool --pool 4 --port-file /tmp/port --ior-file /tmp/ior &
          java -jar threading.jar client --ior-file /tmp/ior --clients 16 --cpu-us 5000
        """;
    /** Held here because java.util.logging forgets the level of a logger that nobody holds. */
    private static final Logger ROOT = Logger.getLogger("");

    private static final int CLOSE_S = 5;

    private Main() {
    }

    /** Exits with 0 when done, 1 when it failed or an answer was wrong, 2 on a wrong command line. */
    public static void main(String[] args) {
        if (List.of(args).contains("--help") || List.of(args).contains("-h")) {
            System.out.print(HELP);
            return;
        }
        // A broker warns of each request that waits for a thread of its pool.
        ROOT.setLevel(Level.SEVERE);
        try {
            if (args.length == 0 || !List.of("server", "client", "calibrate").contains(args[0])) {
                throw new Options.UsageException("says none of server, client and calibrate; --help has examples");
            }
            List<String> rest = List.of(args).subList(1, args.length);
            boolean right = switch (args[0]) {
                case "server" -> serve(new Options(rest));
                case "client" -> rest.equals(List.of("--stdin")) ? commands() : call(rest);
                default -> calibrate(new Options(rest));
            };
            System.exit(right ? 0 : 1);
        } catch (Options.UsageException e) {
            System.err.println("threading: " + e.getMessage());
            System.exit(2);
        } catch (Exception e) {
            System.err.println("threading: " + (e.getMessage() == null ? e.toString() : e.getMessage()));
            System.exit(1);
        }
    }

    private static boolean calibrate(Options options) {
        options.done();
        System.out.println(Servant.calibrate());
        return true;
    }

    private static boolean serve(Options options) throws Exception {
        List<Broker> brokers = ServiceLoader.load(Broker.class).stream().map(ServiceLoader.Provider::get).toList();
        String name = options.oneOf("--broker", "sockets", brokers.stream().map(Broker::name).toList());
        Strategy strategy = Strategy.of(options.oneOf("--strategy", Strategy.PER_CLIENT.label, Strategy.labels()));
        var setting = new Broker.Setting(strategy, options.flag("--virtual"), options.number("--pool", 8, 1, 10_000), options.number("--port", 0, 0, 65_535));
        String portFile = options.text("--port-file", null);
        String iorFile = options.text("--ior-file", null);
        int spins = options.number("--spins", 0, 0, Integer.MAX_VALUE);
        double maxSeconds = options.seconds("--max-seconds", 0, 0);
        options.done();
        var servant = new Servant(spins == 0 ? Servant.calibrate() : spins);
        var ended = new CountDownLatch(1);
        var closed = new CountDownLatch(1);
        Broker broker = brokers.stream().filter(b -> b.name().equals(name)).findFirst().orElseThrow();
        try (Broker.Running running = broker.start(servant, setting)) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                System.out.printf("threading: %d requests served, %d at once at most%n", servant.served(), servant.mostActive());
                System.out.flush();
                ended.countDown();
                try {
                    // Or the JVM would end before the files are deleted.
                    closed.await(CLOSE_S, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "threading-stop"));
            int port = Ior.parse(running.ior()).port();
            if (iorFile != null) {
                Files.writeString(Path.of(iorFile), running.ior() + "\n");
            }
            if (portFile != null) {
                PortFile.write(Path.of(portFile), port);
            }
            System.out.printf("threading: ready on 127.0.0.1:%d (pid %d, %s, %s, JDK %d)%n", port, ProcessHandle.current().pid(), name, setting,
                Runtime.version().feature());
            System.out.flush();
            if (maxSeconds == 0) {
                ended.await();
            } else {
                ended.await(Math.round(maxSeconds * 1e3), TimeUnit.MILLISECONDS);
            }
        } finally {
            for (String file : new String[] {portFile, iorFile}) {
                if (file != null) {
                    Files.deleteIfExists(Path.of(file));
                }
            }
            closed.countDown();
        }
        return true;
    }

    private static boolean commands() throws Exception {
        boolean right = true;
        var in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            right &= call(List.of(line.trim().split(" +")));
        }
        return right;
    }

    private static boolean call(List<String> arguments) throws Exception {
        var options = new Options(arguments);
        String iorFile = options.text("--ior-file", null);
        if (iorFile == null) {
            throw new Options.UsageException("client needs --ior-file, which the server writes");
        }
        var plan = new Client.Plan(options.number("--clients", 1, 1, 10_000), options.number("--cpu-us", 500, 0, 10_000_000),
            options.number("--delay-us", 0, 0, 10_000_000), options.seconds("--warm", 1, 0), options.seconds("--seconds", 5, 0.01),
            options.number("--server-pid", 0, 0, Integer.MAX_VALUE));
        options.done();
        Client.Result result = Client.run(Ior.parse(Files.readString(Path.of(iorFile))), plan);
        System.out.println(json(result));
        System.out.flush();
        if (result.wrong() > 0) {
            System.err.println("threading: " + result.wrong() + " answers were wrong");
        }
        return result.wrong() == 0;
    }

    private static String json(Client.Result result) {
        Histogram took = result.responses();
        Client.Plan plan = result.plan();
        return String.format(Locale.ROOT, "{\"clients\": %d, \"cpu_us\": %d, \"delay_us\": %d, \"seconds\": %.3f, \"replies\": %d, \"wrong\": %d, \"per_s\": %.2f, "
            + "\"mean_ms\": %.4f, \"p50_ms\": %.4f, \"p95_ms\": %.4f, \"p99_ms\": %.4f, \"max_ms\": %.3f, \"client_cpus\": %.4f, \"server_cpus\": %s}",
            plan.clients(), plan.cpuUs(), plan.delayUs(), result.seconds(), took.getTotalCount(), result.wrong(), result.perSecond(),
            took.getTotalCount() == 0 ? 0 : took.getMean() / 1e6, took.getValueAtPercentile(50) / 1e6, took.getValueAtPercentile(95) / 1e6,
            took.getValueAtPercentile(99) / 1e6, took.getMaxValue() / 1e6, result.clientCpus(),
            Double.isNaN(result.serverCpus()) ? "null" : String.format(Locale.ROOT, "%.4f", result.serverCpus()));
    }
}
