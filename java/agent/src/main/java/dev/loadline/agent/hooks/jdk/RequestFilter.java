package dev.loadline.agent.hooks.jdk;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpExchange;
import dev.loadline.agent.boot.ServerProbes;
import dev.loadline.agent.hooks.Fields;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;

/**
 * Tells of requests and their services. A request is over when its response's body is closed, on whichever thread, or, where there is none,
 * when what was to be written is.
 */
final class RequestFilter extends Filter {
    private static final String OWN = "sun.net.httpserver.";

    private final Field ofHttp;
    private final Field ofHttps;
    private final Field connection;
    private final Field written;

    RequestFilter(ClassLoader servers) throws ReflectiveOperationException {
        ofHttp = Fields.of(Class.forName(OWN + "HttpExchangeImpl", false, servers), "impl");
        ofHttps = Fields.of(Class.forName(OWN + "HttpsExchangeImpl", false, servers), "impl");
        Class<?> exchange = Class.forName(OWN + "ExchangeImpl", false, servers);
        connection = Fields.of(exchange, "connection");
        written = Fields.of(exchange, "writefinished");
    }

    @Override
    public String description() {
        return "tells Loadline of requests";
    }

    @Override
    public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
        Answer answer = begins(exchange);
        if (answer == null) {
            chain.doFilter(exchange);
            return;
        }
        long visit = ServerProbes.loopVisitBegin(answer.connection);
        try {
            ServerProbes.request(exchange.getRequestMethod(), exchange.getRequestURI().getRawPath());
            int service = ServerProbes.serviceBegin(exchange.getHttpContext().getPath());
            try {
                chain.doFilter(exchange);
            } finally {
                ServerProbes.serviceEnd(service);
            }
            if (isWritten(answer.impl)) {
                answer.ends();
            }
        } finally {
            ServerProbes.visitEnd(visit);
        }
    }

    /** Null if an exchange is of a class that is not the server's own. */
    private Answer begins(HttpExchange exchange) {
        Field impl = ofHttp.getDeclaringClass().isInstance(exchange) ? ofHttp
                : ofHttps.getDeclaringClass().isInstance(exchange) ? ofHttps : null;
        try {
            if (impl == null) {
                return null;
            }
            Object its = impl.get(exchange);
            Answer answer = new Answer(exchange, its, connection.get(its));
            exchange.setStreams(null, answer);
            return answer;
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible); // they are accessible
        }
    }

    private boolean isWritten(Object impl) {
        try {
            return written.getBoolean(impl);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible); // as above
        }
    }

    /** The body of a response. */
    private static final class Answer extends FilterOutputStream {
        final Object impl;
        final Object connection;
        private final HttpExchange exchange;
        private boolean ended;

        Answer(HttpExchange exchange, Object impl, Object connection) {
            super(exchange.getResponseBody());
            this.exchange = exchange;
            this.impl = impl;
            this.connection = connection;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
        }

        @Override
        public void close() throws IOException {
            try {
                out.close();
            } finally {
                ends();
            }
        }

        void ends() {
            synchronized (this) {
                if (ended || exchange.getResponseCode() == -1) {
                    return;
                }
                ended = true;
            }
            ServerProbes.answersInPart(connection, exchange.getResponseCode(), true);
        }
    }
}
