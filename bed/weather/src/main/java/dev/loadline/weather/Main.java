package dev.loadline.weather;

import dev.loadline.bed.Options;
import dev.loadline.bed.PortFile;
import dev.loadline.weather.service.Middleware;
import dev.loadline.weather.web.Site;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The command: the whole service in one process, or its web server and its middleware in one each. */
public final class Main {
    private static final String HELP = """
        weather: the forecast where a phone is, by a web server and two CORBA servers (a test bed of Loadline)

        usage: java -jar weather.jar [all] [OPTIONS]                     the web server and both servers behind it
               java -jar weather.jar middleware --ior-dir D [OPTIONS]    the location and the weather server alone
               java -jar weather.jar web --ior-dir D [OPTIONS]           the web server alone

          --port N           of HTTP (default 8080; 0: a free one)
          --port-file F      the port is written here when it is ready (of middleware: 0)
          --scenario S       A: databases answer at once (default); B: 30 ms to authenticate, 310 to locate, 110 to forecast
          --http-threads N   most requests at once of the web server (default 100)
          --threads N        of the location server, and of the weather server, that run requests (default 10)
          --ior-dir D        where middleware writes its two addresses, and web reads them
          --max-seconds S    ends by itself (default: never)

        examples:
          java -jar weather.jar --scenario B
          loadline load http://127.0.0.1:8080 --scenario bed/weather/a.toml --rate 50
        """;
    private static final String LOCATION = "location.ior";
    private static final String WEATHER = "weather.ior";
    /** Held here because java.util.logging forgets the level of a logger that nobody holds. */
    private static final Logger ROOT = Logger.getLogger("");

    private Main() {
    }

    /** Exits with 0 when it was stopped, 1 when it failed, 2 on a wrong command line. */
    public static void main(String[] args) {
        if (List.of(args).contains("--help") || List.of(args).contains("-h")) {
            System.out.print(HELP);
            return;
        }
        // JacORB warns of each request that waits for a thread, Tomcat tells of each step of its start.
        ROOT.setLevel(Level.SEVERE);
        try {
            boolean named = args.length > 0 && !args[0].startsWith("--");
            String part = named ? args[0] : "all";
            if (!List.of("all", "middleware", "web").contains(part)) {
                throw new Options.UsageException("'" + part + "' is none of all, middleware and web; --help has examples");
            }
            run(part, new Options(List.of(args).subList(named ? 1 : 0, args.length)));
            System.exit(0);
        } catch (Options.UsageException e) {
            System.err.println("weather: " + e.getMessage());
            System.exit(2);
        } catch (Exception e) {
            System.err.println("weather: " + describe(e));
            System.exit(1);
        }
    }

    private static void run(String part, Options options) throws Exception {
        int port = options.number("--port", 8080, 0, 65_535);
        String portFile = options.text("--port-file", null);
        Scenario scenario = Scenario.valueOf(options.oneOf("--scenario", "A", List.of("A", "B")));
        int httpThreads = options.number("--http-threads", 100, 1, 10_000);
        int threads = options.number("--threads", 10, 1, 10_000);
        String iorDir = options.text("--ior-dir", null);
        double maxSeconds = options.seconds("--max-seconds", 0, 0);
        options.done();
        if (iorDir == null && !part.equals("all")) {
            throw new Options.UsageException(part + " needs --ior-dir: the same folder for middleware, which writes there, and for web");
        }
        // Closed in the other order than they were begun.
        var running = new ArrayDeque<AutoCloseable>();
        var ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            closeAll(running, portFile);
            ended.countDown();
        }, "weather-stop"));
        String where = "middleware";
        Middleware middleware = null;
        if (!part.equals("web")) {
            middleware = new Middleware(threads, scenario.locateNs, scenario.forecastNs);
            add(running, middleware);
            if (iorDir != null) {
                Files.writeString(Path.of(iorDir, LOCATION), middleware.location());
                Files.writeString(Path.of(iorDir, WEATHER), middleware.weather());
            }
        }
        int listening = 0;
        if (!part.equals("middleware")) {
            var site = new Site(port, httpThreads, scenario.authenticateNs, middleware == null ? address(iorDir, LOCATION) : middleware.location(),
                middleware == null ? address(iorDir, WEATHER) : middleware.weather());
            add(running, site);
            listening = site.port();
            where = "http://127.0.0.1:" + listening + "/forecast?phone=0612345678";
        }
        if (portFile != null) {
            PortFile.write(Path.of(portFile), listening);
        }
        System.out.printf("weather: ready: %s (pid %d, scenario %s, JDK %d)%n", where, ProcessHandle.current().pid(), scenario, Runtime.version().feature());
        System.out.flush();
        if (maxSeconds == 0) {
            ended.await();
        } else {
            ended.await(Math.round(maxSeconds * 1e3), TimeUnit.MILLISECONDS);
        }
    }

    private static void add(ArrayDeque<AutoCloseable> running, AutoCloseable part) {
        synchronized (running) {
            running.push(part);
        }
    }

    private static void closeAll(ArrayDeque<AutoCloseable> running, String portFile) {
        synchronized (running) {
            for (AutoCloseable part : running) {
                try {
                    part.close();
                } catch (Exception e) {
                    System.err.println("weather: while stopping: " + describe(e));
                }
            }
        }
        try {
            if (portFile != null) {
                Files.deleteIfExists(Path.of(portFile));
            }
        } catch (IOException e) {
            System.err.println("weather: while stopping: " + describe(e));
        }
    }

    private static String address(String iorDir, String name) throws IOException {
        try {
            return Files.readString(Path.of(iorDir, name)).trim();
        } catch (NoSuchFileException e) {
            throw new IOException(e.getMessage() + " is missing: start `weather.jar middleware --ior-dir " + iorDir + "` first", e);
        }
    }

    private static String describe(Exception e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }
}
