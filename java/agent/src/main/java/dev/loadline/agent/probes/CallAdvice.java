package dev.loadline.agent.probes;

import dev.loadline.agent.boot.CallProbes;
import java.net.HttpURLConnection;
import java.net.http.HttpRequest;
import net.bytebuddy.asm.Advice;

/** In clients of other services, whose thread waits for the answer. */
final class CallAdvice {
    private CallAdvice() {}

    /** {@code sun.net.www.protocol.http.HttpURLConnection.getInputStream()}: the first waits for the answer's head. */
    static final class OfUrl {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(
                @Advice.This HttpURLConnection connection,
                @Advice.FieldValue("inputStream") Object answer,
                @Advice.FieldValue("rememberedException") Object failure) {
            return answer == null && failure == null ? CallProbes.begin(connection.getURL()) : 0;
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch) {
            CallProbes.end(epoch);
        }
    }

    /** {@code jdk.internal.net.http.HttpClientImpl.send(request, handler)}. */
    static final class OfRequest {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(0) HttpRequest request) {
            return CallProbes.begin(request.uri());
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch) {
            CallProbes.end(epoch);
        }
    }

    /** Apache's {@code InternalHttpClient.doExecute(host, request, context)}: a host's text is its scheme, name and port. */
    static final class OfHost {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(0) Object host) {
            return CallProbes.beginNamed(host);
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch) {
            CallProbes.end(epoch);
        }
    }
}
