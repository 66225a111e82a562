package dev.loadline.agent.probes;

import static net.bytebuddy.matcher.ElementMatchers.isAbstract;
import static net.bytebuddy.matcher.ElementMatchers.declaresField;
import static net.bytebuddy.matcher.ElementMatchers.isBridge;
import static net.bytebuddy.matcher.ElementMatchers.isConstructor;
import static net.bytebuddy.matcher.ElementMatchers.isDeclaredBy;
import static net.bytebuddy.matcher.ElementMatchers.isNative;
import static net.bytebuddy.matcher.ElementMatchers.isStatic;
import static net.bytebuddy.matcher.ElementMatchers.nameStartsWith;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.not;
import static net.bytebuddy.matcher.ElementMatchers.returns;
import static net.bytebuddy.matcher.ElementMatchers.takesArgument;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;
import static net.bytebuddy.matcher.ElementMatchers.takesNoArguments;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.matcher.ElementMatcher;

/** All rules: by class name, and by shape. */
final class Rules {
    /** Of the servlet's interfaces. */
    private static final String[] EDITIONS = {"jakarta.servlet.", "javax.servlet."};

    private static final String NET = "org.apache.tomcat.util.net.";
    private static final ElementMatcher.Junction<MethodDescription> HAS_CODE =
            not(isAbstract()).and(not(isNative()));
    private static final ElementMatcher.Junction<MethodDescription> OF_OBJECT = HAS_CODE.and(not(isStatic()));

    /** In OSGi: Equinox, and so Open Liberty. */
    private static final String LOADER = "org.eclipse.osgi.internal.loader.ModuleClassLoader";

    private final Map<String, List<Rule>> named = new HashMap<>();

    Rules() {
        loaders();
        tomcat();
        jetty();
        netty();
        executors();
        undertow();
        exchanges();
        helidon();
        servlets();
        asynchronous();
        tls();
        grpc();
        calls();
        virtualThreads();
        iiop();
    }

    /** Names of classes that have rules of their own. */
    boolean isNamed(String className) {
        return named.containsKey(className);
    }

    /** Whether it is a class loader, of which others' rules depend. */
    static boolean isLoader(String className) {
        return className.equals(LOADER);
    }

    List<Rule> of(String className) {
        return named.getOrDefault(className, List.of());
    }

    private void add(String className, Rule... rules) {
        named.computeIfAbsent(className, unused -> new ArrayList<>()).addAll(Arrays.asList(rules));
    }

    private void loaders() {
        add(LOADER, new Rule("loadClass", named("loadClass").and(takesArguments(2)).and(takesArgument(0, String.class)), LoaderAdvice.Load.class));
    }

    private void tomcat() {
        for (String nio : new String[] {"Nio", "Nio2"}) {
            add(NET + nio + "Channel",
                    new Rule("reset", named("reset").and(takesArguments(2)), TomcatAdvice.ConnectionOpen.class));
            add(NET + nio + "Endpoint$" + nio + "SocketWrapper",
                    new Rule("doClose", named("doClose"), TomcatAdvice.ConnectionClose.class));
            add(NET + nio + "Endpoint$SocketProcessor",
                    new Rule("doRun", named("doRun"), TomcatAdvice.Visit.class).endingBy(VisitEnd.class));
            add(NET + "Secure" + nio + "Channel",
                    new Rule("handshake", named("handshake").and(returns(int.class)), TomcatAdvice.Handshake.class));
        }
        add(NET + "AbstractEndpoint",
                new Rule("processSocket", named("processSocket").and(takesArguments(3)), TomcatAdvice.Queued.class));
        add("org.apache.coyote.http11.Http11InputBuffer",
                new Rule("parseRequestLine", named("parseRequestLine"), TomcatAdvice.Parse.class));
        add("org.apache.coyote.http11.Http11Processor",
                new Rule("endRequest", named("endRequest").and(takesNoArguments()), TomcatAdvice.RequestEnd.class));
        add("org.apache.coyote.http2.StreamProcessor",
                new Rule("process", named("process").and(takesArguments(1)), TomcatAdvice.Visit.class).endingBy(VisitEnd.class),
                new Rule("recycle", named("recycle").and(takesNoArguments()), TomcatAdvice.RequestEnd.class));
        // GlassFish has classes of these names, on another connector.
        add("org.apache.catalina.connector.CoyoteAdapter",
                new Rule("service", named("service").and(takesArguments(2)).and(takesArgument(0, named("org.apache.coyote.Request"))),
                        TomcatAdvice.Request.class).ofRequests(),
                new Rule("asyncDispatch", named("asyncDispatch").and(takesArguments(3)), TomcatAdvice.AsyncStatus.class));
        add("org.apache.catalina.core.StandardWrapperValve",
                new Rule("invoke", named("invoke").and(takesArguments(2)).and(takesArgument(0, named("org.apache.catalina.connector.Request"))),
                        TomcatAdvice.Service.class).endingBy(ServiceEnd.class));
    }

    private void jetty() {
        String jetty = "org.eclipse.jetty.";
        ElementMatcher.Junction<MethodDescription> onFillable = named("onFillable").and(takesNoArguments());
        // Before Jetty 12 the field has another name, and an end point no such address.
        ElementMatcher.Junction<MethodDescription> in12 = isDeclaredBy(declaresField(named("_bufferPool"))).and(takesArguments(1));
        add(jetty + "server.AbstractConnector",
                Rule.ifThere("onEndPointOpened", named("onEndPointOpened").and(in12), JettyAdvice.ConnectionOpen.class),
                Rule.ifThere("onEndPointClosed", named("onEndPointClosed").and(in12), JettyAdvice.ConnectionClose.class));
        add(jetty + "io.SelectableChannelEndPoint",
                new Rule("onSelected", named("onSelected").and(takesNoArguments()), JettyAdvice.Selected.class));
        add(jetty + "io.ssl.SslConnection", new Rule("onFillable", onFillable, JettyAdvice.TlsVisit.class).endingBy(VisitEnd.class));
        add(jetty + "io.ssl.SslConnection$SslEndPoint",
                new Rule("handshakeSucceeded", named("handshakeSucceeded").or(named("lockedHandshakeSucceeded")).and(takesNoArguments()),
                        JettyAdvice.HandshakeDone.class),
                new Rule("handshakeFailed", named("handshakeFailed").and(takesArguments(1)), JettyAdvice.HandshakeFailed.class));
        add(jetty + "server.internal.HttpConnection", new Rule("onFillable", onFillable, JettyAdvice.Visit.class).endingBy(VisitEnd.class));
        add(jetty + "server.internal.HttpConnection$RequestHandler",
                new Rule("startRequest", named("startRequest").and(takesArguments(3)), JettyAdvice.Parse.class));
        add(jetty + "server.internal.HttpChannelState$HandlerInvoker",
                new Rule("run", named("run").and(takesNoArguments()), JettyAdvice.Handle.class).endingBy(VisitEnd.class).ofRequests(),
                Rule.ifThere("completeStream", named("completeStream").and(takesArguments(2)), JettyAdvice.CompleteInvoker.class).endingBy(VisitEnd.class));
        add(jetty + "server.internal.HttpChannelState",
                Rule.ifThere("completeStream", named("completeStream").and(takesArguments(2)), JettyAdvice.Complete.class).endingBy(VisitEnd.class));
        for (String edition : new String[] {"ee10", "ee11"}) {
            add(jetty + edition + ".servlet.ServletHandler$MappedServlet",
                    new Rule("handle", named("handle").and(takesArguments(4)), JettyAdvice.Service.class).endingBy(ServiceEnd.class));
        }
    }

    private void netty() {
        String netty = "io.netty.";
        add(netty + "channel.DefaultChannelPipeline",
                new Rule("fireChannelActive", named("fireChannelActive").and(takesNoArguments()), NettyAdvice.ConnectionOpen.class),
                new Rule("fireChannelInactive", named("fireChannelInactive").and(takesNoArguments()), NettyAdvice.ConnectionClose.class),
                new Rule("fireChannelRead", named("fireChannelRead").and(takesArguments(1)), NettyAdvice.Visit.class).endingBy(VisitEnd.class));
        add(netty + "handler.ssl.SslHandler",
                new Rule("decode", named("decode").and(takesArguments(3)), NettyAdvice.Handshake.class),
                new Rule("setHandshakeSuccess", named("setHandshakeSuccess").and(takesNoArguments()), NettyAdvice.HandshakeDone.class),
                new Rule("setHandshakeFailure", named("setHandshakeFailure"), NettyAdvice.HandshakeFailed.class));
        String loops = netty + "util.concurrent.";
        add(loops + "SingleThreadEventExecutor",
                new Rule("execute", named("execute").and(takesArguments(1)), TaskAdvice.GivenToLoop.class));
        add(loops + "AbstractEventExecutor",
                Rule.ifThere("runTask", named("runTask").and(takesArguments(1)), TaskAdvice.RunByLoop.class));
        Rule request = new Rule("createMessage",
                named("createMessage").and(takesArgument(0, String[].class)), NettyAdvice.Request.class).ofRequests();
        add(netty + "handler.codec.http.HttpRequestDecoder", request);
        // Their own, which do not ask the one above.
        add("io.vertx.core.http.impl.VertxHttpRequestDecoder", request);
        add("com.linecorp.armeria.server.HttpServerCodec$HttpServerRequestDecoder", request);
        add(netty + "handler.codec.http.HttpObjectEncoder",
                new Rule("encode", named("encode").and(takesArguments(3)).and(takesArgument(2, List.class)), NettyAdvice.Response.class));
        String http2 = netty + "handler.codec.http2.";
        add(http2 + "DefaultHttp2ConnectionDecoder$FrameReadListener",
                new Rule("onHeadersRead", named("onHeadersRead").and(takesArguments(8)), NettyAdvice.StreamHeaders.class).endingBy(VisitEnd.class),
                new Rule("onDataRead", named("onDataRead").and(takesArguments(5)), NettyAdvice.StreamData.class).endingBy(VisitEnd.class));
        add(http2 + "InboundHttpToHttp2Adapter",
                Rule.ifThere("handle", named("handle").and(isStatic()).and(takesArguments(4)), NettyAdvice.Upgraded.class)
                        .endingBy(VisitEnd.class));
        add(http2 + "DefaultHttp2ConnectionEncoder",
                new Rule("writeHeaders0", named("writeHeaders0").and(takesArguments(10)), NettyAdvice.StreamAnswer.class));
        add(http2 + "DefaultHttp2ConnectionEncoder$FlowControlledBase",
                new Rule("writeComplete", named("writeComplete").and(takesNoArguments()), NettyAdvice.StreamAnswered.class));
        add(http2 + "DefaultHttp2Connection",
                new Rule("notifyClosed", named("notifyClosed").and(takesArguments(1)), NettyAdvice.StreamClose.class));
    }

    /** A subclass that overrides what is called before and after a task, without asking these, tells nothing. */
    private void executors() {
        String concurrent = "java.util.concurrent.";
        add(concurrent + "ThreadPoolExecutor",
                new Rule("execute", named("execute").and(takesArguments(1)), TaskAdvice.Given.class),
                new Rule("beforeExecute", named("beforeExecute").and(takesArguments(2)), TaskAdvice.Begins.class),
                new Rule("afterExecute", named("afterExecute").and(takesArguments(2)), TaskAdvice.Ends.class));
        add(concurrent + "ScheduledThreadPoolExecutor",
                new Rule("delayedExecute", named("delayedExecute").and(takesArguments(1)), TaskAdvice.Scheduled.class));
        add("kotlinx.coroutines.DispatchedTask", new Rule("run", named("run").and(takesNoArguments()), TaskAdvice.Resumed.class));
        // What has no executor but a thread of its own: Spring's SimpleAsyncTaskExecutor, for one.
        add(concurrent + "FutureTask",
                new Rule("constructor", isConstructor(), TaskAdvice.MadeAsIs.class),
                new Rule("run", named("run").and(takesNoArguments()), TaskAdvice.Run.class).endingBy(VisitEnd.class));
        tasks("run", concurrent + "CompletableFuture$AsyncSupply", concurrent + "CompletableFuture$AsyncRun",
                concurrent + "ThreadPerTaskExecutor$TaskRunner");
        // Whose executor is its own, or runs one task after the other as if they were one.
        tasks("run", "io.vertx.core.impl.WorkerTask", "org.jboss.resteasy.reactive.common.core.AbstractResteasyReactiveContext");
        tasks("call", "reactor.core.scheduler.SchedulerTask", "reactor.core.scheduler.WorkerTask");
    }

    private void tasks(String run, String... classNames) {
        for (String task : classNames) {
            add(task,
                    new Rule("constructor", isConstructor(), TaskAdvice.Made.class),
                    new Rule(run, named(run).and(takesNoArguments()).and(not(isBridge())), TaskAdvice.Run.class).endingBy(VisitEnd.class));
        }
    }

    private void undertow() {
        String server = "io.undertow.server.";
        add(server + "AbstractServerConnection", new Rule("constructor", isConstructor(), UndertowAdvice.ConnectionOpen.class));
        add(server + "AbstractServerConnection$CloseSetter",
                new Rule("handleEvent", named("handleEvent").and(takesArgument(0, named("org.xnio.StreamConnection"))),
                        UndertowAdvice.ConnectionClose.class));
        add("io.undertow.protocols.ssl.SslConduit",
                new Rule("doUnwrap", named("doUnwrap").and(takesArguments(3)), UndertowAdvice.HandshakeStep.class),
                new Rule("doWrap", named("doWrap").and(takesArguments(3)), UndertowAdvice.HandshakeStep.class),
                new Rule("closed", named("closed").and(takesNoArguments()), UndertowAdvice.HandshakeGone.class));
        add(server + "protocol.http.HttpReadListener",
                new Rule("handleEvent", named("handleEvent").and(takesArgument(0, named("org.xnio.conduits.ConduitStreamSourceChannel"))),
                        UndertowAdvice.Visit.class).endingBy(VisitEnd.class));
        add(server + "Connectors",
                new Rule("executeRootHandler", named("executeRootHandler").and(takesArguments(2)), UndertowAdvice.Handle.class).endingBy(VisitEnd.class).ofRequests());
        add(server + "HttpServerExchange",
                new Rule("unDispatch", named("unDispatch").and(takesNoArguments()), UndertowAdvice.HandOver.class),
                new Rule("invokeExchangeCompleteListeners",
                        named("invokeExchangeCompleteListeners").and(takesNoArguments()), UndertowAdvice.Complete.class));
        add("io.undertow.servlet.handlers.ServletInitialHandler",
                new Rule("dispatchRequest", named("dispatchRequest").and(takesArguments(4)), UndertowAdvice.Service.class).endingBy(ServiceEnd.class));
    }

    /** Of the JDK's own server. It may stand beside a container, for metrics perhaps: that one tells its requests all the same. */
    private void exchanges() {
        String server = "sun.net.httpserver.";
        add(server + "HttpConnection",
                new Rule("setChannel", named("setChannel").and(takesArguments(1)), ExchangeAdvice.ConnectionOpen.class),
                new Rule("close", named("close").and(takesNoArguments()), ExchangeAdvice.ConnectionClose.class));
        add(server + "ServerImpl$Dispatcher", new Rule("handle", named("handle").and(takesArguments(2)), ExchangeAdvice.Queued.class));
        add(server + "ServerImpl$Exchange",
                new Rule("run", named("run").and(takesNoArguments()), ExchangeAdvice.Visit.class).endingBy(VisitEnd.class),
                new Rule("reject", named("reject").and(takesArgument(0, int.class)).and(takesArgument(1, String.class)), ExchangeAdvice.Rejected.class));
        add(server + "SSLStreams", new Rule("doHandshake", named("doHandshake").and(takesArguments(1)), ExchangeAdvice.Handshake.class));
        add(server + "ExchangeImpl",
                new Rule("constructor", isConstructor().and(takesArguments(5)), ExchangeAdvice.Begins.class),
                new Rule("sendResponseHeaders", named("sendResponseHeaders").and(takesArgument(0, int.class)), ExchangeAdvice.Answered.class),
                Rule.ifThere("postExchangeFinished", named("postExchangeFinished").and(takesArguments(boolean.class)), ExchangeAdvice.Finished.class));
        for (String written : new String[] {"WriteFinishedEvent", "Event$WriteFinished"}) {
            add(server + written, new Rule("constructor", isConstructor(), ExchangeAdvice.Written.class));
        }
        add("com.sun.net.httpserver.Filter$Chain", new Rule("doFilter", named("doFilter").and(takesArguments(1)), ExchangeAdvice.Service.class));
    }

    /** Of Helidon from 4 on; before that it was Netty. */
    private void helidon() {
        String server = "io.helidon.webserver.";
        add(server + "ConnectionHandler",
                new Rule("run", named("run").and(takesNoArguments()).and(isDeclaredBy(declaresField(named("socket")))), HelidonAdvice.Connection.class));
        add(server + "http.HttpRoutingImpl",
                new Rule("route", named("route").and(takesArguments(3)).and(not(isStatic())), HelidonAdvice.Route.class).ofRequests());
    }

    /** A request of theirs that is to go on elsewhere. */
    private void asynchronous() {
        String[] requests = {
            "org.apache.catalina.connector.Request", "org.eclipse.jetty.ee10.servlet.ServletApiRequest",
            "org.eclipse.jetty.ee11.servlet.ServletApiRequest", "io.undertow.servlet.spec.HttpServletRequestImpl",
        };
        for (String request : requests) {
            add(request, new Rule("startAsync", named("startAsync"), TaskAdvice.Asynchronous.class));
        }
    }

    /** Of containers without rules of their own; their filters have no name, but a shape. */
    private void servlets() {
        for (String edition : EDITIONS) {
            add(edition + "http.HttpServlet",
                    new Rule("service", named("service").and(takesArguments(2)).and(takesArgument(0, named(edition + "ServletRequest"))),
                            ServletAdvice.Service.class));
        }
    }

    private void tls() {
        for (String version : new String[] {"T12", "T13"}) {
            add("sun.security.ssl.CertificateMessage$" + version + "CertificateProducer",
                    new Rule("onProduceCertificate(server)",
                            named("onProduceCertificate")
                                    .and(takesArgument(0, named("sun.security.ssl.ServerHandshakeContext"))),
                            TomcatAdvice.Certificate.class));
        }
    }

    /** Nobody else's: a container's filters and servlets beside it are told all the same. */
    private void grpc() {
        String call = "io.grpc.internal.ServerCallImpl";
        ElementMatcher.Junction<MethodDescription> application = named("messagesAvailable").or(named("halfClosed")).or(named("onReady"));
        add(call,
                new Rule("constructor", isConstructor(), GrpcAdvice.Arrived.class),
                new Rule("close", named("close").and(takesArguments(2)), GrpcAdvice.Answered.class));
        add(call + "$ServerStreamListenerImpl",
                new Rule("halfClosed", application, GrpcAdvice.Visit.class),
                new Rule("closed", named("closed").and(takesArguments(1)), GrpcAdvice.Closed.class));
        add("io.grpc.internal.ManagedChannelImpl$RealChannel",
                new Rule("newCall", named("newCall").or(named("newClientCall")).and(takesArguments(2)), GrpcAdvice.Made.class));
        add("io.grpc.internal.ClientCallImpl",
                new Rule("start", named("start").and(takesArguments(2)), GrpcAdvice.Asks.class),
                new Rule("closeObserver", named("closeObserver").and(takesArguments(3)), GrpcAdvice.HasAnswer.class));
        add("io.grpc.stub.ClientCalls",
                call("blockingUnaryCall", named("blockingUnaryCall").and(takesArguments(4)), GrpcAdvice.Call.class));
    }

    /** A call whose thread waits for the answer. */
    private static Rule call(String what, ElementMatcher<? super MethodDescription> methods, Class<?> advice) {
        return new Rule(what, methods, advice).endingBy(CallAdvice.End.class);
    }

    /** Other services that are called by HTTP, and stores that are none of JDBC's. */
    private void calls() {
        add("sun.net.www.protocol.http.HttpURLConnection",
                call("getInputStream", named("getInputStream").and(takesNoArguments()), CallAdvice.OfUrl.class));
        add("jdk.internal.net.http.HttpClientImpl",
                call("send", named("send").and(takesArguments(2)), CallAdvice.OfRequest.class),
                new Rule("sendAsync", named("sendAsync").and(takesArguments(3)), CallAdvice.OfFuture.class));
        add("reactor.netty.http.client.HttpClientConnect$MonoHttpConnect",
                new Rule("subscribe", named("subscribe").and(takesArguments(1)), CallAdvice.OfReactor.class));
        add("io.vertx.core.http.impl.HttpClientImpl",
                new Rule("doRequest", named("doRequest").and(takesArgument(2, String.class)).and(takesArgument(4, Boolean.class)), CallAdvice.OfVertx.class));
        add("io.lettuce.core.protocol.DefaultEndpoint",
                new Rule("write", named("write").and(takesArguments(1)).and(takesArgument(0, named("io.lettuce.core.protocol.RedisCommand"))),
                        CallAdvice.OfLettuce.class));
        add("redis.clients.jedis.Connection",
                call("executeCommand", named("executeCommand").and(takesArguments(1)), CallAdvice.OfJedis.class));
        add("com.mongodb.internal.connection.InternalStreamConnection",
                call("sendAndReceive", named("sendAndReceive"), CallAdvice.OfMongo.class));
        for (String ok : new String[] {"okhttp3", "okhttp3.internal.connection"}) {
            add(ok + ".RealCall",
                    call("getResponseWithInterceptorChain", nameStartsWith("getResponseWithInterceptorChain").and(takesNoArguments()),
                            CallAdvice.OfOkHttp.class));
        }
        add("org.eclipse.jetty.client.transport.HttpDestination",
                new Rule("send", named("send").and(takesArgument(0, named("org.eclipse.jetty.client.transport.HttpRequest"))), CallAdvice.OfJetty.class));
        add("org.apache.hc.client5.http.impl.async.InternalAbstractHttpAsyncClient",
                new Rule("executeImmediate", named("executeImmediate").and(takesArguments(5)), CallAdvice.OfScope.class));
        add("org.apache.hc.core5.concurrent.BasicFuture",
                new Rule("completed", named("completed").or(named("failed")).and(takesArguments(1)).or(named("cancel").and(takesArguments(1))),
                        CallAdvice.Over.class));
        for (String client : new String[] {"org.apache.http.impl.client", "org.apache.hc.client5.http.impl.classic"}) {
            add(client + ".InternalHttpClient", call("doExecute", named("doExecute").and(takesArguments(3)), CallAdvice.OfHost.class));
        }
    }

    /** What lets a virtual thread go on: an unpark; from 24 on also who left a monitor, or a wait that times out. */
    private void virtualThreads() {
        add("java.lang.VirtualThread",
                new Rule("unpark", OF_OBJECT.and(isInnermostUnpark().or(named("unblock")).or(named("waitTimeoutExpired"))),
                        ThreadAdvice.GoesOn.class));
    }

    /** The callers' side; the servers' has no name, but a shape. */
    private void iiop() {
        add("org.omg.CORBA.portable.ObjectImpl",
                new Rule("_request", named("_request").and(takesArguments(2)), IiopAdvice.Asked.class),
                call("_invoke", named("_invoke").and(takesArguments(1)), IiopAdvice.Call.class));
    }

    /** {@code unpark(boolean)}, through which {@code unpark()} goes where there is one. */
    private static ElementMatcher.Junction<MethodDescription> isInnermostUnpark() {
        return new ElementMatcher.Junction.AbstractBase<>() {
            @Override
            public boolean matches(MethodDescription method) {
                return method.getName().equals("unpark")
                        && (!method.getParameters().isEmpty()
                                || method.getDeclaringType().getDeclaredMethods()
                                        .filter(named("unpark").and(takesArguments(1))).isEmpty());
            }
        };
    }

    /**
     * Returns this, or a type of its own in place of it, as Druid's pool does: then the compiler has made a bridge, which has no probes.
     */
    private static ElementMatcher.Junction<MethodDescription> gives(String type) {
        return new ElementMatcher.Junction.AbstractBase<>() {
            @Override
            public boolean matches(MethodDescription method) {
                return method.getReturnType().asErasure().getName().equals(type)
                        || !method.getDeclaringType().getDeclaredMethods()
                                .filter(isBridge().and(named(method.getName())).and(returns(named(type))).and(takes(method))).isEmpty();
            }
        };
    }

    /** Takes the same arguments. */
    private static ElementMatcher<MethodDescription> takes(MethodDescription other) {
        return method -> method.getParameters().asTypeList().asErasures().equals(other.getParameters().asTypeList().asErasures());
    }

    /** Rules by shape; those that find no method do nothing. */
    static final List<Rule> SHAPES = List.of(
            new Rule("chooseEngineServerAlias",
                    OF_OBJECT.and(named("chooseEngineServerAlias")).and(takesArguments(3)), TomcatAdvice.Key.class),
            new Rule("getConnection",
                    OF_OBJECT.and(named("getConnection")).and(gives("java.sql.Connection")),
                    JdbcAdvice.GetConnection.class),
            new Rule("prepareStatement",
                    OF_OBJECT.and(named("prepareStatement").or(named("prepareCall"))).and(takesArgument(0, String.class))
                            .and(gives("java.sql.PreparedStatement").or(gives("java.sql.CallableStatement"))),
                    JdbcAdvice.Prepare.class),
            new Rule("execute(String)",
                    OF_OBJECT.and(isExecute()).and(takesArgument(0, String.class)), JdbcAdvice.ExecuteText.class),
            new Rule("execute()", OF_OBJECT.and(isExecute()).and(takesNoArguments()), JdbcAdvice.ExecutePrepared.class),
            new Rule("close",
                    OF_OBJECT.and(named("close")).and(takesNoArguments()).and(returns(void.class)), JdbcAdvice.Close.class),
            new Rule("_invoke",
                    OF_OBJECT.and(named("_invoke")).and(takesArguments(3)).and(takesArgument(0, String.class))
                            .and(takesArgument(2, named("org.omg.CORBA.portable.ResponseHandler"))),
                    IiopAdvice.Serve.class),
            new Rule("doFilter",
                    OF_OBJECT.and(named("doFilter")).and(takesArguments(3))
                            .and(takesArgument(2, named(EDITIONS[0] + "FilterChain").or(named(EDITIONS[1] + "FilterChain")))),
                    ServletAdvice.Filter.class),
            new Rule("dispatch",
                    OF_OBJECT.and(named("dispatch")).and(takesArguments(2)).and(takesArgument(0, named("kotlin.coroutines.CoroutineContext")))
                            .and(takesArgument(1, Runnable.class)),
                    TaskAdvice.Dispatched.class));

    private static ElementMatcher.Junction<MethodDescription> isExecute() {
        return named("execute").or(named("executeQuery")).or(named("executeUpdate"))
                .or(named("executeLargeUpdate")).or(named("executeBatch")).or(named("executeLargeBatch"));
    }
}
