package dev.loadline.threading.glassfish;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.bed.Options;
import dev.loadline.threading.Broker;
import dev.loadline.threading.Client;
import dev.loadline.threading.Servant;
import dev.loadline.threading.Strategy;
import dev.loadline.threading.giop.Ior;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class GlassfishTest {
    private static final int SPINS = 1_000;
    /** Held here because java.util.logging forgets the level of a logger that nobody holds. */
    private static final Logger ROOT = Logger.getLogger("");

    @BeforeAll
    static void quiet() {
        ROOT.setLevel(Level.OFF);
    }

    @Test
    void aThreadPerClientIsRefused() {
        var setting = new Broker.Setting(Strategy.PER_CLIENT, false, 3, 0);
        assertThrows(Options.UsageException.class, () -> new GlassfishBroker().start(new Servant(SPINS), setting));
    }

    @ParameterizedTest
    @CsvSource({"THREADED,false,1", "PER_REQUEST,false,6", "POOL,false,3", "PER_REQUEST,true,6"})
    void soManyOfSixClientsAreServedAtOnce(Strategy strategy, boolean virtual, int atOnce) throws Exception {
        assumeTrue(!virtual || Runtime.version().feature() >= 21, "virtual threads need JDK 21");
        var servant = new Servant(SPINS);
        try (Broker.Running running = new GlassfishBroker().start(servant, new Broker.Setting(strategy, virtual, 3, 0))) {
            Client.Result result = Client.run(Ior.parse(running.ior()), new Client.Plan(6, 100, 20_000, 0.2, 0.4, 0));
            assertEquals(0, result.wrong());
            assertTrue(result.responses().getTotalCount() > 0);
            assertEquals(atOnce, servant.mostActive());
        }
    }
}
