package dev.loadline.agent.hooks.jdk;

import com.sun.net.httpserver.HttpContext;
import dev.loadline.agent.hooks.Fields;
import dev.loadline.agent.hooks.Hook;
import dev.loadline.agent.hooks.Hooks;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Hooks in the contexts of one server. */
public final class JdkServer implements Hook {
    private final Object contexts;
    private final List<HttpContext> hooked = new ArrayList<>();
    private final RequestFilter filter;

    private JdkServer(Object contexts, RequestFilter filter) {
        this.contexts = contexts;
        this.filter = filter;
    }

    /** Puts the hooks into a server: called by name. */
    public static Hook into(Object server, Hooks.Access access) throws ReflectiveOperationException {
        JdkServer hook = new JdkServer(Fields.get(server, "contexts"), new RequestFilter(server.getClass().getClassLoader()));
        hook.put();
        return hook;
    }

    @Override
    public void refresh() {
        try {
            put();
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // it was done before
        }
    }

    private void put() throws ReflectiveOperationException {
        List<?> all;
        synchronized (contexts) { // as its own methods are
            all = List.copyOf((List<?>) Fields.get(contexts, "list"));
        }
        for (Object context : all) {
            if (!hooked.contains(context)) {
                HttpContext its = (HttpContext) context;
                its.getFilters().add(0, filter);
                hooked.add(its);
            }
        }
    }

    @Override
    public void remove() {
        for (HttpContext context : hooked) {
            context.getFilters().remove(filter);
        }
    }

    @Override
    public boolean isServer() {
        return true;
    }

    @Override
    public Set<String> unseen() {
        return Set.of("jdk-connections");
    }
}
