package dev.loadline.guard.servlet;

import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardSettings;
import dev.loadline.guard.RequestClassifier;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/**
 * Guards the requests of an application, before which TLS ends. To be the first of its filters, for {@code REQUEST} and {@code
 * ASYNC} dispatches, with {@code async-supported}. Its init-params are the guard's options, and {@code classifier}, the name of a
 * {@link RequestClassifier} of the application; with a wrong one the application does not start, and says which.
 */
public class GuardFilter implements Filter {
    private static final String CLASSIFIER = "classifier";

    private final Map<String, String> given;
    private volatile RequestClassifier classifier;
    private volatile ServletGate gate;

    /** Set by init-params alone. */
    public GuardFilter() {
        this(Map.of());
    }

    /** @param options by their names; init-params go before */
    public GuardFilter(Map<String, String> options) {
        given = Map.copyOf(options);
    }

    @Override
    public void init(FilterConfig config) throws ServletException {
        var options = new HashMap<>(given);
        for (String name : Collections.list(config.getInitParameterNames())) {
            options.put(name, config.getInitParameter(name));
        }
        try {
            String named = options.remove(CLASSIFIER);
            if (named != null) {
                classifier = RequestClassifier.named(named, Thread.currentThread().getContextClassLoader());
            }
            String path = config.getServletContext().getContextPath();
            gate = new ServletGate(config.getFilterName() + (path == null ? "" : path), GuardSettings.ofTable(options), classifier);
        } catch (IllegalArgumentException e) {
            throw new ServletException("filter " + config.getFilterName() + ": an init-param is wrong: " + e.getMessage(), e);
        }
    }

    @Override
    public void destroy() {
        if (gate != null) {
            gate.close();
            gate = null;
        }
    }

    /** Who tells which requests and customers matter, and what their sessions are; before an init-param. */
    public void classifier(RequestClassifier classifier) {
        this.classifier = classifier;
        Guard now = guard();
        if (now != null) {
            now.classifier(classifier);
        }
    }

    /** Its modes, figures and classifier; null while the application does not run. */
    public Guard guard() {
        ServletGate now = gate;
        return now == null ? null : now.guard();
    }

    @Override
    public void doFilter(ServletRequest any, ServletResponse answer, FilterChain chain) throws IOException, ServletException {
        ServletGate now = gate;
        DispatcherType type = any.getDispatcherType();
        if (now != null && any instanceof HttpServletRequest request && answer instanceof HttpServletResponse response
            && (type == DispatcherType.REQUEST || type == DispatcherType.ASYNC)) {
            now.serve(request, response, type == DispatcherType.ASYNC, () -> chain.doFilter(request, response));
        } else {
            chain.doFilter(any, answer);
        }
    }
}
