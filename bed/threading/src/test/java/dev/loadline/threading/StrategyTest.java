package dev.loadline.threading;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.loadline.bed.Options;
import dev.loadline.threading.giop.Ior;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What each strategy is, on plain sockets: how many requests are in the servant at once. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class StrategyTest {
    private static final int SPINS = 1_000;

    @ParameterizedTest
    @CsvSource({"PER_CLIENT,false,6", "THREADED,false,1", "PER_REQUEST,false,6", "POOL,false,3", "PER_CLIENT,true,6", "THREADED,true,1", "PER_REQUEST,true,6"})
    void soManyOfSixClientsAreServedAtOnce(Strategy strategy, boolean virtual, int atOnce) throws Exception {
        assumeTrue(!virtual || Runtime.version().feature() >= 21, "virtual threads need JDK 21");
        var servant = new Servant(SPINS);
        try (Broker.Running running = new SocketBroker().start(servant, new Broker.Setting(strategy, virtual, 3, 0))) {
            Client.Result result = Client.run(Ior.parse(running.ior()), new Client.Plan(6, 100, 20_000, 0, 0.3, 0));
            assertEquals(0, result.wrong());
            assertTrue(result.responses().getTotalCount() > 0);
            assertEquals(atOnce, servant.mostActive());
        }
    }

    @Test
    void aPoolOfVirtualThreadsIsRefused() {
        var setting = new Broker.Setting(Strategy.POOL, true, 3, 0);
        assertThrows(Options.UsageException.class, () -> new SocketBroker().start(new Servant(SPINS), setting));
    }

    @Test
    void aWrongAnswerIsCounted() throws Exception {
        Work wrongOnce = (number, cpuUs, delayUs) -> Work.answer(number) + (number == 7 ? 1 : 0);
        try (Broker.Running running = new SocketBroker().start(wrongOnce, new Broker.Setting(Strategy.PER_CLIENT, false, 1, 0))) {
            assertEquals(1, Client.run(Ior.parse(running.ior()), new Client.Plan(2, 0, 0, 0, 0.2, 0)).wrong());
        }
    }

    @Test
    void whoSendsNonsenseIsSentAwayAndTheOthersAreServed() throws Exception {
        try (Broker.Running running = new SocketBroker().start(new Servant(SPINS), new Broker.Setting(Strategy.PER_REQUEST, false, 1, 0))) {
            Ior server = Ior.parse(running.ior());
            try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                socket.setSoTimeout(10_000);
                socket.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes());
                assertEquals(-1, socket.getInputStream().read(), "the connection stays open");
            }
            assertEquals(0, Client.run(server, new Client.Plan(1, 0, 0, 0, 0.1, 0)).wrong());
        }
    }

    @Test
    void aServerThatGoesAwayIsAFailure() throws Exception {
        Broker.Running running = new SocketBroker().start(new Servant(SPINS), new Broker.Setting(Strategy.POOL, false, 2, 0));
        Ior server = Ior.parse(running.ior());
        var closing = new Thread(() -> {
            try {
                Thread.sleep(200);
                running.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        closing.start();
        assertThrows(IOException.class, () -> Client.run(server, new Client.Plan(4, 0, 0, 0, 30, 0)));
        closing.join();
    }

    @Test
    void theWorkOfRequestsIsExponentialAndOfItsNumberAlone() {
        int draws = 200_000;
        double sum = 0;
        double squares = 0;
        int aboveTwice = 0;
        for (int number = 0; number < draws; number++) {
            double x = Servant.exponential(number, 0);
            assertEquals(x, Servant.exponential(number, 0));
            sum += x;
            squares += x * x;
            aboveTwice += x > 2 ? 1 : 0;
        }
        // Five standard errors of each.
        double root = Math.sqrt(draws);
        assertEquals(1, sum / draws, 5 / root);
        assertEquals(2, squares / draws, 5 * Math.sqrt(20) / root);
        assertEquals(Math.exp(-2), aboveTwice / (double) draws, 5 * Math.sqrt(Math.exp(-2)) / root);
    }
}
