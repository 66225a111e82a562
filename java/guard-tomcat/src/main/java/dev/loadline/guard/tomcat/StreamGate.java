package dev.loadline.guard.tomcat;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardedRequest;
import dev.loadline.guard.RequestGate;
import dev.loadline.guard.ServerAnswer;
import dev.loadline.guard.ServerRequest;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.coyote.ActionCode;
import org.apache.coyote.Request;
import org.apache.coyote.Response;
import org.apache.tomcat.util.http.MimeHeaders;

/**
 * Guards the streams of HTTP/2 of one connector, before anything is mapped or parsed ({@link RequestGate#ofStreams}). Sessions are known
 * by their cookies: which of them an application has is not looked up; a {@link GuardValve} does, and where one runs there is no such gate.
 */
final class StreamGate implements AutoCloseable {
    /** Of {@code Request.setNote}: 17 to 31 are nobody's. */
    private static final int NOTE = 17;

    private final RequestGate gate;

    StreamGate(Guard ofConnections, Supplier<Executor> workers) {
        gate = RequestGate.ofStreams(ofConnections);
        gate.workerQueue(() -> waiting(workers.get()));
        gate.start();
    }

    private static int waiting(Executor workers) {
        if (workers instanceof org.apache.tomcat.util.threads.ThreadPoolExecutor pool) {
            return pool.getQueue().size();
        }
        if (workers instanceof java.util.concurrent.ThreadPoolExecutor pool) {
            return pool.getQueue().size();
        }
        return workers instanceof org.apache.catalina.core.StandardThreadExecutor pool ? pool.getQueueSize() : 0;
    }

    Guard guard() {
        return gate.guard();
    }

    @Override
    public void close() {
        gate.close();
    }

    static boolean isStream(Request request) {
        return request.protocol().equals("HTTP/2.0");
    }

    /** Decides about a stream; null while the guard is off. */
    GuardedRequest ask(Request request) {
        request.setNote(NOTE, null);
        return gate.request(new Stream(request));
    }

    /** Whom it let in, if a stream of this request goes on after {@code startAsync}; else null. */
    static GuardedRequest under(Request request) {
        return request.getNote(NOTE) instanceof GuardedRequest decided ? decided : null;
    }

    /** Part of the work for a stream. */
    interface Work {
        /** @return whether it went well */
        boolean run() throws Exception;
    }

    /** Does what there is to do for a stream that was let in, until its answer is complete or another thread is to go on. */
    static boolean run(GuardedRequest decided, Request request, Response response, Work work) throws Exception {
        request.setNote(NOTE, decided);
        GuardedRequest.Run run = decided.enter();
        boolean well = false;
        GuardedRequest.answersHere(true);
        try {
            well = work.run();
            return well;
        } finally {
            GuardedRequest.answersHere(false);
            run.leave();
            if (!well || !isAsync(request)) {
                int status = well ? response.getStatus() : 500;
                request.setNote(NOTE, null);
                decided.ended(() -> new ServerAnswer(status, all(response.getMimeHeaders(), "Set-Cookie"), ServerRequest.Session.UNKNOWN, null));
            }
        }
    }

    private static boolean isAsync(Request request) {
        var goesOn = new AtomicBoolean();
        request.action(ActionCode.ASYNC_IS_ASYNC, goesOn);
        return goesOn.get();
    }

    private static List<String> all(MimeHeaders headers, String name) {
        return Collections.list(headers.values(name));
    }

    private record Stream(Request request) implements ServerRequest {
        @Override
        public String method() {
            return GuardedAdapter.text(request.method());
        }

        @Override
        public String path() {
            return GuardedAdapter.text(request.requestURI());
        }

        @Override
        public String pathInApplication() {
            return path();
        }

        @Override
        public Iterable<String> headers(String name) {
            return all(request.getMimeHeaders(), name);
        }

        @Override
        public String peer() {
            request.action(ActionCode.REQ_HOST_ADDR_ATTRIBUTE, null);
            return request.remoteAddr().toString();
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
