package dev.loadline.agent.hooks.jetty;

import dev.loadline.agent.boot.ServerProbes;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpStream;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Tells of requests, and has the server's own handler handle them. It is none of the server's parts: it is neither started nor
 * stopped, and the other's life stays its server's.
 */
final class RecordedHandler extends Handler.Abstract implements Handler.Singleton {
    private volatile Handler handler;

    RecordedHandler(Handler handler) {
        this.handler = handler;
    }

    @Override
    public Handler getHandler() {
        return handler;
    }

    @Override
    public void setHandler(Handler other) {
        handler = other;
    }

    @Override
    public InvocationType getInvocationType() {
        Handler own = handler;
        return own == null ? InvocationType.NON_BLOCKING : own.getInvocationType();
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        Handler own = handler;
        if (own == null) {
            return false;
        }
        EndPoint socket = JettyServer.socket(request.getConnectionMetaData().getConnection().getEndPoint());
        long visit = ServerProbes.visitBegin(socket);
        try {
            ServerProbes.request(request.getMethod(), request.getHttpURI().getPath());
            request.addHttpStreamWrapper(stream -> new Answer(stream, socket, response));
            return own.handle(request, response, callback);
        } finally {
            ServerProbes.visitEnd(visit);
        }
    }

    /** The stream of a request, which ends when its response is out, on whichever thread that is. */
    private static final class Answer extends HttpStream.Wrapper {
        private final EndPoint socket;
        private final Response response;

        Answer(HttpStream stream, EndPoint socket, Response response) {
            super(stream);
            this.socket = socket;
            this.response = response;
        }

        @Override
        public void succeeded() {
            long visit = answered();
            try {
                super.succeeded();
            } finally {
                ServerProbes.visitEnd(visit);
            }
        }

        @Override
        public void failed(Throwable failure) {
            long visit = answered();
            try {
                super.failed(failure);
            } finally {
                ServerProbes.visitEnd(visit);
            }
        }

        private long answered() {
            int status = response.getStatus();
            return ServerProbes.responded(socket, status == 0 ? 200 : status);
        }
    }
}
