package dev.loadline.guard.tomcat;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.RequestClassifier;
import dev.loadline.guard.servlet.ServletGate;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Guards requests in place of connections: {@code <Valve className="dev.loadline.guard.tomcat.GuardValve"/>} in the {@code
 * Engine} of {@code server.xml}, for all applications and connectors, of whatever protocol. The attribute {@code guard} takes
 * the options. Before any filter; sessions are not looked up for who is refused.
 */
public class GuardValve extends ValveBase {
    private static final AtomicInteger RUNNING = new AtomicInteger();

    private String options = "";
    private String className;
    private RequestClassifier classifier;
    private volatile ServletGate gate;

    public GuardValve() {
        super(true);
    }

    /** Whether there is one: then streams of HTTP/2 are its own, and no connector's. */
    static boolean runs() {
        return RUNNING.get() > 0;
    }

    /** The options; see {@link GuardSettings#of}. With a wrong one what holds the valve does not start. */
    public void setGuard(String options) {
        this.options = options;
    }

    public String getGuard() {
        return options;
    }

    /** The name of a class that tells which requests and customers matter, and what their sessions are. */
    public void setClassifier(String className) {
        this.className = className;
    }

    public String getClassifier() {
        return className;
    }

    /** The same in code. */
    public void setGuardClassifier(RequestClassifier classifier) {
        this.classifier = classifier;
        if (gate != null) {
            gate.guard().classifier(classifier);
        }
    }

    /** Its modes, figures and classifier; null while it is not started. */
    public Guard guard() {
        ServletGate now = gate;
        return now == null ? null : now.guard();
    }

    @Override
    protected void startInternal() throws LifecycleException {
        try {
            if (className != null) {
                classifier = RequestClassifier.named(className, Thread.currentThread().getContextClassLoader());
            }
            gate = new ServletGate("requests of " + getContainer().getName(), GuardSettings.of(options), classifier);
        } catch (IllegalArgumentException e) {
            throw new LifecycleException("GuardValve: an attribute is wrong: " + e.getMessage(), e);
        }
        RUNNING.incrementAndGet();
        super.startInternal();
    }

    @Override
    protected void stopInternal() throws LifecycleException {
        super.stopInternal();
        ServletGate now = gate;
        gate = null;
        if (now != null) {
            RUNNING.decrementAndGet();
            now.close();
        }
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        ServletGate now = gate;
        if (now == null || request.getContext() == null) {
            getNext().invoke(request, response); // for no application: that costs nothing
        } else {
            now.serve(request, response, request.isAsyncDispatching(), () -> getNext().invoke(request, response));
        }
    }
}
