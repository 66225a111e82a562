package dev.loadline.agent.programs;

import com.sun.net.httpserver.HttpServer;
import dev.loadline.agent.testing.Program;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;
import org.apache.http.client.methods.HttpGet;

/** Calls a service by HTTP, by a client that the command names; the service answers 404 to {@code nothing}. */
public final class HttpCalls extends Program {
    private final HttpServer service;
    private final HttpClient client = HttpClient.newHttpClient();

    private HttpCalls() throws IOException {
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.createContext("/", exchange -> {
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/nothing") ? 404 : 204, -1);
            exchange.close();
        });
        service.start();
    }

    public static void main(String[] arguments) throws Exception {
        try {
            new HttpCalls().serve();
        } finally {
            System.exit(0); // the service's thread would go on
        }
    }

    @Override
    protected String handle(String command) throws Exception {
        int port = service.getAddress().getPort();
        URI there = URI.create("http://someone:secret@127.0.0.1:" + port + "/item/7?key=1");
        URI plain = URI.create("http://127.0.0.1:" + port + "/item/7?key=1"); // Apache's 5 refuses the other
        switch (command) {
            case "port":
                return String.valueOf(port);
            case "url":
                return status((HttpURLConnection) there.toURL().openConnection());
            case "nothing":
                return status((HttpURLConnection) there.resolve("/nothing").toURL().openConnection());
            case "refused":
                try {
                    client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:1/")).build(), BodyHandlers.ofString());
                    throw new IllegalStateException("somebody listens on port 1");
                } catch (IOException asItShould) {
                    return "";
                }
            case "client":
                return String.valueOf(client.send(HttpRequest.newBuilder(there).build(), BodyHandlers.ofString()).statusCode());
            case "apache4":
                try (var apache = org.apache.http.impl.client.HttpClients.createDefault(); var answer = apache.execute(new HttpGet(there))) {
                    return String.valueOf(answer.getStatusLine().getStatusCode());
                }
            case "apache5":
                try (var apache = HttpClients.createDefault()) {
                    return String.valueOf(apache.<Integer>execute(ClassicRequestBuilder.get(plain).build(), answer -> answer.getCode()));
                }
            default:
                throw new IllegalArgumentException(command);
        }
    }

    /** As frameworks do: the code first, then the stream. */
    private static String status(HttpURLConnection connection) throws IOException {
        int code = connection.getResponseCode();
        if (code < 400) {
            connection.getInputStream().close();
        }
        return String.valueOf(code);
    }
}
