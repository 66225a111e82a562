package dev.loadline.agent.probes;

import dev.loadline.agent.boot.CallProbes;
import dev.loadline.agent.boot.GrpcProbes;
import dev.loadline.agent.boot.ServerProbes;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import net.bytebuddy.asm.Advice;

/**
 * In gRPC's core, above whichever transport: a request lasts from the making of its call to its close, and what the server's executor does
 * for it are visits. Its types appear only in code, as in {@link TomcatAdvice}.
 */
final class GrpcAdvice {
    private GrpcAdvice() {}

    /** The constructor of {@code ServerCallImpl}. */
    static final class Arrived {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(
                @Advice.This Object call, @Advice.FieldValue("stream") Object stream, @Advice.FieldValue("method") Object method) {
            GrpcProbes.arrived(call, stream, ((MethodDescriptor<?, ?>) method).getFullMethodName());
        }
    }

    /** {@code messagesAvailable}, {@code halfClosed} and {@code onReady} of its listener: the application's code. */
    static final class Visit {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static long enter(@Advice.FieldValue("call") Object call, @Advice.Local("service") int service) {
            long visit = GrpcProbes.visitBegin(call);
            service = visit == 0 ? 0 : ServerProbes.serviceBegin(((ServerCall<?, ?>) call).getMethodDescriptor().getFullMethodName());
            return visit;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter long visit, @Advice.Local("service") int service) {
            if (service != 0) {
                ServerProbes.serviceEnd(service);
            }
            ServerProbes.visitEnd(visit);
        }
    }

    /** {@code ServerCallImpl.close(status, trailers)}. */
    static final class Answered {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object call, @Advice.Argument(0) Object status) {
            GrpcProbes.answered(call, ((Status) status).getCode().value());
        }
    }

    /** {@code closed(status)} of its listener: the transport is done with it, however it ended. */
    static final class Closed {
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.FieldValue("call") Object call) {
            GrpcProbes.closed(call);
        }
    }

    /** {@code ManagedChannelImpl.RealChannel.newCall(method, options)}, of calls that are a request and its answer or answers. */
    static final class Made {
        @Advice.OnMethodExit(suppress = Throwable.class)
        static void exit(@Advice.This Object channel, @Advice.Argument(0) Object method, @Advice.Return Object call) {
            if (((MethodDescriptor<?, ?>) method).getType().clientSendsOneMessage()) {
                GrpcProbes.made(call, ((Channel) channel).authority());
            }
        }
    }

    /** {@code ClientCallImpl.start(observer, headers)}. */
    static final class Asks {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object call) {
            GrpcProbes.asks(call);
        }
    }

    /** {@code ClientCallImpl.closeObserver(observer, status, trailers)}, however it ended. */
    static final class HasAnswer {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object call) {
            GrpcProbes.hasAnswer(call);
        }
    }

    /** {@code ClientCalls.blockingUnaryCall(channel, method, options, request)}, which every blocking stub calls. */
    static final class Call {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(0) Object channel) {
            return CallProbes.begin("grpc", ((Channel) channel).authority());
        }
    }
}
