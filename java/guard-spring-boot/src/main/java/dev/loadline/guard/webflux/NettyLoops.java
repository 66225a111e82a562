package dev.loadline.guard.webflux;

import dev.loadline.guard.RequestGate;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import reactor.netty.Connection;

/** The event loops of the server that a request came by. Loads only where Reactor Netty is. */
final class NettyLoops {
    private NettyLoops() {}

    /** @return whether it came by Netty */
    static boolean measure(RequestGate gate, ServerHttpRequest request) {
        Object own = ServerHttpRequestDecorator.getNativeRequest(request);
        if (!(own instanceof Connection connection)) {
            return false;
        }
        List<EventExecutor> loops = new ArrayList<>();
        connection.channel().eventLoop().parent().forEach(loops::add);
        gate.eventLoops(loops);
        return true;
    }
}
