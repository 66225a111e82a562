package dev.loadline.agent.probes;

import javax.net.ssl.X509ExtendedKeyManager;

/** Which loaded classes implement an interface that the rules by shape are for. */
final class Shapes {
    private final Class<?>[] types;

    Shapes() {
        Class<?>[] found;
        try {
            found = Sql.types();
        } catch (NoClassDefFoundError withoutSqlModule) {
            found = new Class<?>[] {X509ExtendedKeyManager.class};
        }
        types = found;
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
