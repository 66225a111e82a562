package dev.loadline.agent.hooks.tomcat;

import dev.loadline.agent.boot.Resumption;
import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.hooks.Fields;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLEngine;
import org.apache.tomcat.util.net.SecureNioChannel;
import org.apache.tomcat.util.net.SocketEvent;
import org.apache.tomcat.util.net.SocketProcessorBase;
import org.apache.tomcat.util.net.SocketWrapperBase;

/**
 * Tells when a task for a connection is queued, and makes its run a visit to that connection. A handshake is told by whether the channel
 * says that it is over, before and after: another engine in place of the server's would have all of the way through TLS compiled again.
 */
final class Visits {
    private static final String STREAM = "org.apache.coyote.http2.StreamRunnable";

    private final Field wrapperOfEvent;
    /** Where a stream of HTTP/2 has its processor, and that its connection; null until one came. */
    private volatile Field processorOfStream;
    private volatile Field wrapperOfProcessor;
    /** Since when there are connections whose handshake is not over. */
    private final Map<Object, Long> openedMillis = new ConcurrentHashMap<>();

    Visits() throws NoSuchFieldException {
        wrapperOfEvent = Fields.of(SocketProcessorBase.class, "socketWrapper");
    }

    /** What is to be executed in place of a task that is queued now. */
    Runnable queued(Runnable task) {
        SocketWrapperBase<?> wrapper = wrapper(task);
        if (wrapper == null) {
            return task;
        }
        ServerProbes.queued(wrapper, true);
        return new Visit(task, wrapper);
    }

    /** The connection that a task is for, or null. */
    private SocketWrapperBase<?> wrapper(Runnable task) {
        try {
            if (task instanceof SocketProcessorBase) {
                return (SocketWrapperBase<?>) wrapperOfEvent.get(task);
            }
            if (task.getClass().getName().equals(STREAM)) {
                if (wrapperOfProcessor == null) {
                    processorOfStream = Fields.of(task.getClass(), "processor");
                    wrapperOfProcessor = Fields.of(processorOfStream.getType(), "socketWrapper");
                }
                return (SocketWrapperBase<?>) wrapperOfProcessor.get(processorOfStream.get(task));
            }
        } catch (ReflectiveOperationException otherVersion) {
            return null; // it runs, unseen
        }
        return null;
    }

    /** A connection with TLS opens. */
    void opened(Object wrapper) {
        openedMillis.put(wrapper, System.currentTimeMillis());
    }

    void closed(Object wrapper) {
        openedMillis.remove(wrapper);
    }

    private static boolean shakesHands(SocketWrapperBase<?> wrapper) {
        Object channel = wrapper.getSocket();
        return channel instanceof SecureNioChannel && !((SecureNioChannel) channel).isHandshakeComplete();
    }

    /** What the server visits a connection for comes now: if the visit began with a handshake, that is over. */
    void processes(SocketWrapperBase<?> wrapper, SocketEvent event) {
        if (!ServerProbes.shakesHands()) {
            return;
        }
        Long opened = openedMillis.remove(wrapper);
        Object channel = wrapper.getSocket();
        SSLEngine engine = channel instanceof SecureNioChannel ? ((SecureNioChannel) channel).getSslEngine() : null;
        if (event == SocketEvent.CONNECT_FAIL || engine == null) {
            ServerProbes.engineIsDone(false, false);
            return;
        }
        boolean isKnown = opened != null; // else it was there before the recording
        ServerProbes.engineShakesHands(isKnown ? engine : Resumption.UNTOLD);
        ServerProbes.engineIsDone(true, engine.getSession(), isKnown ? opened : Long.MAX_VALUE);
    }

    /** A task within a visit to its connection. */
    private final class Visit implements Runnable {
        private final Runnable task;
        private final SocketWrapperBase<?> wrapper;

        Visit(Runnable task, SocketWrapperBase<?> wrapper) {
            this.task = task;
            this.wrapper = wrapper;
        }

        @Override
        public void run() {
            long visit = ServerProbes.visitBegin(wrapper);
            boolean shakesHands = shakesHands(wrapper);
            if (shakesHands) {
                ServerProbes.engineShakesHands(Resumption.UNTOLD);
            }
            try {
                task.run();
            } finally {
                if (shakesHands && wrapper.isClosed()) {
                    ServerProbes.engineIsDone(false, false); // unless it was over when the wrapper was processed
                }
                ServerProbes.processed();
                ServerProbes.visitEnd(visit);
            }
        }
    }
}
