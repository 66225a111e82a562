package dev.loadline.guard.spring;

import dev.loadline.guard.Guard;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** The guard that an application has: its connector's, which knows more, or else that of its requests. */
final class GuardInUse {
    /** Of each server that may be on the class path, of which one runs. */
    private final List<Supplier<Guard>> ofConnections = new CopyOnWriteArrayList<>();
    private volatile Supplier<Guard> ofRequests = () -> null;

    void ofConnections(Supplier<Guard> guard) {
        ofConnections.add(guard);
    }

    void ofRequests(Supplier<Guard> guard) {
        ofRequests = guard;
    }

    /** Whether there is a connector that guards; known when the server has started. */
    boolean guardsConnections() {
        return connections().isPresent();
    }

    private Optional<Guard> connections() {
        return ofConnections.stream().map(Supplier::get).filter(Objects::nonNull).findFirst();
    }

    Optional<Guard> guard() {
        return connections().or(() -> Optional.ofNullable(ofRequests.get()));
    }
}
