package dev.loadline.agent.hooks.tomcat;

import dev.loadline.agent.boot.ServerProbes;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletException;
import java.io.IOException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/** Tells of requests and their services, as they pass the engine's pipeline. */
final class RequestValve extends ValveBase {
    RequestValve() {
        super(true); // supports asynchronous requests
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        if (!request.isAsyncDispatching()) { // else it comes for the second time
            ServerProbes.arrived(request.getMethod(), request.getRequestURI());
        }
        Wrapper servlet = request.getWrapper();
        int service = servlet == null ? 0 : ServerProbes.serviceBegin(servlet.getName());
        try {
            getNext().invoke(request, response);
        } finally {
            ServerProbes.serviceEnd(service);
            boolean asynchronous = request.isAsync();
            if (asynchronous) {
                request.getAsyncContextInternal().addListener(new Completion(response));
            }
            ServerProbes.answered(response.getStatus(), asynchronous);
        }
    }

    /** An asynchronous request is over, perhaps in another visit. */
    private static final class Completion implements AsyncListener {
        private final Response response;

        Completion(Response response) {
            this.response = response;
        }

        @Override
        public void onComplete(AsyncEvent event) {
            ServerProbes.answered(response.getStatus(), false);
        }

        @Override
        public void onTimeout(AsyncEvent event) {}

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {
            event.getAsyncContext().addListener(this); // each start forgets those who listened before
        }
    }
}
