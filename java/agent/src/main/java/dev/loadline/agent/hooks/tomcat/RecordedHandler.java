package dev.loadline.agent.hooks.tomcat;

import dev.loadline.agent.boot.ServerProbes;
import org.apache.tomcat.util.net.AbstractEndpoint;
import org.apache.tomcat.util.net.SocketEvent;
import org.apache.tomcat.util.net.SocketWrapperBase;

/** Processes an event on a connection: within the visit that its worker made, or in one of its own. */
final class RecordedHandler implements AbstractEndpoint.Handler<Object> {
    private final AbstractEndpoint.Handler<Object> handler;

    private final Visits visits;

    RecordedHandler(AbstractEndpoint.Handler<Object> handler, Visits visits) {
        this.handler = handler;
        this.visits = visits;
    }

    @Override
    public SocketState process(SocketWrapperBase<Object> wrapper, SocketEvent event) {
        long visit = ServerProbes.visitBegin(wrapper);
        visits.processes(wrapper, event);
        try {
            return handler.process(wrapper, event);
        } finally {
            ServerProbes.processed();
            ServerProbes.visitEnd(visit);
        }
    }

    @Override
    public Object getGlobal() {
        return handler.getGlobal();
    }

    @Override
    public void release(SocketWrapperBase<Object> wrapper) {
        handler.release(wrapper);
    }

    @Override
    public void pause() {
        handler.pause();
    }

    @Override
    public void recycle() {
        handler.recycle();
    }
}
