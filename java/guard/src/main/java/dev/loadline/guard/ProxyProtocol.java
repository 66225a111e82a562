package dev.loadline.guard;

/** Whether trusted proxies say by the PROXY protocol whose a connection is. */
public enum ProxyProtocol {
    /** Nobody does: connections are of who opened them. */
    OFF,
    /** Each connection of a trusted proxy begins with a header; one that does not is closed. */
    REQUIRED,
    /** One that begins with TLS at once is the proxy's own, a probe. For proxies that write a header before all that clients send. */
    OPTIONAL
}
