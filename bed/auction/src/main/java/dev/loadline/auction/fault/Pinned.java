package dev.loadline.auction.fault;

import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/**
 * Pages that wait inside a class initializer, on virtual threads. The initializer's frame sits on
 * native ones, so the virtual thread cannot leave its carrier while it waits: as many pages as there
 * are carriers stop the site. A monitor would do until JDK 23; since JEP 491 (JDK 24) it does not.
 */
final class Pinned extends Fault {
    private final byte[] initializer;

    Pinned(String name) {
        super(name);
        try (InputStream in = Pinned.class.getResourceAsStream("SlowToInitialize.class")) {
            if (in == null) {
                throw new IllegalStateException("SlowToInitialize.class is missing from the jar: rebuild it with mvn package");
            }
            initializer = in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException("reading the jar: " + e.getMessage(), e);
        }
    }

    @Override
    public Optional<Filter> aroundPages() {
        return Optional.of((request, response, chain) -> {
            try {
                // A loader of its own makes it a new class, which has yet to be initialized.
                Class.forName(SlowToInitialize.class.getName(), true, new Fresh());
            } catch (ClassNotFoundException e) {
                throw new ServletException(e);
            }
            chain.doFilter(request, response);
        });
    }

    private final class Fresh extends ClassLoader {
        Fresh() {
            super(Pinned.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals(SlowToInitialize.class.getName()) ? defineClass(name, initializer, 0, initializer.length)
                : super.loadClass(name, resolve);
        }
    }
}
