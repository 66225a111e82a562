package dev.loadline.guard;

import java.net.InetAddress;

/** What may be asked of a request before it is served. */
public interface RequestView {
    String method();

    /** The path as sent, without the query. */
    String path();

    /** The path without that of the application, where an adapter knows it. */
    default String pathInApplication() {
        return path();
    }

    /** A header's value; null when it was not sent. */
    String header(String name);

    InetAddress remoteAddress();

    /** Requests that this connection brought before this one. */
    int earlierRequests();
}
