package dev.loadline.agent.hooks.servlet;

import dev.loadline.agent.boot.ServerProbes;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;
import jakarta.servlet.http.HttpServletRequest;

/** Tells of the services of a context: a servlet with its filters, on the thread that the request came on. */
public final class ServiceListener implements ServletRequestListener {
    /** What a thread is in: a service may lead to another context's, which is a part of it. */
    private static final ThreadLocal<Service> CURRENT = new ThreadLocal<>();

    @Override
    public void requestInitialized(ServletRequestEvent event) {
        ServletRequest request = event.getServletRequest();
        if (request instanceof HttpServletRequest && CURRENT.get() == null) {
            String servlet = ((HttpServletRequest) request).getHttpServletMapping().getServletName();
            CURRENT.set(new Service(request, ServerProbes.serviceBegin(servlet)));
        }
    }

    @Override
    public void requestDestroyed(ServletRequestEvent event) {
        Service service = CURRENT.get();
        if (service != null && service.request == event.getServletRequest()) {
            CURRENT.remove();
            ServerProbes.serviceEnd(service.epoch);
        }
    }

    private static final class Service {
        final ServletRequest request;
        final int epoch;

        Service(ServletRequest request, int epoch) {
            this.request = request;
            this.epoch = epoch;
        }
    }
}
