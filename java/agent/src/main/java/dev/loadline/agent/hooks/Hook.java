package dev.loadline.agent.hooks;

import java.util.Set;

/** What was put into one server or pool. */
public interface Hook {
    /** Looks whether parts have appeared that it should be in, too: certificates that were loaded anew. */
    default void refresh() {}

    /** Takes out what was put in, unless it is not there any more. */
    void remove();

    /** Whether it sees a server's requests. */
    default boolean isServer() {
        return false;
    }

    /** Codes of what it cannot see. */
    default Set<String> unseen() {
        return Set.of();
    }
}
