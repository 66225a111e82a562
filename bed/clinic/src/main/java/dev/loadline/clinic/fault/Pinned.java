package dev.loadline.clinic.fault;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/**
 * Waits in a class initializer, by a plug-in loader that is thrown away each time. The initializer's frame lies on native ones,
 * so that a virtual thread keeps its carrier while it waits. Needs {@code spring.threads.virtual.enabled=true}.
 */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "pinned")
class Pinned extends PageFault {
    private static final String PLUGIN = Pinned.class.getPackageName() + ".PartnerTerms";

    private final byte[] code;

    Pinned() throws IOException {
        try (InputStream in = Pinned.class.getResourceAsStream("PartnerTerms.class")) {
            if (in == null) {
                throw new IOException("PartnerTerms.class is missing from the jar: rebuild it with mvn package");
            }
            code = in.readAllBytes();
        }
    }

    @Override
    protected void before(HttpServletRequest request) throws ClassNotFoundException {
        Class.forName(PLUGIN, true, new Loader(code));
    }

    private static final class Loader extends ClassLoader {
        private final byte[] code;

        Loader(byte[] code) {
            super(Pinned.class.getClassLoader());
            this.code = code;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals(PLUGIN) ? defineClass(name, code, 0, code.length) : super.loadClass(name, resolve);
        }
    }
}
