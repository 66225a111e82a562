package dev.loadline.guard;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** What trusted proxies say of their connections, for an adapter that has the bytes. In every mode: nothing else takes a header away. Thread-safe. */
public final class ProxyHeaders {
    private static final System.Logger LOG = System.getLogger("loadline-guard");
    private static final ProxyHeader NONE = new ProxyHeader(0, null, 0);
    private static final int TLS_HANDSHAKE = 22;
    private static final long SAY_AGAIN_NANOS = 60_000_000_000L;

    private final Guard guard;
    private final ProxyProtocol mode;
    private final AtomicLong saidNanos = new AtomicLong(System.nanoTime() - 2 * SAY_AGAIN_NANOS);

    public ProxyHeaders(Guard guard) {
        this.guard = guard;
        mode = guard.settings().proxyProtocol();
    }

    /** Whether a connection of this peer may begin with a header. What others write is not looked at. */
    public boolean expectedOf(InetAddress peer) {
        return mode != ProxyProtocol.OFF && guard.settings().trustedProxies().contains(peer);
    }

    /**
     * Reads what a proxy wrote first.
     *
     * @param came all bytes until now; left as they were
     * @return null while it is not whole; of length 0 if there need not be one, and is none
     * @throws WrongProxyHeader counted, and told in the log: the connection is to be closed
     */
    public ProxyHeader read(ByteBuffer came, InetAddress peer) throws WrongProxyHeader {
        if (mode == ProxyProtocol.OPTIONAL && came.hasRemaining() && came.get(came.position()) == TLS_HANDSHAKE) {
            return NONE;
        }
        try {
            return ProxyHeader.read(came);
        } catch (WrongProxyHeader e) {
            if (guard.mode() != Mode.OFF) {
                guard.refused(Refused.NOT_TLS);
            }
            say(peer, e);
            throw e;
        }
    }

    private void say(InetAddress peer, WrongProxyHeader wrong) {
        long now = System.nanoTime();
        long said = saidNanos.get();
        if (now - said > SAY_AGAIN_NANOS && saidNanos.compareAndSet(said, now)) {
            LOG.log(System.Logger.Level.WARNING, "loadline-guard: connections of the trusted proxy " + peer.getHostAddress() + " are closed, because they"
                + " do not begin with a header of the PROXY protocol: " + wrong.getMessage() + ". Let it send one (HAProxy: send-proxy-v2), set"
                + " proxyProtocol=optional if only its own probes have none, or proxyProtocol=off");
        }
    }
}
