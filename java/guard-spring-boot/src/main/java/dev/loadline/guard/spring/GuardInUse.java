package dev.loadline.guard.spring;

import dev.loadline.guard.Guard;
import java.util.Optional;
import java.util.function.Supplier;

/** The guard that an application has: its connector's, which knows more, or else that of its requests. */
final class GuardInUse {
    private volatile Supplier<Guard> ofConnections = () -> null;
    private volatile Supplier<Guard> ofRequests = () -> null;

    void ofConnections(Supplier<Guard> guard) {
        ofConnections = guard;
    }

    void ofRequests(Supplier<Guard> guard) {
        ofRequests = guard;
    }

    /** Whether there is a connector that guards; known when the server has started. */
    boolean guardsConnections() {
        return ofConnections.get() != null;
    }

    Optional<Guard> guard() {
        Guard connections = ofConnections.get();
        return Optional.ofNullable(connections != null ? connections : ofRequests.get());
    }
}
