package dev.loadline.clinic.fault;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** Refuses a name that no fault has: a site without its fault would be taken for one with it. */
@Component
class Chosen {
    private static final String NAMES =
        "disk, few-permits, few-workers, gc-pressure, hot-lock, leak, pinned, shared-connection, slow-database, slow-service, slow-sql";

    Chosen(@Value("${" + Fault.PROPERTY + ":}") String name, ObjectProvider<Fault> fault) {
        if (!name.isEmpty() && fault.stream().findAny().isEmpty()) {
            throw new IllegalArgumentException(Fault.PROPERTY + " is " + name + "; it must be one of " + NAMES);
        }
    }
}
