package dev.loadline.agent.hooks.tomcat;

import dev.loadline.agent.boot.ServerProbes;
import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;

/** An endpoint's open connections: sockets to their wrappers. */
final class RecordedConnections extends AbstractMap<Object, Object> {
    private final Map<Object, Object> connections;
    private final Visits visits;
    private final boolean withTls;

    RecordedConnections(Map<Object, Object> connections, Visits visits, boolean withTls) {
        this.connections = connections;
        this.visits = visits;
        this.withTls = withTls;
    }

    @Override
    public Object put(Object socket, Object wrapper) {
        ServerProbes.connectionOpen(wrapper, socket);
        if (withTls) {
            visits.opened(wrapper);
        }
        return connections.put(socket, wrapper);
    }

    @Override
    public Object remove(Object socket) {
        Object wrapper = connections.remove(socket);
        if (wrapper != null) {
            ServerProbes.connectionClose(wrapper);
            visits.closed(wrapper);
        }
        return wrapper;
    }

    @Override
    public Object get(Object socket) {
        return connections.get(socket);
    }

    @Override
    public boolean containsKey(Object socket) {
        return connections.containsKey(socket);
    }

    @Override
    public int size() {
        return connections.size();
    }

    @Override
    public void clear() {
        connections.clear();
    }

    @Override
    public Set<Map.Entry<Object, Object>> entrySet() {
        return connections.entrySet();
    }
}
