package dev.loadline.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import dev.loadline.auction.fault.Faults;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What each fault does, next to the same site without it: the site's doing, and no JDK's. */
@Tag("once")
class FaultsTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private interface Measure<T> {
        T of(Auction site) throws Exception;
    }

    private static final Config CONFIG = Config.defaults().port(0).size(2000, 50, 50).pool(4);
    private static final long LONGEST_STOP_SECONDS = 20;
    private static Auction sound;

    @BeforeAll
    static void start() throws Exception {
        sound = Auction.start(CONFIG);
    }

    @AfterAll
    static void stop() throws Exception {
        sound.close();
    }

    private static <T> T without(Measure<T> measure) throws Exception {
        return measure.of(sound);
    }

    /** Of a site with the fault; it serves, and stops in time, whatever is wrong with it. */
    private static <T> T with(String fault, Measure<T> measure) throws Exception {
        T result;
        long begin;
        try (var site = Auction.start(CONFIG.fault(fault))) {
            assertTrue(site.describe().endsWith(", fault " + fault), site.describe());
            serves(site);
            result = measure.of(site);
            begin = System.nanoTime();
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
        assertTrue(seconds < LONGEST_STOP_SECONDS, "it took " + seconds + " s to stop");
        return result;
    }

    private static void serves(Auction site) throws Exception {
        var browser = new Browser(site.port());
        assertEquals("bids", Browser.marker(browser.get("/bids?item=1")));
        assertEquals(200, browser.get("/images/photo-1.png").statusCode());
        browser.loggedIn(1);
        assertEquals("bid-stored", Browser.marker(browser.postAndFollow("/bid", "item", "1", "quantity", "1", "raise", "10")));
    }

    /** Runs {@code job} {@code times} times on each of {@code visitors} visitors at once. */
    private static <T> List<T> together(Auction site, int visitors, int times, Visit<T> job) throws Exception {
        var pool = Executors.newFixedThreadPool(visitors);
        try {
            var jobs = new ArrayList<Future<List<T>>>();
            for (int v = 0; v < visitors; v++) {
                var browser = new Browser(site.port());
                Callable<List<T>> visit = () -> {
                    var seen = new ArrayList<T>();
                    for (int i = 0; i < times; i++) {
                        seen.add(job.of(browser, i));
                    }
                    return seen;
                };
                jobs.add(pool.submit(visit));
            }
            var all = new ArrayList<T>();
            for (var done : jobs) {
                all.addAll(done.get(60, TimeUnit.SECONDS));
            }
            return all;
        } finally {
            pool.shutdownNow();
        }
    }

    private interface Visit<T> {
        T of(Browser browser, int turn) throws Exception;
    }

    private static List<Thread> workers() {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().contains("-exec-")).toList();
    }

    private static long blockedTimes() {
        return workers().stream().mapToLong(t -> {
            var info = THREADS.getThreadInfo(t.getId());
            return info == null ? 0 : info.getBlockedCount();
        }).sum();
    }

    private static long allocatedBytes() {
        return workers().stream().mapToLong(t -> THREADS.getThreadAllocatedBytes(t.getId())).sum();
    }

    /** A fault without a test here would be one that nobody has seen. */
    @Test
    void everyFaultHasATest() {
        var tests = Arrays.stream(FaultsTest.class.getDeclaredMethods()).map(m -> m.getName().toLowerCase(Locale.ROOT)).toList();
        for (String fault : Faults.names()) {
            assertTrue(tests.stream().anyMatch(t -> t.startsWith(fault.replace("-", ""))), fault);
        }
    }

    @Test
    void lostNotifyUsesItsOwnPoolOfHalfTheConnections() throws Exception {
        // What it loses is LostNotifyTest's. Here no more visitors than connections, of whom few wait.
        var pages = with("lost-notify", site -> together(site, 2, 40, (browser, i) -> browser.get("/item?id=" + (1 + i)).statusCode()));
        assertEquals(80, pages.stream().filter(status -> status == 200).count());
    }

    /** Guitart 2005, 3.4.2.2: results closed under their reader, or another request's rows. */
    @Test
    void sharedConnectionMixesRequestsUp() throws Exception {
        var quiet = Logger.getLogger("dev.loadline.auction.web");
        quiet.setLevel(Level.OFF);
        try {
            Measure<Integer> wrongPages = site -> (int) together(site, 6, 150, (browser, i) -> {
                int item = 1 + (i * 37 + (int) (Thread.currentThread().getId() % 7) * 211) % 2000;
                var page = browser.get("/item?id=" + item);
                return page.statusCode() == 200 && page.body().contains(", no. " + item + "</h1>");
            }).stream().filter(right -> !right).count();
            assertEquals(0, without(wrongPages));
            int wrong = with("shared-connection", wrongPages);
            assertTrue(wrong > 0, "every page of 900 was right");
        } finally {
            quiet.setLevel(null);
        }
    }

    @Test
    void smallPoolMakesThreadsWaitForAConnection() throws Exception {
        Measure<Boolean> secondConnectionWaits = site -> {
            try (var held = site.source().getConnection()) {
                var pool = Executors.newSingleThreadExecutor();
                try {
                    var page = pool.submit(() -> new Browser(site.port()).get("/item?id=1").statusCode());
                    return page.get() == 503;
                } finally {
                    pool.shutdown();
                }
            }
        };
        assertEquals(false, without(secondConnectionWaits));
        assertEquals(true, with("small-pool", secondConnectionWaits));
    }

    @Test
    void hotLockBlocksThreadsOnAMonitor() throws Exception {
        Measure<Long> blocked = site -> {
            together(site, 4, 10, (browser, i) -> browser.get("/regions").statusCode());
            long before = blockedTimes();
            together(site, 6, 60, (browser, i) -> browser.get("/regions").statusCode());
            return blockedTimes() - before;
        };
        long without = without(blocked);
        long with = with("hot-lock", blocked);
        assertTrue(with > 20 && with > 2 * without, "blocked " + with + " times with the fault, " + without + " without");
    }

    @Test
    void slowSqlReadsAllBidsForOneHistory() throws Exception {
        Measure<String> plan = site -> {
            try (var c = site.source().getConnection(); var s = c.createStatement();
                 var r = s.executeQuery("EXPLAIN SELECT cents FROM bids WHERE item = 17")) {
                r.next();
                return r.getString(1);
            }
        };
        assertTrue(with("slow-sql", plan).contains("tableScan"));
        assertTrue(!without(plan).contains("tableScan"));
    }

    @Test
    void gcPressureAllocatesMegabytesAPage() throws Exception {
        Measure<Long> perPage = site -> {
            together(site, 1, 5, (browser, i) -> browser.get("/regions").statusCode());
            long before = allocatedBytes();
            together(site, 1, 20, (browser, i) -> browser.get("/regions").statusCode());
            return (allocatedBytes() - before) / 20;
        };
        long with = with("gc-pressure", perPage);
        long without = without(perPage);
        assertTrue(with > without + (3 << 20), with + " bytes a page with the fault, " + without + " without");
    }

    @Test
    void leakKeepsWhatEveryPageLeavesBehind() throws Exception {
        Measure<Long> kept = site -> {
            together(site, 2, 20, (browser, i) -> browser.get("/regions").statusCode());
            long before = usedAfterGc();
            together(site, 2, 150, (browser, i) -> browser.get("/regions").statusCode());
            return usedAfterGc() - before;
        };
        long with = with("leak", kept);
        long without = without(kept);
        assertTrue(with > without + (10 << 20), with + " bytes kept with the fault, " + without + " without");
    }

    private static long usedAfterGc() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    @Test
    void pinnedKeepsCarriersWhilePagesWait() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads need JDK 21");
        int pinned = with("pinned", site -> {
            var events = new AtomicInteger();
            try (var recording = new jdk.jfr.consumer.RecordingStream()) {
                recording.enable("jdk.VirtualThreadPinned").withThreshold(java.time.Duration.ofMillis(1));
                recording.onEvent("jdk.VirtualThreadPinned", event -> events.incrementAndGet());
                recording.startAsync();
                together(site, 2, 20, (browser, i) -> browser.get("/regions").statusCode());
                for (int i = 0; i < 100 && events.get() == 0; i++) {
                    Thread.sleep(100);
                }
            }
            return events.get();
        });
        assertTrue(pinned > 0, "no thread was pinned");
    }

    @Test
    void slowStaticReadsAByteAtATime() throws Exception {
        Measure<Long> readCalls = site -> {
            long before = readCalls();
            var photo = new Browser(site.port()).get("/images/photo-3.png");
            assertEquals(200, photo.statusCode());
            assertTrue(photo.headers().firstValueAsLong("Content-Length").orElseThrow() > 20_000);
            return readCalls() - before;
        };
        long with = with("slow-static", readCalls);
        long without = without(readCalls);
        assertTrue(with > 20_000 + without, with + " reads with the fault, " + without + " without");
    }

    @Test
    void slowDatabaseAnswersLate() throws Exception {
        Measure<Double> query = site -> {
            try (var c = site.source().getConnection(); var s = c.prepareStatement("SELECT cents FROM bids WHERE item = 17")) {
                long begin = System.nanoTime();
                for (int i = 0; i < 20; i++) {
                    s.executeQuery().close();
                }
                return (System.nanoTime() - begin) / 20e6;
            }
        };
        double with = with("slow-database", query);
        double without = without(query);
        assertTrue(with > 4 && with > 2 * without, with + " ms a query with the fault, " + without + " without");
    }

    private static double pagesPerSecond(Auction site, int visitors, int times) throws Exception {
        together(site, visitors, 5, (browser, i) -> browser.get("/regions").statusCode());
        long begin = System.nanoTime();
        together(site, visitors, times, (browser, i) -> browser.get("/regions").statusCode());
        return visitors * times / ((System.nanoTime() - begin) / 1e9);
    }

    @Test
    void fewPermitsLetTwoPagesAskAtATime() throws Exception {
        servesTwoPagesAtATime("few-permits");
    }

    @Test
    void slowServiceHoldsUpEachPageAndNotItsNeighbours() throws Exception {
        // Twelve milliseconds a page, all six at once: no more than 500 pages a second, and more than any two at a time.
        double with = with("slow-service", site -> pagesPerSecond(site, 6, 30));
        assertTrue(with < 500, with + " pages/s");
    }

    @Test
    void fewWorkersServeTwoPagesAtATime() throws Exception {
        servesTwoPagesAtATime("few-workers");
    }

    private static void servesTwoPagesAtATime(String fault) throws Exception {
        // Twelve milliseconds a page, two at a time: at most 167 pages a second, on whatever machine.
        double with = with(fault, site -> pagesPerSecond(site, 6, 30));
        assertTrue(with < 170, with + " pages/s");
    }

    @Test
    void acceptOverflowDropsConnections() throws Exception {
        Measure<Long> served = site -> {
            var sockets = new ArrayList<java.net.Socket>();
            try {
                long connected = 0;
                for (int i = 0; i < 40; i++) {
                    var socket = new java.net.Socket();
                    sockets.add(socket);
                    try {
                        socket.connect(new java.net.InetSocketAddress("127.0.0.1", site.port()), 150);
                        connected++;
                    } catch (java.net.SocketTimeoutException dropped) {
                        // What the fault is about: the kernel answers nothing.
                    }
                }
                return connected;
            } finally {
                for (var socket : sockets) {
                    socket.close();
                }
            }
        };
        assertEquals(40, without(served));
        long with = with("accept-overflow", served);
        assertTrue(with < 30, with + " of 40 were accepted");
    }

    @Test
    void handshakeStormClosesEachConnection() throws Exception {
        Measure<String> connection = site -> {
            try (var socket = (javax.net.ssl.SSLSocket) Browser.trustAll().getSocketFactory().createSocket("127.0.0.1", site.port())) {
                socket.getOutputStream().write("GET /regions HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes());
                var answer = new StringBuilder();
                var in = socket.getInputStream();
                for (int b = in.read(); b >= 0 && answer.indexOf("\r\n\r\n") < 0; b = in.read()) {
                    answer.append((char) b);
                }
                return answer.toString().toLowerCase(Locale.ROOT);
            }
        };
        assertTrue(with("handshake-storm", connection).contains("connection: close"));
        assertTrue(!without(connection).contains("connection: close"));
    }

    @Test
    void diskWritesAnEntryForEveryPage() throws Exception {
        Measure<Boolean> logged = site -> {
            new Browser(site.port()).get("/regions");
            return java.nio.file.Files.exists(site.workPath().resolve("audit.log"));
        };
        assertEquals(true, with("disk", logged));
        assertEquals(false, without(logged));
    }

    @Test
    void cpuNeighbourComputesBesideTheSite() throws Exception {
        Measure<Double> besides = site -> {
            Thread.sleep(1000);
            return ProcessHandle.current().children().filter(p -> p.info().command().orElse("").endsWith("sh"))
                .mapToDouble(p -> p.info().totalCpuDuration().orElse(java.time.Duration.ZERO).toMillis() / 1e3).sum();
        };
        assertTrue(with("cpu-neighbour", besides) > 0.1);
        assertTrue(without(besides) < 0.1);
    }

    @Test
    void throttledStandsStillInEachPeriod() throws Exception {
        var cgroups = java.nio.file.Path.of("/sys/fs/cgroup/cpu");
        assumeTrue(java.nio.file.Files.isWritable(cgroups), "SKIP: no cgroup can be made here");
        long stopped = with("throttled", site -> {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            var stat = java.nio.file.Files.readString(cgroups.resolve("auction-" + ProcessHandle.current().pid() + "/cpu.stat"));
            return stat.lines().filter(l -> l.startsWith("nr_throttled ")).mapToLong(l -> Long.parseLong(l.substring(13))).sum();
        });
        assertTrue(stopped >= 3, "throttled in " + stopped + " periods");
    }

    /** System calls of this process that read, so far. */
    private static long readCalls() throws Exception {
        for (String line : java.nio.file.Files.readAllLines(java.nio.file.Path.of("/proc/self/io"))) {
            if (line.startsWith("syscr: ")) {
                return Long.parseLong(line.substring(7));
            }
        }
        throw new IllegalStateException("/proc/self/io has no syscr");
    }
}
