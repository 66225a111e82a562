package dev.loadline.agent.programs;

import io.grpc.Channel;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Asks a service by gRPC that runs in the same process, and on the thread that asks. */
final class AsksNearby extends HttpServlet {
    private transient Channel channel;

    @Override
    public void init() {
        try {
            InProcessServerBuilder.forName("nearby").directExecutor().addService(Grpc.service()).build().start();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        channel = InProcessChannelBuilder.forName("nearby").directExecutor().build();
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getOutputStream().print(Grpc.ask(channel, "plums"));
    }
}
