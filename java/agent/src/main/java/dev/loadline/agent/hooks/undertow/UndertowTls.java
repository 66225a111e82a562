package dev.loadline.agent.hooks.undertow;

import dev.loadline.agent.hooks.Fields;
import dev.loadline.agent.hooks.Hook;
import dev.loadline.agent.hooks.Hooks;
import java.util.Set;
import javax.net.ssl.SSLContext;

/** A hook in what makes the engines of a port: a handshake that began before it is not seen. */
public final class UndertowTls implements Hook {
    private static final String CONTEXT = "sslContext";

    private final Object tls;
    private final RecordedSslContext recorded;

    private UndertowTls(Object tls, RecordedSslContext recorded) {
        this.tls = tls;
        this.recorded = recorded;
    }

    /** Puts the hook into an {@code UndertowXnioSsl}: called by name. */
    public static Hook into(Object tls, Hooks.Access access) throws ReflectiveOperationException {
        access.open(tls.getClass());
        SSLContext its = (SSLContext) Fields.get(tls, CONTEXT);
        UndertowTls hook = new UndertowTls(tls, new RecordedSslContext(its));
        Fields.replace(tls, CONTEXT, its, hook.recorded);
        return hook;
    }

    @Override
    public void remove() {
        try {
            Fields.replace(tls, CONTEXT, recorded, recorded.context);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // it was set
        }
    }

    @Override
    public Set<String> unseen() {
        return recorded.missesSome() ? Set.of("undertow-handshakes") : Set.of();
    }
}
