package dev.loadline.agent.hooks.tomcat;

import dev.loadline.agent.boot.ServerProbes;
import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;

/** An endpoint's open connections: sockets to their wrappers. */
final class RecordedConnections extends AbstractMap<Object, Object> {
    private final Map<Object, Object> connections;

    RecordedConnections(Map<Object, Object> connections) {
        this.connections = connections;
    }

    @Override
    public Object put(Object socket, Object wrapper) {
        ServerProbes.connectionOpen(wrapper, socket);
        return connections.put(socket, wrapper);
    }

    @Override
    public Object remove(Object socket) {
        Object wrapper = connections.remove(socket);
        if (wrapper != null) {
            ServerProbes.connectionClose(wrapper);
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
