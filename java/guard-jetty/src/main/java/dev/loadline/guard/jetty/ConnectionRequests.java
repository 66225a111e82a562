package dev.loadline.guard.jetty;

import dev.loadline.guard.GuardedConnection;
import dev.loadline.guard.RequestView;
import java.net.InetAddress;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Answers 503 in place of the handlers where the guard of a connection, or of its streams, says so, before all others. */
final class ConnectionRequests extends Handler.Wrapper {
    private final ConnectionGuard owner;

    ConnectionRequests(ConnectionGuard owner) {
        this.owner = owner;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        ConnectionGuard.Running running = owner.active();
        GuardedConnection connection = running == null ? null : connection(request, running);
        if (connection == null) {
            return super.handle(request, response, callback);
        }
        var view = new View(request, connection);
        if (request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2) {
            // Its streams run on several threads, and are not told apart by connection; that it asks for a health path is told all the same.
            if (running.guard().isHealth(view.path())) {
                running.guard().probed(connection.remoteAddress(), null);
            }
            return GuardHandler.handle(running.streams(), request, response, callback, super::handle);
        } else if (connection.refusesRequest(view)) {
            BusyAnswer.write(running.guard().busy(), connection.page(), response, callback);
            return true;
        }
        return super.handle(request, response, callback);
    }

    /** Null when it is of another connector, or began while the guard was off. */
    private static GuardedConnection connection(Request request, ConnectionGuard.Running running) {
        EndPoint at = request.getConnectionMetaData().getConnection().getEndPoint();
        while (at instanceof EndPoint.Wrapper wrapper) {
            if (at instanceof GuardedEndPoint guarded) {
                return guarded.guard() == running.guard() ? guarded.connection() : null;
            }
            at = wrapper.unwrap();
        }
        return null;
    }

    private record View(Request request, GuardedConnection connection) implements RequestView {
        @Override
        public String method() {
            return request.getMethod();
        }

        @Override
        public String path() {
            return request.getHttpURI().getPath();
        }

        @Override
        public String header(String name) {
            return request.getHeaders().get(name);
        }

        @Override
        public InetAddress remoteAddress() {
            return connection.remoteAddress();
        }

        @Override
        public int earlierRequests() {
            return connection.requests();
        }
    }
}
