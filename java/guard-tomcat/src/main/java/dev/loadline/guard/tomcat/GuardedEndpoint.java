package dev.loadline.guard.tomcat;

import dev.loadline.guard.Guard;
import dev.loadline.guard.Mode;
import dev.loadline.guard.ProxyHeaders;
import dev.loadline.guard.Serving;
import dev.loadline.guard.SlowHellos;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SocketBufferHandler;
import org.apache.tomcat.util.net.SocketEvent;
import org.apache.tomcat.util.net.SocketProcessorBase;
import org.apache.tomcat.util.net.SocketWrapperBase;
import org.apache.tomcat.util.threads.TaskThreadFactory;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/** An endpoint that asks the guard before it hands a new connection to a worker. */
public class GuardedEndpoint extends NioEndpoint {
    private static final System.Logger LOG = System.getLogger("loadline-guard");
    private static final InetAddress UNKNOWN = InetAddress.getLoopbackAddress();
    private static final long SAY_AGAIN_NANOS = 60_000_000_000L;

    private final int processors = Runtime.getRuntime().availableProcessors();

    private volatile Guard guard;
    /** Connections whose hello is not whole yet. */
    private volatile SlowHellos greeting;
    private volatile ProxyHeaders proxies;
    private volatile boolean speaksTls13;
    private volatile boolean restricts;
    /** When it was said last that the connector takes no more connections; null: never. */
    private Long saidFullNanos;

    /** The guard to ask from now on. */
    void guard(Guard guard) {
        greeting = new SlowHellos(guard);
        proxies = new ProxyHeaders(guard);
        this.guard = guard;
        restricts = GuardedSslImplementation.class.getName().equals(getSslImplementationName());
        if (!restricts) {
            LOG.log(System.Logger.Level.WARNING, "loadline-guard: sslImplementationName is " + getSslImplementationName()
                + ": its engines cannot be told to resume only, so that a client which claims a session is admitted"
                + " only out of the budget for new ones. Remove the attribute to use JSSE.");
        }
        readProtocols();
        guard.onTick(this::sayWhenFull);
    }

    /** Reads which versions of TLS are enabled: known once the endpoint is bound. */
    void readProtocols() {
        boolean any = false;
        for (SSLHostConfig host : findSslHostConfigs()) {
            String[] enabled = host.getEnabledProtocols();
            any |= enabled == null || List.of(enabled).contains("TLSv1.3");
        }
        speaksTls13 = any;
    }

    /** The guard, if there is one and it is on. */
    Guard active() {
        Guard now = guard;
        return now == null || now.mode() == Mode.OFF ? null : now;
    }

    /** Who may say whose a connection is. */
    ProxyHeaders proxies() {
        return proxies;
    }

    /** Whether TLS 1.3 is enabled for any host. */
    boolean speaksTls13() {
        return speaksTls13;
    }

    /** Whether engines can be made that only resume. */
    boolean restricts() {
        return restricts;
    }

    /**
     * As in {@code NioEndpoint}, except for the class of the channel: Tomcat 11 has a method to override for
     * that alone, 10.1 has not.
     */
    @Override
    protected boolean setSocketOptions(SocketChannel socket) {
        Guard now = active();
        if (!isSSLEnabled()) {
            return super.setSocketOptions(socket);
        }
        GuardedSocketWrapper wrapper = null;
        try {
            NioChannel channel = getNioChannels() == null ? null : getNioChannels().pop();
            if (!(channel instanceof GuardedChannel)) {
                if (channel != null) {
                    channel.free();
                }
                channel = new GuardedChannel(new SocketBufferHandler(socketProperties.getAppReadBufSize(),
                    socketProperties.getAppWriteBufSize(), socketProperties.getDirectBuffer()), this);
            }
            var made = new GuardedSocketWrapper(channel, this);
            channel.reset(socket, made);
            connections.put(socket, made);
            wrapper = made;
            socket.configureBlocking(false);
            if (getUnixDomainSocketPath() == null) {
                socketProperties.setProperties(socket.socket());
            }
            wrapper.setReadTimeout(getConnectionTimeout());
            wrapper.setWriteTimeout(getConnectionTimeout());
            wrapper.setKeepAliveLeft(getMaxKeepAliveRequests());
            InetAddress peer = address(socket);
            if (proxies != null && proxies.expectedOf(peer)) {
                ((GuardedChannel) channel).awaitHeader(wrapper, peer); // also while the guard is off: nobody else takes it away
                return hearAtOnce(wrapper);
            }
            if (now == null) {
                wrapper.register();
                return true;
            }
            ((GuardedChannel) channel).greet(wrapper, now.connection(peer));
            return hearAtOnce(wrapper);
        } catch (Exception | LinkageError e) {
            LOG.log(System.Logger.Level.ERROR, "loadline-guard: a connection could not be set up", e);
            if (wrapper == null) {
                destroySocket(socket);
            }
            return false;
        }
    }

    /** Tomcat's pool with another queue; a pool that the connector shares with others, or virtual threads, stay what they are. */
    @Override
    public void createExecutor() {
        super.createExecutor();
        if (getExecutor() instanceof ThreadPoolExecutor pool) {
            setExecutor(WorkerPool.like(pool, new TaskThreadFactory(getName() + "-exec-", getDaemon(), getThreadPriority()), this::cpus));
            internalExecutor = true; // to be ended with this endpoint
            pool.shutdown();
        }
    }

    private int cpus() {
        Guard now = guard;
        return now == null ? processors : now.cpus();
    }

    private static InetAddress address(SocketChannel socket) throws java.io.IOException {
        return socket.getRemoteAddress() instanceof InetSocketAddress inet ? inet.getAddress() : UNKNOWN;
    }

    /** The poller's threads come through here with each event, before it is queued for a worker. */
    @Override
    public boolean processSocket(SocketWrapperBase<NioChannel> wrapper, SocketEvent event, boolean dispatch) {
        if (!(wrapper instanceof GuardedSocketWrapper guarded) || guarded.serving() == null && !guarded.greeting()) {
            return super.processSocket(wrapper, event, dispatch);
        }
        if (!guarded.greeting()) {
            guarded.serving().connection().dispatched();
            return toWorker(guarded, event, dispatch);
        }
        return switch (event == SocketEvent.OPEN_READ ? hear(guarded) : GuardedChannel.Heard.GO_ON) {
            case MORE -> {
                guarded.registerReadInterest();
                yield true;
            }
            case CLOSE -> {
                greeting.remove(guarded);
                guarded.close();
                yield true;
            }
            case GO_ON -> {
                greeting.remove(guarded);
                yield begin(guarded, event);
            }
        };
    }

    private static GuardedChannel.Heard hear(GuardedSocketWrapper guarded) {
        synchronized (guarded) {
            // Else it was too slow, and has been closed at this moment.
            return guarded.greeting() && guarded.getSocket() instanceof GuardedChannel channel
                ? channel.hear() : GuardedChannel.Heard.CLOSE;
        }
    }

    /**
     * On the acceptor's thread: a busy server comes to accept a connection when its hello is there already, and who
     * is refused then costs neither the poller nor the selector anything.
     */
    private boolean hearAtOnce(GuardedSocketWrapper guarded) {
        switch (hear(guarded)) {
            case MORE -> {
                greeting.add(guarded);
                guarded.register();
            }
            case CLOSE -> guarded.close();
            case GO_ON -> {
                return begin(guarded, SocketEvent.OPEN_READ);
            }
        }
        return true;
    }

    /** It has said hello and is let in. */
    private boolean begin(GuardedSocketWrapper guarded, SocketEvent event) {
        if (guarded.serving() == null) {
            return super.processSocket(guarded, event, true); // the guard is off, or its proxy has not said whose it is
        }
        guarded.serving().connection().dispatched();
        return waits(guarded, event) || toWorker(guarded, event, true);
    }

    /** Whether its handshake is not to compute yet: who gives a turn back hands it on. */
    private boolean waits(GuardedSocketWrapper guarded, SocketEvent event) {
        return guarded.serving().waits(active(), System.identityHashCode(guarded), () -> {
            if (!toWorker(guarded, event, true)) {
                guarded.close();
            }
        });
    }

    private boolean toWorker(GuardedSocketWrapper guarded, SocketEvent event, boolean dispatch) {
        if (super.processSocket(guarded, event, dispatch)) {
            return true;
        }
        guarded.serving().turnOver(); // the pool takes nothing more
        guarded.serving().connection().done();
        return false;
    }

    /** Whoever waits behind Tomcat's own limit does so unheard, those who resume too: an administrator must know. */
    private void sayWhenFull() {
        long most = getMaxConnections();
        long now = System.nanoTime();
        if (most > 0 && connections.size() >= most && (saidFullNanos == null || now - saidFullNanos > SAY_AGAIN_NANOS)) {
            saidFullNanos = now;
            LOG.log(System.Logger.Level.WARNING, "loadline-guard: " + most + " connections are open, all that maxConnections of"
                + " this connector allows: whoever comes waits where the guard does not hear who resumes. Raise maxConnections.");
        }
    }

    /** Closes what is left after a stop: Tomcat closes those that its poller knows. */
    void closeAll() {
        getConnections().forEach(SocketWrapperBase::close);
    }

    /** Connections that have not said hello yet. */
    int greetingCount() {
        return greeting.size();
    }

    @Override
    protected SocketProcessorBase<NioChannel> createSocketProcessor(SocketWrapperBase<NioChannel> wrapper, SocketEvent event) {
        return new GuardedProcessor(wrapper, event);
    }

    /** A worker's task: as in {@code NioEndpoint}, with its time on the thread and in the queue reported. */
    protected class GuardedProcessor extends SocketProcessor {
        public GuardedProcessor(SocketWrapperBase<NioChannel> wrapper, SocketEvent event) {
            super(wrapper, event);
        }

        @Override
        protected void doRun() {
            Serving serving = socketWrapper instanceof GuardedSocketWrapper guarded ? guarded.serving() : null;
            if (serving == null) {
                super.doRun();
                return;
            }
            serving.begin();
            try {
                super.doRun();
            } finally {
                serving.end();
            }
        }
    }
}
