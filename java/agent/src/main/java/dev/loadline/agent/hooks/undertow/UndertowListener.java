package dev.loadline.agent.hooks.undertow;

import dev.loadline.agent.hooks.Fields;
import dev.loadline.agent.hooks.Hook;
import dev.loadline.agent.hooks.Hooks;
import io.undertow.server.AbstractServerConnection;
import io.undertow.server.HttpHandler;
import io.undertow.server.OpenListener;
import io.undertow.server.protocol.http.AlpnOpenListener;
import io.undertow.server.protocol.http2.Http2UpgradeHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Hooks in what makes the connections of one port. */
public final class UndertowListener implements Hook {
    private static final String NEXT = "next";

    private final OpenListener listener;
    /** What may make a connection one of HTTP/2, and stays its handler then: it is hooked behind that. Null if there is none. */
    private final Http2UpgradeHandler upgrades;
    private final RecordedRoot recorded;

    private UndertowListener(OpenListener listener) throws ReflectiveOperationException {
        this.listener = listener;
        HttpHandler root = listener.getRootHandler();
        upgrades = root instanceof Http2UpgradeHandler && Fields.mayBeFinal() ? (Http2UpgradeHandler) root : null;
        recorded = new RecordedRoot(upgrades == null ? root : (HttpHandler) Fields.get(upgrades, NEXT));
    }

    /** Puts the hooks into a listener: called by name. */
    public static Hook into(Object listener, Hooks.Opener opener) throws ReflectiveOperationException {
        for (Class<?> type : new Class<?>[] {AbstractServerConnection.class, AlpnOpenListener.class, Http2UpgradeHandler.class}) {
            opener.open(type);
        }
        UndertowListener hook = new UndertowListener((OpenListener) listener);
        for (AbstractServerConnection connection : hook.connections()) {
            hook.recorded.wasThere(connection);
        }
        if (hook.upgrades == null) {
            hook.listener.setRootHandler(hook.recorded);
            hook.change(hook.recorded.handler, hook.recorded);
        } else {
            Fields.replace(hook.upgrades, NEXT, hook.recorded.handler, hook.recorded);
        }
        return hook;
    }

    /** A connection keeps the handler that its listener had. */
    private void change(HttpHandler from, HttpHandler to) throws ReflectiveOperationException {
        if (Fields.mayBeFinal()) { // else connections that are there stay unseen
            for (AbstractServerConnection connection : connections()) {
                Fields.replace(connection, "rootHandler", from, to);
            }
        }
    }

    private List<AbstractServerConnection> connections() throws ReflectiveOperationException {
        List<AbstractServerConnection> all = new ArrayList<>();
        for (OpenListener one : listeners()) {
            for (Object connection : (Iterable<?>) Fields.get(one, "connections")) {
                if (connection instanceof AbstractServerConnection) {
                    all.add((AbstractServerConnection) connection);
                }
            }
        }
        return all;
    }

    /** The one, or those for each protocol that a client may choose. */
    private List<OpenListener> listeners() throws ReflectiveOperationException {
        if (!(listener instanceof AlpnOpenListener)) {
            return List.of(listener);
        }
        List<OpenListener> all = new ArrayList<>();
        for (Object entry : ((Map<?, ?>) Fields.get(listener, "listeners")).values()) {
            all.add((OpenListener) Fields.get(entry, "listener"));
        }
        return all;
    }

    @Override
    public void remove() {
        try {
            if (upgrades != null) {
                Fields.replace(upgrades, NEXT, recorded, recorded.handler);
                return;
            }
            if (listener.getRootHandler() == recorded) {
                listener.setRootHandler(recorded.handler);
            }
            change(recorded, recorded.handler);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // they were set
        }
    }

    @Override
    public boolean isServer() {
        return true;
    }

    @Override
    public Set<String> unseen() {
        return Set.of("undertow-services");
    }
}
