package dev.loadline.agent.hooks.tomcat;

import dev.loadline.agent.boot.Resumption;
import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.hooks.Fields;
import java.lang.reflect.Field;
import org.apache.tomcat.util.net.SecureNioChannel;
import org.apache.tomcat.util.net.SocketProcessorBase;
import org.apache.tomcat.util.net.SocketWrapperBase;

/** Tells when a task for a connection is queued, and makes its run a visit to that connection. */
final class Visits {
    private static final String STREAM = "org.apache.coyote.http2.StreamRunnable";

    private final Field wrapperOfEvent;
    /** Where a stream of HTTP/2 has its processor, and that its connection; null until one came. */
    private volatile Field processorOfStream;
    private volatile Field wrapperOfProcessor;
    /** Whether engines are OpenSSL's, of which Tomcat asks the class: they cannot tell of their handshakes. */
    volatile boolean foreignEngines;

    Visits() throws NoSuchFieldException {
        wrapperOfEvent = Fields.of(SocketProcessorBase.class, "socketWrapper");
    }

    /** What is to be executed in place of a task that is queued now. */
    Runnable queued(Runnable task) {
        Object wrapper = wrapper(task);
        if (wrapper == null) {
            return task;
        }
        ServerProbes.queued(wrapper, true);
        return new Visit(task, wrapper);
    }

    /** The connection that a task is for, or null. */
    private Object wrapper(Runnable task) {
        try {
            if (task instanceof SocketProcessorBase) {
                return wrapperOfEvent.get(task);
            }
            if (task.getClass().getName().equals(STREAM)) {
                if (wrapperOfProcessor == null) {
                    processorOfStream = Fields.of(task.getClass(), "processor");
                    wrapperOfProcessor = Fields.of(processorOfStream.getType(), "socketWrapper");
                }
                return wrapperOfProcessor.get(processorOfStream.get(task));
            }
        } catch (ReflectiveOperationException otherVersion) {
            return null; // it runs, unseen
        }
        return null;
    }

    private static boolean shakesHands(Object wrapper) {
        Object channel = ((SocketWrapperBase<?>) wrapper).getSocket();
        return channel instanceof SecureNioChannel && !((SecureNioChannel) channel).isHandshakeComplete();
    }

    /** A task within a visit to its connection. */
    private final class Visit implements Runnable {
        private final Runnable task;
        private final Object wrapper;

        Visit(Runnable task, Object wrapper) {
            this.task = task;
            this.wrapper = wrapper;
        }

        @Override
        public void run() {
            long visit = ServerProbes.visitBegin(wrapper);
            boolean shakesHands = foreignEngines && shakesHands(wrapper);
            if (shakesHands) {
                ServerProbes.engineShakesHands(Resumption.UNTOLD);
            }
            try {
                task.run();
            } finally {
                if (shakesHands && ((SocketWrapperBase<?>) wrapper).isClosed()) {
                    ServerProbes.engineIsDone(false, false); // unless it was over when the wrapper was processed
                }
                ServerProbes.processed();
                ServerProbes.visitEnd(visit);
            }
        }
    }
}
