package dev.loadline.guard.tomcat;

import dev.loadline.guard.BusyPage;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.RequestView;
import dev.loadline.guard.Serving;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.apache.coyote.ActionCode;
import org.apache.coyote.Adapter;
import org.apache.coyote.Request;
import org.apache.coyote.Response;
import org.apache.tomcat.util.net.SocketEvent;

/** Answers 503 in place of the servlets where the guard says so, before anything is mapped or parsed. */
final class GuardedAdapter implements Adapter {
    private final Adapter next;
    private final GuardedEndpoint endpoint;

    GuardedAdapter(Adapter next, GuardedEndpoint endpoint) {
        this.next = next;
        this.endpoint = endpoint;
    }

    @Override
    public void service(Request request, Response response) throws Exception {
        Guard guard = endpoint.active();
        GuardedConnection connection = Serving.current();
        if (guard != null && connection == null) {
            learnProber(guard, request);
        }
        if (guard != null && connection != null && connection.refusesRequest(new View(request, connection))) {
            refuse(guard, connection, response);
            return;
        }
        next.service(request, response);
    }

    /** Streams of HTTP/2 are not told apart by connection; that their client asks for a health path is told all the same. */
    private static void learnProber(Guard guard, Request request) throws UnknownHostException {
        if (guard.isHealth(request.requestURI().toString())) {
            request.action(ActionCode.REQ_HOST_ADDR_ATTRIBUTE, null);
            guard.probed(InetAddress.getByName(request.remoteAddr().toString()), null);
        }
    }

    private static void refuse(Guard guard, GuardedConnection connection, Response response) throws Exception {
        BusyPage busy = guard.busy();
        response.setStatus(503);
        response.setHeader("Retry-After", busy.retryAfter());
        response.setHeader("Cache-Control", "no-store");
        if (connection.page()) {
            response.setHeader("Connection", "close");
        }
        response.setContentType(busy.contentType());
        response.setContentLength(busy.body().length);
        response.doWrite(ByteBuffer.wrap(busy.body()));
        response.action(ActionCode.CLOSE, null);
    }

    private record View(Request request, GuardedConnection connection) implements RequestView {
        @Override
        public String method() {
            return request.method().toString();
        }

        @Override
        public String path() {
            return request.requestURI().toString();
        }

        @Override
        public String header(String name) {
            return request.getHeader(name);
        }

        @Override
        public InetAddress remoteAddress() {
            return connection.remoteAddress();
        }

        @Override
        public int earlierRequests() {
            return connection.requests();
        }
    }

    @Override
    public boolean prepare(Request request, Response response) throws Exception {
        return next.prepare(request, response);
    }

    @Override
    public boolean asyncDispatch(Request request, Response response, SocketEvent status) throws Exception {
        return next.asyncDispatch(request, response, status);
    }

    @Override
    public void log(Request request, Response response, long time) {
        next.log(request, response, time);
    }

    @Override
    public void checkRecycled(Request request, Response response) {
        next.checkRecycled(request, response);
    }

    @Override
    public String getDomain() {
        return next.getDomain();
    }
}
