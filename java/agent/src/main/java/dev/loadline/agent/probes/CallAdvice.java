package dev.loadline.agent.probes;

import com.mongodb.connection.ServerId;
import dev.loadline.agent.boot.AskProbes;
import dev.loadline.agent.boot.CallProbes;
import io.lettuce.core.protocol.CompleteableCommand;
import io.netty.channel.Channel;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpClientRequest;
import java.net.HttpURLConnection;
import java.net.http.HttpRequest;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import net.bytebuddy.asm.Advice;
import okhttp3.HttpUrl;
import okhttp3.Request;
import org.apache.hc.client5.http.async.AsyncExecChain;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.http.client.HttpClientConfig;
import redis.clients.jedis.DefaultJedisSocketFactory;

/** In clients of other services. Types of libraries appear only in code, as in {@link TomcatAdvice}. */
final class CallAdvice {
    private CallAdvice() {}

    /** The end of each whose thread waits for the answer. */
    static final class End {
        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter int epoch) {
            CallProbes.end(epoch);
        }
    }

    /** {@code sun.net.www.protocol.http.HttpURLConnection.getInputStream()}: the first waits for the answer's head. */
    static final class OfUrl {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(
                @Advice.This HttpURLConnection connection,
                @Advice.FieldValue("inputStream") Object answer,
                @Advice.FieldValue("rememberedException") Object failure) {
            return answer == null && failure == null ? CallProbes.begin(connection.getURL()) : 0;
        }
    }

    /** {@code jdk.internal.net.http.HttpClientImpl.send(request, handler)}. */
    static final class OfRequest {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(0) HttpRequest request) {
            return CallProbes.begin(request.uri());
        }
    }

    /** Its {@code sendAsync(request, handler, push)}, which frameworks call where they wait for the answer, too. */
    static final class OfFuture {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static AskProbes.Asked enter(@Advice.Argument(0) HttpRequest request) {
            return AskProbes.ask(request.uri());
        }

        @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
        static void exit(@Advice.Enter AskProbes.Asked call, @Advice.Return CompletableFuture<?> answer) {
            AskProbes.answeredBy(call, answer);
        }
    }

    /**
     * Reactor Netty's {@code MonoHttpConnect.subscribe(subscriber)}: until its response has come to its last byte, it has failed, or
     * nobody wants it any more. That its head has come only who subscribes is told, with the connection that tells the rest. So
     * what it does is to subscribe once more, with the call in between.
     */
    static final class OfReactor {
        @SuppressWarnings({"rawtypes", "unchecked"})
        @Advice.OnMethodEnter(suppress = Throwable.class, skipOn = Advice.OnNonDefaultValue.class)
        static boolean enter(
                @Advice.This Object connect, @Advice.FieldValue("config") Object config, @Advice.Argument(0) Object subscriber) {
            HttpClientConfig of = (HttpClientConfig) config;
            AskProbes.Asked call = AskProbes.askAgain(of.uri(), of.baseUrl());
            if (call != null) {
                Function<Connection, Mono<Void>> whole = Connection::onTerminate;
                Consumer<Object> head = AskProbes.answeredIn(call, (Function) whole.andThen(Mono::toFuture));
                ((Mono) connect).doOnNext(head).doOnError(call).doOnCancel(call).subscribe((CoreSubscriber) subscriber);
                AskProbes.hasAskedAgain();
            }
            return call != null;
        }
    }

    /** OkHttp's {@code RealCall.getResponseWithInterceptorChain()}, on the thread of the caller or on one of its dispatcher's. */
    static final class OfOkHttp {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.FieldValue("originalRequest") Object request) {
            HttpUrl url = ((Request) request).url();
            return CallProbes.begin(url.scheme(), url.host(), url.port() == HttpUrl.defaultPort(url.scheme()) ? -1 : url.port());
        }
    }

    /** Vert.x' {@code HttpClientImpl.doRequest(method, server, host, port, isTls, …, promise)}, before a connection is looked for. */
    static final class OfVertx {
        @SuppressWarnings("unchecked")
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(
                @Advice.Argument(2) String host, @Advice.Argument(3) int port, @Advice.Argument(4) Boolean isTls, @Advice.AllArguments Object[] all) {
            if (AskProbes.tells()) {
                Promise<HttpClientRequest> promised = (Promise<HttpClientRequest>) all[all.length - 1];
                boolean plain = isTls == null ? port != 443 : !isTls; // null: as the client is made, which it does not tell here
                AskProbes.Asked call = AskProbes.ask(plain ? "http" : "https", host, port == (plain ? 80 : 443) ? -1 : port);
                if (call != null) {
                    promised.future().compose(HttpClientRequest::response).toCompletionStage()
                            .whenComplete((BiConsumer<Object, Throwable>) call);
                }
            }
        }
    }

    /** Lettuce's {@code DefaultEndpoint.write(command)}, however the command was given; who sent it may wait for it. */
    static final class OfLettuce {
        @SuppressWarnings("unchecked")
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.FieldValue("channel") Object channel, @Advice.Argument(0) Object command) {
            if (command instanceof CompleteableCommand) {
                AskProbes.Asked call = AskProbes.ask("redis", channel == null ? null : ((Channel) channel).remoteAddress());
                if (call != null) {
                    ((CompleteableCommand<Object>) command).onComplete((BiConsumer<Object, Throwable>) call);
                }
            }
        }
    }

    /** Jedis' {@code Connection.executeCommand(command)}, of several kinds that call each other. */
    static final class OfJedis {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.FieldValue("socketFactory") Object factory) {
            boolean isPlain = factory instanceof DefaultJedisSocketFactory;
            return isPlain
                    ? CallProbes.begin("redis", ((DefaultJedisSocketFactory) factory).getHostAndPort())
                    : CallProbes.beginNamed("redis");
        }
    }

    /** {@code InternalStreamConnection.sendAndReceive} of MongoDB's blocking driver, but for the threads that watch the servers. */
    static final class OfMongo {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.FieldValue("serverId") Object server) {
            boolean watches = Thread.currentThread().getName().startsWith("cluster-");
            return watches ? 0 : CallProbes.begin("mongodb", ((ServerId) server).getAddress());
        }
    }

    /** Jetty's {@code HttpDestination.send(request)}, before a connection is looked for: until its response has come, or it has failed. */
    static final class OfJetty {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(0) Object request) {
            if (AskProbes.tells()) {
                org.eclipse.jetty.client.Request asks = (org.eclipse.jetty.client.Request) request;
                AskProbes.Asked call = AskProbes.ask(asks.getURI());
                if (call != null) {
                    asks.onComplete(call::accept);
                }
            }
        }
    }

    /** {@code executeImmediate(request, entity, scope, …)} of Apache's asynchronous clients: the scope has what the answer comes to. */
    static final class OfScope {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.Argument(2) Object scope) {
            if (AskProbes.tells()) {
                AsyncExecChain.Scope of = (AsyncExecChain.Scope) scope;
                AskProbes.awaited(AskProbes.askNamed(of.route.getTargetHost().toString()), of.cancellableDependency);
            }
        }
    }

    /** {@code completed}, {@code failed} or {@code cancel} of Apache's futures. */
    static final class Over {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static void enter(@Advice.This Object future) {
            AskProbes.over(future);
        }
    }

    /** Apache's {@code InternalHttpClient.doExecute(host, request, context)}: a host's text is its scheme, name and port. */
    static final class OfHost {
        @Advice.OnMethodEnter(suppress = Throwable.class)
        static int enter(@Advice.Argument(0) Object host) {
            return CallProbes.beginNamed(host);
        }
    }
}
