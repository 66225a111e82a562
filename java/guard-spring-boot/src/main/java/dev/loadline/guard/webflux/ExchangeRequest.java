package dev.loadline.guard.webflux;

import dev.loadline.guard.ServerAnswer;
import dev.loadline.guard.ServerRequest;
import java.util.ArrayList;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseCookie;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.ErrorResponse;

/** What WebFlux says of a request. Its session is not asked for: to look one up may take a store, and time. */
record ExchangeRequest(ServerHttpRequest request) implements ServerRequest {
    @Override
    public String method() {
        return request.getMethod().name();
    }

    @Override
    public String path() {
        return request.getURI().getRawPath();
    }

    @Override
    public String pathInApplication() {
        return request.getPath().pathWithinApplication().value();
    }

    @Override
    public Iterable<String> headers(String name) {
        return lines(request.getHeaders(), name);
    }

    @Override
    public String peer() {
        var address = request.getRemoteAddress();
        return address == null || address.getAddress() == null ? null : address.getAddress().getHostAddress();
    }

    @Override
    public String sessionCookie() {
        return null;
    }

    @Override
    public Session session() {
        return Session.UNKNOWN;
    }

    /** @param error what it ended with, which becomes a status only behind the filters; else null */
    static ServerAnswer answer(ServerHttpResponse response, Throwable error) {
        List<String> cookies = new ArrayList<>(lines(response.getHeaders(), HttpHeaders.SET_COOKIE));
        response.getCookies().values().forEach(named -> named.stream().map(ResponseCookie::toString).forEach(cookies::add));
        return new ServerAnswer(status(response, error), cookies, Session.UNKNOWN, null);
    }

    private static int status(ServerHttpResponse response, Throwable error) {
        if (error != null) {
            return error instanceof ErrorResponse known ? known.getStatusCode().value() : HttpStatus.INTERNAL_SERVER_ERROR.value();
        }
        HttpStatusCode status = response.getStatusCode();
        return status == null ? HttpStatus.OK.value() : status.value();
    }

    /** Of the methods that tell all values of a header none is the same in Spring 6 and 7. */
    private static List<String> lines(HttpHeaders headers, String name) {
        if (headers.getFirst(name) == null) {
            return List.of();
        }
        List<String> lines = new ArrayList<>(1);
        headers.forEach((key, values) -> {
            if (key.equalsIgnoreCase(name)) {
                lines.addAll(values);
            }
        });
        return lines;
    }
}
