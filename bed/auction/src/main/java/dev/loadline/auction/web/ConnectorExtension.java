package dev.loadline.auction.web;

import org.apache.catalina.connector.Connector;

/**
 * Something that sits in front of the site, such as an admission control: it sees each connector
 * when the site has set it up and before it opens. Found by {@link java.util.ServiceLoader}.
 */
public interface ConnectorExtension {
    /** The protocol handler that connectors are made of; the last extension that names one wins. Null for Tomcat's own. */
    default String protocol() {
        return null;
    }

    /** Changes a connector; {@link Connector#getSecure} tells HTTPS from plain HTTP. */
    void extend(Connector connector);
}
