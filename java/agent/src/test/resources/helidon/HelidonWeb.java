import dev.loadline.agent.testing.Program;
import io.helidon.http.Status;
import io.helidon.webserver.WebServer;

/** A server of Helidon's, for {@code HelidonIT}: compiled by the JVM that runs it, since the tests' own compiler may know no class of Java 21. */
public final class HelidonWeb extends Program {
    private WebServer server;

    @Override
    protected String handle(String command) throws Exception {
        server = WebServer.builder().host("127.0.0.1").port(0).routing(routing -> routing
                .get("/hello", (request, response) -> {
                    Thread.sleep(20);
                    response.send("hello");
                })
                .post("/items/{id}", (request, response) -> {
                    request.content().as(String.class);
                    response.status(Status.CREATED_201).send();
                })
                .get("/fails", (request, response) -> {
                    throw new IllegalStateException("on purpose");
                })).build().start();
        return String.valueOf(server.port());
    }

    public static void main(String[] arguments) throws Exception {
        new HelidonWeb().serve();
    }
}
