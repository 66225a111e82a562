package dev.loadline.threading.jacorb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.bed.Options;
import dev.loadline.threading.Broker;
import dev.loadline.threading.Client;
import dev.loadline.threading.Servant;
import dev.loadline.threading.SocketBroker;
import dev.loadline.threading.Strategy;
import dev.loadline.threading.Work;
import dev.loadline.threading.giop.Ior;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Request;
import org.omg.CORBA.TCKind;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class JacorbTest {
    private static final int SPINS = 1_000;
    /** Held here because java.util.logging forgets the level of a logger that nobody holds. */
    private static final Logger ROOT = Logger.getLogger("");

    @BeforeAll
    static void quiet() {
        ROOT.setLevel(Level.SEVERE);
    }

    @ParameterizedTest
    @CsvSource({"THREADED,1", "PER_REQUEST,6", "POOL,3"})
    void soManyOfSixClientsAreServedAtOnce(Strategy strategy, int atOnce) throws Exception {
        var servant = new Servant(SPINS);
        try (Broker.Running running = new JacorbBroker().start(servant, new Broker.Setting(strategy, false, 3, 0))) {
            Client.Result result = Client.run(Ior.parse(running.ior()), new Client.Plan(6, 100, 20_000, 0.2, 0.4, 0));
            assertEquals(0, result.wrong());
            assertTrue(result.responses().getTotalCount() > 0);
            assertEquals(atOnce, servant.mostActive());
        }
    }

    @Test
    void aThreadPerClientIsRefused() {
        var setting = new Broker.Setting(Strategy.PER_CLIENT, false, 3, 0);
        assertThrows(Options.UsageException.class, () -> new JacorbBroker().start(new Servant(SPINS), setting));
    }

    /** The plain server speaks what a broker speaks: JacORB as a client gets its answers. */
    @Test
    void thePlainServerAnswersABroker() throws Exception {
        ORB orb = Jacorb.client();
        try (Broker.Running running = new SocketBroker().start(new Servant(SPINS), new Broker.Setting(Strategy.PER_CLIENT, false, 1, 0))) {
            for (int number = 0; number < 3; number++) {
                Request request = orb.string_to_object(running.ior())._request(Work.OPERATION);
                for (int argument : new int[] {number, 10, 10}) {
                    request.add_in_arg().insert_long(argument);
                }
                request.set_return_type(orb.get_primitive_tc(TCKind.tk_long));
                request.invoke();
                assertEquals(null, request.env().exception());
                assertEquals(Work.answer(number), request.return_value().extract_long());
            }
        } finally {
            orb.shutdown(false);
        }
    }
}
