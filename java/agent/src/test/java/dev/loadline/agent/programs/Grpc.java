package dev.loadline.agent.programs;

import dev.loadline.agent.testing.Program;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Asks its own server by gRPC what the command says, or by a future what it says behind that word; it answers after 20 ms, and does not find {@code nothing}. */
public final class Grpc extends Program {
    private static final Marshaller<String> TEXT = new Marshaller<>() {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };
    private static final String FUTURE = "future ";
    private static final MethodDescriptor<String, String> ASK = MethodDescriptor.newBuilder(TEXT, TEXT)
            .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("shop.Stock/Ask").build();

    private final Server server;
    private final ManagedChannel channel;

    private Grpc() throws IOException {
        server = NettyServerBuilder.forPort(0).addService(service()).build().start();
        channel = NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext().build();
    }

    static ServerServiceDefinition service() {
        return ServerServiceDefinition.builder("shop.Stock").addMethod(ASK, ServerCalls.<String, String>asyncUnaryCall((asked, answer) -> {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            if (asked.equals("nothing")) {
                answer.onError(Status.NOT_FOUND.asRuntimeException());
            } else {
                answer.onNext(asked);
                answer.onCompleted();
            }
        })).build();
    }

    static String ask(Channel channel, String what) {
        return ClientCalls.blockingUnaryCall(channel, ASK, CallOptions.DEFAULT, what);
    }

    public static void main(String[] arguments) throws Exception {
        new Grpc().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        if (command.equals("port")) {
            return String.valueOf(server.getPort());
        }
        try {
            if (command.startsWith(FUTURE)) {
                return ClientCalls.futureUnaryCall(channel.newCall(ASK, CallOptions.DEFAULT), command.substring(FUTURE.length())).get();
            }
            return ask(channel, command);
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode().name();
        }
    }
}
