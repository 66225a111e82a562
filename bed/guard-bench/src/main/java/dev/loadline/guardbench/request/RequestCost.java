package dev.loadline.guardbench.request;

import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.GuardedRequest;
import dev.loadline.guard.RequestGate;
import dev.loadline.guard.ServerAnswer;
import dev.loadline.guard.ServerRequest;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Time that the guard takes of a request, from its decision to what it learns of the answer; the server's part is not in it. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RequestCost {
    private static final int CROWD = 1_000;

    private record Asked(List<String> cookies) implements ServerRequest {
        @Override
        public String method() {
            return "GET";
        }

        @Override
        public String path() {
            return "/shop/items";
        }

        @Override
        public String pathInApplication() {
            return "/items";
        }

        @Override
        public Iterable<String> headers(String name) {
            return name.equals("Cookie") ? cookies : List.of();
        }

        @Override
        public String peer() {
            return "10.1.2.3";
        }

        @Override
        public String sessionCookie() {
            return "JSESSIONID";
        }

        @Override
        public Session session() {
            return cookies.isEmpty() ? Session.UNKNOWN : Session.VALID;
        }
    }

    private final Asked known = new Asked(List.of("theme=dark; JSESSIONID=0123456789ABCDEF0123456789ABCDEF"));
    private final Asked stranger = new Asked(List.of());
    private final ServerAnswer good = new ServerAnswer(200, List.of(), ServerRequest.Session.VALID, null);
    private final ServerAnswer plain = new ServerAnswer(200, List.of(), ServerRequest.Session.UNKNOWN, null);
    private RequestGate calm;
    private RequestGate full;

    @Setup
    public void open() {
        calm = new RequestGate("calm", GuardSettings.of("cpus=1000"));
        calm.start();
        served(known, good);
        // Not started: nothing is measured, and all these compete for one CPU for ever.
        full = new RequestGate("full", GuardSettings.of("cpus=1; fullCost=80000s"));
        for (int i = 0; i < CROWD; i++) {
            full.request(stranger).enter();
        }
        if (!full.request(stranger).refused()) {
            throw new IllegalStateException("nobody is refused");
        }
    }

    @TearDown
    public void close() {
        calm.close();
        full.close();
    }

    private GuardedRequest served(ServerRequest asked, ServerAnswer answer) {
        GuardedRequest request = calm.request(asked);
        request.enter().leave();
        request.ended(() -> answer);
        return request;
    }

    @Benchmark
    public Object of_a_session_under_way() {
        return served(known, good);
    }

    @Benchmark
    public Object that_begins_a_session() {
        return served(stranger, plain);
    }

    @Benchmark
    public Object that_is_refused() {
        return full.request(stranger).refused();
    }
}
