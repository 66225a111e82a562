package dev.loadline.auction;

import dev.loadline.bed.PortFile;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The command: starts a site, says where it is, and stops it when told to. */
public final class Main {
    /** Held here because java.util.logging forgets the level of a logger that nobody holds. */
    private static final Logger ROOT = Logger.getLogger("");
    /** Warns when seeding took a tenth of a second, as it does on a busy machine; nobody needs to know. */
    private static final Logger SESSION_IDS = Logger.getLogger("org.apache.catalina.util.SessionIdGeneratorBase");

    private Main() {
    }

    /** Exits with 0 when it was stopped, 1 when it failed, 2 on a wrong command line. */
    public static void main(String[] args) {
        if (List.of(args).contains("--help") || List.of(args).contains("-h")) {
            System.out.print(Config.help());
            return;
        }
        try {
            run(Config.parse(List.of(args)));
        } catch (UsageException e) {
            System.err.println("auction: " + e.getMessage());
            System.exit(2);
        } catch (Exception e) {
            System.err.println("auction: " + describe(e));
            System.exit(1);
        }
    }

    private static void run(Config config) throws Exception {
        ROOT.setLevel(Level.WARNING);
        SESSION_IDS.setLevel(Level.SEVERE);
        long begin = System.nanoTime();
        Auction auction = Auction.start(config);
        var ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                auction.close();
                if (config.portFile() != null) {
                    Files.deleteIfExists(config.portFile());
                }
            } catch (Exception e) {
                System.err.println("auction: while stopping: " + describe(e));
            } finally {
                ended.countDown();
            }
        }, "auction-stop"));
        auction.closedByCaller();
        if (config.portFile() != null) {
            PortFile.write(config.portFile(), auction.port());
        }
        System.out.printf("auction: ready on https://127.0.0.1:%d/ (pid %d, %d items, %d users, %s, %s, JDK %s, %.1f s)%n",
            auction.port(), ProcessHandle.current().pid(), config.items(), config.users(), config.key().title(),
            auction.describe(), Runtime.version().feature(), (System.nanoTime() - begin) / 1e9);
        if (auction.httpPort() > 0) {
            System.out.printf("auction: plain http://127.0.0.1:%d/%n", auction.httpPort());
        }
        System.out.flush();
        if (config.maxSeconds() == 0) {
            ended.await();
        } else if (!ended.await(config.maxSeconds(), TimeUnit.SECONDS)) {
            System.exit(0);
        }
    }

    private static String describe(Exception e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }
}
