package dev.loadline.guard.tomcat;

import dev.loadline.guard.BusyPage;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.GuardedRequest;
import dev.loadline.guard.RequestView;
import dev.loadline.guard.Serving;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import org.apache.coyote.ActionCode;
import org.apache.coyote.Adapter;
import org.apache.coyote.Request;
import org.apache.coyote.Response;
import org.apache.tomcat.util.buf.MessageBytes;
import org.apache.tomcat.util.net.SocketEvent;

/** Answers 503 in place of the servlets where the guard says so, before anything is mapped or parsed. */
final class GuardedAdapter implements Adapter {
    private final Adapter next;
    private final GuardedEndpoint endpoint;
    private final Supplier<StreamGate> streams;

    /** @param streams who decides about streams of HTTP/2; null: nobody */
    GuardedAdapter(Adapter next, GuardedEndpoint endpoint, Supplier<StreamGate> streams) {
        this.next = next;
        this.endpoint = endpoint;
        this.streams = streams;
    }

    @Override
    public void service(Request request, Response response) throws Exception {
        Guard guard = endpoint.active();
        GuardedConnection connection = Serving.current();
        if (guard != null && connection == null) {
            learnProber(guard, request);
        }
        if (guard != null && connection != null && connection.refusesRequest(new View(request, connection))) {
            refuse(guard.busy(), connection.page(), response);
            return;
        }
        StreamGate gate = guard == null || connection != null ? null : streams.get();
        if (gate != null && StreamGate.isStream(request)) {
            stream(gate, request, response);
        } else {
            next.service(request, response);
        }
    }

    private void stream(StreamGate gate, Request request, Response response) throws Exception {
        GuardedRequest decided = gate.ask(request);
        if (decided == null) {
            next.service(request, response);
        } else if (decided.refused()) {
            refuse(gate.guard().busy(), false, response);
        } else {
            StreamGate.run(decided, request, response, () -> {
                next.service(request, response);
                return true;
            });
        }
    }

    /** Streams of HTTP/2 are not told apart by connection ({@link StreamGate} has them); that their client asks for a health path is told all the same. */
    private static void learnProber(Guard guard, Request request) throws UnknownHostException {
        if (guard.isHealth(text(request.requestURI()))) {
            request.action(ActionCode.REQ_HOST_ADDR_ATTRIBUTE, null);
            guard.probed(InetAddress.getByName(request.remoteAddr().toString()), null);
        }
    }

    /** @param close whether its connection is not to be used again */
    private static void refuse(BusyPage busy, boolean close, Response response) throws Exception {
        response.setStatus(503);
        response.setHeader("Retry-After", busy.retryAfter());
        response.setHeader("Cache-Control", "no-store");
        if (close) {
            response.setHeader("Connection", "close");
        }
        response.setContentType(busy.contentType());
        response.setContentLength(busy.body().length);
        response.doWrite(ByteBuffer.wrap(busy.body()));
        response.action(ActionCode.CLOSE, null);
    }

    /** Leaves it as it is: in Tomcat before 10.1.11 {@code toString} makes another type of it, for which Catalina then finds no application. */
    static String text(MessageBytes value) {
        return value.getType() == MessageBytes.T_BYTES ? value.getByteChunk().toString() : value.toString();
    }

    private record View(Request request, GuardedConnection connection) implements RequestView {
        @Override
        public String method() {
            return text(request.method());
        }

        @Override
        public String path() {
            return text(request.requestURI());
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
        GuardedRequest decided = StreamGate.under(request);
        return decided == null ? next.asyncDispatch(request, response, status)
            : StreamGate.run(decided, request, response, () -> next.asyncDispatch(request, response, status));
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
