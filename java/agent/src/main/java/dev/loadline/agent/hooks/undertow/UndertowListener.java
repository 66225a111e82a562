package dev.loadline.agent.hooks.undertow;

import dev.loadline.agent.hooks.Fields;
import dev.loadline.agent.hooks.Hook;
import dev.loadline.agent.hooks.Hooks;
import io.undertow.server.AbstractServerConnection;
import io.undertow.server.HttpHandler;
import io.undertow.server.OpenListener;
import io.undertow.server.protocol.framed.AbstractFramedChannel;
import io.undertow.server.protocol.http.AlpnOpenListener;
import io.undertow.server.protocol.http2.Http2ReceiveListener;
import io.undertow.server.protocol.http2.Http2UpgradeHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.xnio.ChannelListener;

/** Hooks in what makes the connections of one port. */
public final class UndertowListener implements Hook {
    private final List<Protocol> protocols;

    private UndertowListener(List<Protocol> protocols) {
        this.protocols = protocols;
    }

    /** Puts the hooks into a listener: called by name. */
    public static Hook into(Object listener, Hooks.Access access) throws ReflectiveOperationException {
        for (Class<?> type : new Class<?>[] {AbstractServerConnection.class, AlpnOpenListener.class, Http2UpgradeHandler.class,
            AbstractFramedChannel.class, Http2ReceiveListener.class}) {
            access.open(type);
        }
        List<Protocol> protocols = new ArrayList<>();
        for (OpenListener one : ofEachProtocol((OpenListener) listener)) {
            Protocol protocol = new Protocol(one);
            // Where there is no handler there are no requests; where it is ours, another listener with the same has seen to it.
            if (protocol.recorded.handler != null && !(protocol.recorded.handler instanceof RecordedRoot)) {
                protocols.add(protocol);
            }
        }
        UndertowListener hook = new UndertowListener(protocols);
        try {
            for (Protocol protocol : protocols) {
                protocol.put();
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            hook.remove();
            throw e;
        }
        return hook;
    }

    /** The one, or, where a client chooses the protocol in its handshake, each that it may choose: that in front has no handler of its own. */
    private static List<OpenListener> ofEachProtocol(OpenListener listener) throws ReflectiveOperationException {
        if (!(listener instanceof AlpnOpenListener)) {
            return List.of(listener);
        }
        List<OpenListener> all = new ArrayList<>();
        for (Object entry : ((Map<?, ?>) Fields.get(listener, "listeners")).values()) {
            OpenListener one = (OpenListener) Fields.get(entry, "listener");
            if (!all.contains(one)) { // one may stand there under two names
                all.add(one);
            }
        }
        return all;
    }

    @Override
    public void remove() {
        try {
            for (Protocol protocol : protocols) {
                protocol.remove();
            }
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // they were set
        }
    }

    @Override
    public boolean isServer() {
        return !protocols.isEmpty();
    }

    @Override
    public Set<String> unseen() {
        return Set.of("undertow-services");
    }

    /** A listener that makes connections, and has a handler. */
    private static final class Protocol {
        private static final String NEXT = "next";

        final RecordedRoot recorded;
        private final OpenListener listener;
        /** What may make a connection one of HTTP/2, and stays its handler then: it is hooked behind that. Null if there is none. */
        private final Http2UpgradeHandler upgrades;

        Protocol(OpenListener listener) throws ReflectiveOperationException {
            this.listener = listener;
            HttpHandler root = listener.getRootHandler();
            upgrades = root instanceof Http2UpgradeHandler ? (Http2UpgradeHandler) root : null;
            recorded = new RecordedRoot(upgrades == null ? root : (HttpHandler) Fields.get(upgrades, NEXT));
        }

        void put() throws ReflectiveOperationException {
            for (Object connection : (Iterable<?>) Fields.get(listener, "connections")) {
                if (connection instanceof AbstractServerConnection) {
                    recorded.wasThere((AbstractServerConnection) connection);
                }
            }
            if (upgrades != null) {
                Fields.replace(upgrades, NEXT, recorded.handler, recorded);
            } else {
                listener.setRootHandler(recorded);
                change(recorded.handler, recorded);
            }
        }

        void remove() throws ReflectiveOperationException {
            if (upgrades != null) {
                Fields.replace(upgrades, NEXT, recorded, recorded.handler);
                return;
            }
            if (listener.getRootHandler() == recorded) {
                listener.setRootHandler(recorded.handler);
            }
            change(recorded, recorded.handler);
        }

        /** A connection keeps the handler that its listener had; of one of HTTP/2 who receives its frames does. */
        private void change(HttpHandler from, HttpHandler to) throws ReflectiveOperationException {
            for (Object connection : (Iterable<?>) Fields.get(listener, "connections")) {
                Object holder = connection instanceof AbstractFramedChannel
                        ? ((ChannelListener.SimpleSetter<?>) Fields.get(connection, "receiveSetter")).get()
                        : connection;
                if (holder instanceof AbstractServerConnection || holder instanceof Http2ReceiveListener) {
                    Fields.replace(holder, "rootHandler", from, to);
                }
            }
        }
    }
}
