package dev.loadline.agent.hooks.tomcat;

import dev.loadline.agent.boot.ServerProbes;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.Set;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Tells of one connector's requests and their services, as they pass the engine's pipeline, which is all connectors'; and of those of
 * connectors that have no hook, if there are any and it is the one to do so.
 */
final class RequestValve extends ValveBase {
    private final Connector connector;
    /** Connectors without hooks, whose requests it tells too. */
    volatile Set<Connector> others = Set.of();

    RequestValve(Connector connector) {
        super(true); // supports asynchronous requests
        this.connector = connector;
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        if (request.getConnector() != connector && !others.contains(request.getConnector())) {
            getNext().invoke(request, response);
            return;
        }
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
