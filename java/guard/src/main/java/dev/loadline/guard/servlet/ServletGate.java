package dev.loadline.guard.servlet;

import dev.loadline.guard.BusyPage;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.GuardedRequest;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.RequestGate;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/** A gate of requests that come as servlets have them: what {@link GuardFilter} does, and a server's own hook may. */
public final class ServletGate implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("loadline-guard");
    private static final String REQUEST = ServletGate.class.getName() + ".request";

    private final RequestGate gate;
    private final AtomicBoolean lookedForQueue = new AtomicBoolean();

    /** Who serves a request that is let in. */
    @FunctionalInterface
    public interface Next {
        void serve() throws IOException, ServletException;
    }

    /**
     * It measures from now on.
     *
     * @param name as an administrator knows it
     * @param classifier null for none
     */
    public ServletGate(String name, GuardSettings settings, RequestClassifier classifier) {
        gate = new RequestGate(name, settings);
        if (classifier != null) {
            gate.guard().classifier(classifier);
        }
        gate.start();
    }

    /** Its modes, figures and classifier. */
    public Guard guard() {
        return gate.guard();
    }

    @Override
    public void close() {
        gate.close();
    }

    /**
     * Serves a request, or refuses it.
     *
     * @param again whether it is dispatched again, to be completed after {@code startAsync}
     */
    public void serve(HttpServletRequest request, HttpServletResponse response, boolean again, Next next) throws IOException, ServletException {
        if (request.getAttribute(REQUEST) instanceof GuardedRequest decided) {
            if (again) {
                run(decided, next);
            } else {
                next.serve(); // within what runs already
            }
        } else if (again) {
            next.serve(); // the guard was off when it began
        } else {
            begin(request, response, next);
        }
    }

    private void begin(HttpServletRequest request, HttpServletResponse response, Next next) throws IOException, ServletException {
        if (!lookedForQueue.getAndSet(true)) {
            findQueue(request);
        }
        var asked = new ServletServerRequest(request);
        GuardedRequest guarded = gate.request(asked);
        if (guarded == null) {
            next.serve();
        } else if (guarded.refused()) {
            refuse(response);
        } else {
            request.setAttribute(REQUEST, guarded);
            boolean served = false;
            try {
                run(guarded, next);
                served = true;
            } finally {
                if (!goesOn(guarded, asked, response)) {
                    // What is thrown becomes a status only behind the filters.
                    int status = served ? response.getStatus() : HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
                    guarded.ended(() -> asked.answer(response, status));
                }
            }
        }
    }

    private static void run(GuardedRequest guarded, Next next) throws IOException, ServletException {
        GuardedRequest.Run run = guarded.enter();
        try {
            next.serve();
        } finally {
            run.leave();
        }
    }

    private void refuse(HttpServletResponse response) throws IOException {
        BusyPage busy = gate.guard().busy();
        response.setStatus(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
        response.setHeader("Retry-After", busy.retryAfter());
        response.setHeader("Cache-Control", "no-store");
        response.setContentType(busy.contentType());
        response.setContentLength(busy.body().length);
        response.getOutputStream().write(busy.body());
    }

    /** Whether its answer is completed later, by another thread. */
    private static boolean goesOn(GuardedRequest guarded, ServletServerRequest asked, HttpServletResponse response) {
        if (!asked.request().isAsyncStarted()) {
            return false;
        }
        try {
            asked.request().getAsyncContext().addListener(new Completion(guarded, asked, response));
            return true;
        } catch (IllegalStateException e) {
            return false; // completed in this moment
        }
    }

    /** The queue of a server's workers is before its filters: none of the servlet API tells them of it. */
    private void findQueue(HttpServletRequest request) {
        try {
            var queue = WorkerQueues.of(request);
            if (queue != null) {
                gate.workerQueue(queue);
            } else {
                LOG.log(System.Logger.Level.INFO, "loadline-guard: this server does not show how many requests wait for a worker:"
                    + " overload is seen by what its workers wait for a CPU alone, which a small pool of them hides");
            }
        } catch (RuntimeException | Error e) {
            gate.guard().failed(e);
        }
    }

    private record Completion(GuardedRequest guarded, ServletServerRequest asked, HttpServletResponse response) implements AsyncListener {
        @Override
        public void onComplete(AsyncEvent event) {
            guarded.ended(() -> asked.answer(response, response.getStatus()));
        }

        @Override
        public void onStartAsync(AsyncEvent event) {
            event.getAsyncContext().addListener(this); // a dispatch begins another time: listeners are of one
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            // It is completed after that.
        }

        @Override
        public void onError(AsyncEvent event) {
            // It is completed after that.
        }
    }
}
