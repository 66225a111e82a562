package dev.loadline.agent.probes;

import dev.loadline.agent.boot.ServerProbes;
import net.bytebuddy.asm.Advice;

/**
 * In Tomcat 9, 10.1 and 11. Types of Tomcat appear only in code, which is resolved by the class that it
 * is copied into, never in a signature, which the agent itself would have to resolve.
 */
final class TomcatAdvice {
    private TomcatAdvice() {}

    /** {@code NioChannel.reset(socket, wrapper)}: a channel is given to a newly accepted socket. */
    static final class ConnectionOpen {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object channel, @Advice.Argument(1) Object wrapper) {
            ServerProbes.connectionOpen(wrapper, channel);
        }
    }

    /** {@code SocketWrapper.doClose()}, which runs once per connection. */
    static final class ConnectionClose {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object wrapper) {
            ServerProbes.connectionClose(wrapper);
        }
    }

    /** {@code AbstractEndpoint.processSocket(wrapper, event, dispatch)}. */
    static final class Queued {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object wrapper, @Advice.Argument(2) boolean dispatch) {
            ServerProbes.queued(wrapper, dispatch);
        }
    }

    /** A worker has a connection's lock, or an HTTP/2 stream to process. */
    static final class Visit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("socketWrapper") Object wrapper) {
            return ServerProbes.visitBegin(wrapper);
        }
    }

    /** A step of a handshake: 0 done, -1 failed, else an operation to wait for. */
    static final class Handshake {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter() {
            return ServerProbes.tlsEnter();
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(
                @Advice.Enter int epoch,
                @Advice.FieldValue("sslEngine") Object engine,
                @Advice.Return int result,
                @Advice.Thrown Throwable thrown) {
            ServerProbes.tlsExit(epoch, thrown == null ? result : -1, engine);
        }
    }

    /**
     * {@code X509ExtendedKeyManager.chooseEngineServerAlias}, of engines other than the JDK's: that one
     * asks it also to check a ticket (JDK 24 and later), and is probed where it sends its certificate.
     */
    static final class Key {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object self, @Advice.Argument(2) Object engine) {
            if (self instanceof javax.net.ssl.X509ExtendedKeyManager && !ServerProbes.isJdkEngine(engine)) {
                ServerProbes.tlsKey();
            }
        }
    }

    /** {@code CertificateMessage.*.onProduceCertificate}: the JDK's server sends its certificate. */
    static final class Certificate {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter() {
            ServerProbes.tlsKey();
        }
    }

    /** {@code Http11InputBuffer.parseRequestLine}, unless it goes on with a line that it has begun. */
    static final class Parse {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.FieldValue("parsingRequestLine") boolean parsing,
                @Advice.FieldValue("parsingRequestLinePhase") int phase) {
            if (parsing && phase < 2) {
                ServerProbes.parse();
            }
        }
    }

    /** {@code CoyoteAdapter.service}. */
    static final class Request {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object argument) {
            org.apache.coyote.Request request = (org.apache.coyote.Request) argument;
            ServerProbes.request(request.method().toString(), request.requestURI().toString());
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Argument(1) Object response) {
            ServerProbes.status(((org.apache.coyote.Response) response).getStatus());
        }
    }

    /** {@code CoyoteAdapter.asyncDispatch}: an asynchronous request goes on, and may have another status now. */
    static final class AsyncStatus {
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Argument(1) Object response) {
            ServerProbes.status(((org.apache.coyote.Response) response).getStatus());
        }
    }

    /** {@code Http11Processor.endRequest}, {@code StreamProcessor.recycle}: neither runs while a request is asynchronous. */
    static final class RequestEnd {
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit() {
            ServerProbes.requestEnd();
        }
    }

    /** {@code StandardWrapperValve.invoke}: filters and the servlet. */
    static final class Service {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.FieldValue("container") Object container) {
            return ServerProbes.serviceBegin(((org.apache.catalina.Container) container).getName());
        }
    }
}
