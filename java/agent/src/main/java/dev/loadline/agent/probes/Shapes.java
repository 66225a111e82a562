package dev.loadline.agent.probes;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.net.ssl.X509ExtendedKeyManager;

/** Which loaded classes implement an interface that the rules by shape are for. */
final class Shapes {
    /** What the JDK does not have: CORBA's skeletons, filters, and what coroutines are dispatched by. There are as many as class loaders that brought them. */
    private static final Set<String> BROUGHT =
            Set.of("org.omg.CORBA.portable.InvokeHandler", "jakarta.servlet.Filter", "javax.servlet.Filter", "kotlinx.coroutines.CoroutineDispatcher");

    private final List<Class<?>> types = new ArrayList<>();

    /** Among these classes. */
    Shapes(Class<?>[] loaded) {
        try {
            types.addAll(List.of(Sql.types()));
        } catch (NoClassDefFoundError withoutSqlModule) {
            types.add(X509ExtendedKeyManager.class);
        }
        for (Class<?> one : loaded) {
            if (BROUGHT.contains(one.getName())) {
                types.add(one);
            }
        }
    }

    boolean fits(Class<?> loaded) {
        if (loaded.isInterface() || loaded.isArray()) {
            return false;
        }
        for (Class<?> type : types) {
            if (type != loaded && type.isAssignableFrom(loaded)) {
                return true;
            }
        }
        return false;
    }

    /** Apart, so that a Java runtime without the module java.sql is no obstacle. */
    private static final class Sql {
        static Class<?>[] types() {
            return new Class<?>[] {
                X509ExtendedKeyManager.class,
                javax.sql.DataSource.class,
                java.sql.Connection.class,
                java.sql.Statement.class,
            };
        }
    }
}
