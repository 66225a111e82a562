package dev.loadline.guard.jetty;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.GuardedRequest;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.RequestGate;
import dev.loadline.guard.ServerAnswer;
import dev.loadline.guard.ServerRequest;
import dev.loadline.guard.Serving;
import java.nio.ByteBuffer;
import java.util.List;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpStream;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Guards requests in place of connections, for all that is behind it, servlets or not: {@code server.insertHandler(new
 * GuardHandler("trustedProxies=10.0.0.0/8"))}. Sessions are known by their cookies: which of them a context has is not looked up.
 */
public class GuardHandler extends Handler.Wrapper {
    private static final System.Logger LOG = System.getLogger("loadline-guard");

    private final GuardSettings settings;
    private RequestClassifier classifier;
    private volatile RequestGate gate;

    public GuardHandler() {
        this("");
    }

    /**
     * @param options see {@link GuardSettings#of}
     * @throws IllegalArgumentException saying which is wrong
     */
    public GuardHandler(String options) {
        settings = GuardSettings.of(options);
    }

    /** Who tells which requests and customers matter, and what their sessions are. */
    public void setGuardClassifier(RequestClassifier classifier) {
        this.classifier = classifier;
        Guard now = guard();
        if (now != null) {
            now.classifier(classifier);
        }
    }

    /** Its modes, figures and classifier; null while it is not started. */
    public Guard guard() {
        RequestGate now = gate;
        return now == null ? null : now.guard();
    }

    @Override
    protected void doStart() throws Exception {
        var made = new RequestGate("requests of Jetty", settings);
        if (classifier != null) {
            made.guard().classifier(classifier);
        }
        if (getServer().getThreadPool() instanceof QueuedThreadPool pool) {
            made.workerQueue(pool::getQueueSize);
        } else {
            LOG.log(System.Logger.Level.INFO, "loadline-guard: how many requests wait for a thread is not known of " + getServer().getThreadPool()
                + ": overload is seen by what threads wait for a CPU alone, which a small pool of them hides");
        }
        made.start();
        gate = made;
        super.doStart();
    }

    @Override
    protected void doStop() throws Exception {
        RequestGate now = gate;
        gate = null;
        try {
            super.doStop();
        } finally {
            if (now != null) {
                now.close();
            }
        }
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        return handle(gate, request, response, callback, super::handle);
    }

    /** @param gate null: all are let in */
    static boolean handle(RequestGate gate, Request request, Response response, Callback callback, Request.Handler next) throws Exception {
        GuardedRequest asked = gate == null ? null : gate.request(new CoreRequest(request));
        if (asked == null) {
            return next.handle(request, response, callback);
        }
        if (asked.refused()) {
            BusyAnswer.write(gate.guard().busy(), false, response, callback);
            return true;
        }
        var served = new Served(asked);
        request.addHttpStreamWrapper(served::watch);
        Serving.Apart fromConnection = Serving.apart();
        GuardedRequest.Run run = asked.enter();
        GuardedRequest.answersHere(true);
        try {
            return next.handle(request, response, callback);
        } finally {
            GuardedRequest.answersHere(false);
            run.leave();
            fromConnection.over();
        }
    }

    /** A request until its answer is complete. */
    private static final class Served {
        private final GuardedRequest request;
        private volatile int status = HttpStatus.INTERNAL_SERVER_ERROR_500;
        private volatile List<String> setCookies = List.of();

        Served(GuardedRequest request) {
            this.request = request;
        }

        HttpStream watch(HttpStream stream) {
            return new HttpStream.Wrapper(stream) {
                @Override
                public void send(MetaData.Request to, MetaData.Response answer, boolean last, ByteBuffer content, Callback callback) {
                    if (answer != null && !HttpStatus.isInformational(answer.getStatus())) {
                        status = answer.getStatus();
                        setCookies = answer.getHttpFields().getValuesList(HttpHeader.SET_COOKIE);
                    }
                    super.send(to, answer, last, content, callback);
                }

                @Override
                public void succeeded() {
                    super.succeeded();
                    ended();
                }

                @Override
                public void failed(Throwable failure) {
                    super.failed(failure);
                    ended();
                }
            };
        }

        private void ended() {
            request.ended(() -> new ServerAnswer(status, setCookies, ServerRequest.Session.UNKNOWN, null));
        }
    }

    /** What Jetty says of a request before it is in a context. */
    private record CoreRequest(Request request) implements ServerRequest {
        @Override
        public String method() {
            return request.getMethod();
        }

        @Override
        public String path() {
            return request.getHttpURI().getPath();
        }

        @Override
        public String pathInApplication() {
            return path();
        }

        @Override
        public Iterable<String> headers(String name) {
            return request.getHeaders().getValuesList(name);
        }

        @Override
        public String peer() {
            return Request.getRemoteAddr(request);
        }

        @Override
        public boolean onGuardedConnection() {
            return Serving.isGuarded() && request.getConnectionMetaData().getHttpVersion() != HttpVersion.HTTP_2;
        }

        @Override
        public String sessionCookie() {
            return null;
        }

        @Override
        public Session session() {
            return Session.UNKNOWN;
        }
    }
}
