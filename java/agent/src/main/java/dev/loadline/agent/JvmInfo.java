package dev.loadline.agent;

import dev.loadline.agent.boot.ServletProbes;
import java.lang.instrument.Instrumentation;
import java.util.Set;

/** What the header's JSON says about this JVM: VM, Java, server, and the program's short name. */
final class JvmInfo {
    private static final String TOMCAT = "org.apache.catalina.core.StandardWrapperValve";
    private static final String JETTY = "org.eclipse.jetty.server.AbstractConnector";
    private static final String UNDERTOW = "io.undertow.server.AbstractServerConnection";
    private static final String HELIDON = "io.helidon.webserver.ConnectionHandler";
    /** What only servers load. */
    private static final String NETTY = "io.netty.handler.codec.http.HttpRequestDecoder";
    private static final String GRPC = "io.grpc.internal.ServerImpl";
    private static final String JDK = "sun.net.httpserver.ServerImpl";
    private static final Set<String> SERVERS = Set.of(TOMCAT, JETTY, UNDERTOW, HELIDON, NETTY, GRPC, JDK);

    private final Instrumentation instrumentation;
    /** A server's class is being loaded, or was: it is none of the loaded ones yet when this is told. */
    private volatile boolean serverLoads;
    private String server = "";
    private String told = "";

    JvmInfo(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** @param coverage where the server level comes from, as JSON, and what else is to be said of coverage */
    String json(String coverage) {
        server = server();
        told = coverage;
        return "{\"jvm\": " + quote(System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"))
                + ", \"java\": " + Runtime.version().feature()
                + ", \"server\": " + (server.isEmpty() ? "null" : quote(server))
                + ", \"server_by\": " + coverage
                + ", \"name\": " + quote(shortName(System.getProperty("sun.java.command", ""))) + "}";
    }

    /** A class was loaded while recording: it may be a server's. */
    void classLoaded(String name) {
        if (SERVERS.contains(name)) {
            serverLoads = true;
        }
    }

    /** The JSON, if it has changed since it was last asked for. */
    String changed(String coverage) {
        String container = ServletProbes.container();
        boolean appeared = container == null ? server.isEmpty() && serverLoads : !container.equals(server);
        return appeared || !coverage.equals(told) ? json(coverage) : null;
    }

    private String server() {
        if (ServletProbes.container() != null) {
            return ServletProbes.container(); // whatever else is loaded: it tells the requests
        }
        String found = "";
        boolean isOfJdk = false;
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getName().equals(TOMCAT)) {
                return told(loaded, "org.apache.catalina.util.ServerInfo", "getServerInfo", "", "Apache Tomcat");
            }
            if (loaded.getName().equals(JETTY)) {
                return told(loaded, "org.eclipse.jetty.server.Server", "getVersion", "Jetty ", "Jetty");
            }
            if (loaded.getName().equals(UNDERTOW)) {
                return told(loaded, "io.undertow.Version", "getVersionString", "Undertow ", "Undertow");
            }
            if (loaded.getName().equals(HELIDON)) {
                return withVersion("Helidon", loaded);
            }
            // Unless there is one that may have these beside it.
            if (loaded.getName().equals(GRPC)) {
                found = withVersion("gRPC", loaded);
            } else if (loaded.getName().equals(NETTY) && found.isEmpty()) {
                found = withVersion("Netty", loaded);
            }
            isOfJdk |= loaded.getName().equals(JDK);
        }
        return found.isEmpty() && isOfJdk ? "HttpServer of the JDK" : found;
    }

    private static String withVersion(String name, Class<?> of) {
        String version = of.getPackage().getImplementationVersion();
        return version == null ? name : name + " " + version;
    }

    /** What a static method of the server says of its name and version, behind {@code before}. */
    private static String told(Class<?> beside, String type, String method, String before, String otherwise) {
        try {
            Class<?> info = Class.forName(type, true, beside.getClassLoader());
            return before + info.getMethod(method).invoke(null);
        } catch (ReflectiveOperationException | LinkageError unknown) {
            return otherwise;
        }
    }

    /** "shop" of "/opt/shop.jar --port 80", "Main" of "com.shop.Main". */
    static String shortName(String command) {
        int blank = command.indexOf(' ');
        String first = blank < 0 ? command : command.substring(0, blank);
        first = first.substring(first.lastIndexOf('/') + 1);
        if (first.endsWith(".jar")) {
            return first.substring(0, first.length() - ".jar".length());
        }
        return first.substring(first.lastIndexOf('.') + 1);
    }

    static String quote(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
