package dev.loadline.agent.programs;

import com.sun.net.httpserver.HttpServer;
import dev.loadline.agent.testing.Program;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;
import org.apache.http.client.methods.HttpGet;
import reactor.core.publisher.Mono;

/** Calls a service by HTTP, by a client that the command names; the service answers 404 to {@code nothing}, and {@code late} late. */
public final class HttpCalls extends Program {
    private static final Duration SOON = Duration.ofMillis(50);
    private static final long LATE_MILLIS = 500;

    private final HttpServer service;
    private final HttpClient client = HttpClient.newHttpClient();
    private final reactor.netty.http.client.HttpClient ofReactor = reactor.netty.http.client.HttpClient.create();
    private final io.vertx.core.http.HttpClient vertx = Vertx.vertx().createHttpClient();
    private final OkHttpClient okHttp = new OkHttpClient();
    private final org.eclipse.jetty.client.HttpClient jetty = new org.eclipse.jetty.client.HttpClient();
    private final CloseableHttpAsyncClient apacheAsync = HttpAsyncClients.createDefault();

    private HttpCalls() throws Exception {
        jetty.start();
        apacheAsync.start();
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.createContext("/late", exchange -> {
            try {
                Thread.sleep(LATE_MILLIS);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            exchange.close();
        });
        service.createContext("/parts", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().flush();
            try {
                Thread.sleep(LATE_MILLIS);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            exchange.getResponseBody().write('!');
            exchange.close();
        });
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
            case "future":
                return String.valueOf(client.sendAsync(HttpRequest.newBuilder(there).build(), BodyHandlers.ofString()).get().statusCode());
            case "refusedFuture":
                return client.sendAsync(HttpRequest.newBuilder(URI.create("http://127.0.0.1:1/")).build(), BodyHandlers.ofString())
                        .handle((answer, failure) -> answer == null ? "" : answer.toString()).get();
            case "reactor":
                return String.valueOf(ofReactor.get().uri(there).response().block().status().code());
            case "reactorInParts":
                return ofReactor.get().uri(there.resolve("/parts")).responseContent().aggregate().asString().block();
            case "refusedReactor":
                return ofReactor.get().uri("http://127.0.0.1:1/").response().map(Object::toString).onErrorReturn("").block();
            case "cancelledReactor":
                return ofReactor.get().uri(there.resolve("/late")).response().map(Object::toString).timeout(SOON, Mono.just("")).block();
            case "vertx":
                return String.valueOf(vertx.request(HttpMethod.GET, port, "127.0.0.1", "/item/7").compose(HttpClientRequest::send)
                        .map(HttpClientResponse::statusCode).toCompletionStage().toCompletableFuture().get());
            case "refusedVertx":
                return vertx.request(HttpMethod.GET, 1, "127.0.0.1", "/").map(Object::toString).otherwise("").toCompletionStage()
                        .toCompletableFuture().get();
            case "ok":
                try (var answer = okHttp.newCall(new Request.Builder().url(there.toString()).build()).execute()) {
                    return String.valueOf(answer.code());
                }
            case "okOnItsThread":
                var answered = new CompletableFuture<String>();
                okHttp.newCall(new Request.Builder().url(there.toString()).build()).enqueue(new Callback() {
                    @Override
                    public void onResponse(Call call, Response answer) {
                        answered.complete(String.valueOf(answer.code()));
                        answer.close();
                    }

                    @Override
                    public void onFailure(Call call, IOException failure) {
                        answered.completeExceptionally(failure);
                    }
                });
                return answered.get();
            case "apache4":
                try (var apache = org.apache.http.impl.client.HttpClients.createDefault(); var answer = apache.execute(new HttpGet(there))) {
                    return String.valueOf(answer.getStatusLine().getStatusCode());
                }
            case "apache5":
                try (var apache = HttpClients.createDefault()) {
                    return String.valueOf(apache.<Integer>execute(ClassicRequestBuilder.get(plain).build(), answer -> answer.getCode()));
                }
            case "jetty":
                return String.valueOf(jetty.newRequest(plain).send().getStatus());
            case "refusedJetty":
                var failed = new CompletableFuture<String>();
                jetty.newRequest("http://127.0.0.1:1/").send(result -> failed.complete(result.isFailed() ? "" : result.toString()));
                return failed.get();
            case "apacheAsync":
                return String.valueOf(apacheAsync.execute(SimpleRequestBuilder.get(plain).build(), null).get().getCode());
            case "refusedApacheAsync":
                try {
                    return apacheAsync.execute(SimpleRequestBuilder.get("http://127.0.0.1:1/").build(), null).get().toString();
                } catch (ExecutionException asItShould) {
                    return "";
                }
            case "cancelledApacheAsync":
                var late = apacheAsync.execute(SimpleRequestBuilder.get(plain.resolve("/late")).build(), null);
                Thread.sleep(SOON.toMillis());
                late.cancel(true);
                return "";
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
