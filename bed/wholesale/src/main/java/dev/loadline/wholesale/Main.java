package dev.loadline.wholesale;

import dev.loadline.bed.Options;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The command: measures point after point, prints each, and checks the company's books. */
public final class Main {
    private static final String HELP = """
        wholesale: order entry in memory, one thread a warehouse (a test bed of Loadline)

        usage: java -jar wholesale.jar [OPTIONS]
          --warehouses N   this many only
          --from N         first point, in warehouses (default 1)
          --to N           last point (default twice the CPUs)
          --ramp S         seconds before each point is measured (default 5)
          --measure S      seconds that are measured (default 20)
          --items N        in the catalogue, each in stock everywhere (default 20000: some 25 MB a warehouse)
          --seed N         of the data and the transactions (default 1)
          --json FILE      the figures as JSON as well
          --every S        while it measures, prints every so often how many transactions there were since the point began

        Run rule: warehouses from 1 to twice the CPUs, one after another in one JVM, the company growing by a warehouse each
        time; the figure of a run is the mean of the points from as many warehouses as CPUs to twice as many.

        examples:
          java -jar wholesale.jar
          java -Xmx2g -XX:+UseZGC -jar wholesale.jar --from 1 --to 8 --measure 60 --json zgc.json
        """;

    private Main() {
    }

    /** Exits with 0 when done, 1 when it failed or the books do not balance, 2 on a wrong command line. */
    public static void main(String[] args) {
        if (List.of(args).contains("--help") || List.of(args).contains("-h")) {
            System.out.print(HELP);
            return;
        }
        try {
            System.exit(run(new Options(List.of(args))));
        } catch (Options.UsageException e) {
            System.err.println("wholesale: " + e.getMessage());
            System.exit(2);
        } catch (OutOfMemoryError e) {
            System.err.println("wholesale: the heap of " + (Runtime.getRuntime().maxMemory() >> 20)
                + " MB is too small: a warehouse takes some 25 MB (raise -Xmx, or lower --to or --items)");
            System.exit(1);
        } catch (Exception e) {
            System.err.println("wholesale: " + (e.getMessage() == null ? e.toString() : e.getMessage()));
            System.exit(1);
        }
    }

    private static int run(Options options) throws Exception {
        int cpus = Runtime.getRuntime().availableProcessors();
        int only = options.number("--warehouses", 0, 0, 1_000);
        int from = options.number("--from", only == 0 ? 1 : only, 1, 1_000);
        int to = options.number("--to", only == 0 ? Math.max(from, 2 * cpus) : only, 1, 1_000);
        double ramp = options.seconds("--ramp", 5, 0);
        double measure = options.seconds("--measure", 20, 0.1);
        int items = options.number("--items", 20_000, 10, 1_000_000);
        int seed = options.number("--seed", 1, 0, Integer.MAX_VALUE);
        String json = options.text("--json", null);
        double every = options.seconds("--every", 3600, 0.05);
        options.done();
        if (to < from) {
            throw new Options.UsageException("--to " + to + " is less than --from " + from);
        }
        var company = new Company(seed, items);
        System.out.printf(Locale.ROOT, "wholesale: %d CPUs, JDK %s, heap of %d MB at most, %d items, seed %d (pid %d)%n", cpus, Runtime.version().feature(),
            Runtime.getRuntime().maxMemory() >> 20, items, seed, ProcessHandle.current().pid());
        System.out.println(Report.heading());
        List<Point> points = new ArrayList<>();
        for (int warehouses = from; warehouses <= to; warehouses++) {
            Point point = Point.measure(company, warehouses, ramp, measure, seed, every, transactions -> System.out.println("so far " + transactions));
            points.add(point);
            System.out.println(Report.line(point));
            for (String broken : point.broken()) {
                System.err.println("wholesale: the books do not balance: " + broken);
            }
        }
        double mean = Report.mean(points, cpus);
        if (!Double.isNaN(mean)) {
            System.out.printf(Locale.ROOT, "mean of the points from %d to %d warehouses: %.0f transactions/s%n", cpus, 2 * cpus, mean);
        }
        if (json != null) {
            Files.writeString(Path.of(json), Report.json(points, cpus, seed));
        }
        boolean balanced = points.stream().allMatch(point -> point.broken().isEmpty());
        System.out.println(balanced ? "the books balance" : "the books do NOT balance");
        return balanced ? 0 : 1;
    }
}
