package dev.loadline.threading;

import dev.loadline.threading.giop.Ior;
import dev.loadline.threading.giop.Message;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** The strategies on plain sockets, in their simplest form: what they cost by themselves, without an object request broker. */
public final class SocketBroker implements Broker {
    private static final String HOST = "127.0.0.1";
    private static final byte[] KEY = "servant".getBytes(StandardCharsets.US_ASCII);

    @Override
    public String name() {
        return "sockets";
    }

    @Override
    public Running start(Work servant, Setting setting) throws IOException {
        return new Server(servant, setting);
    }

    private static final class Server implements Running {
        private final ServerSocket listening = new ServerSocket();
        private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
        private final Work servant;
        private final ThreadFactory receivers;
        private final Dispatchers dispatchers;

        Server(Work servant, Setting setting) throws IOException {
            this.servant = setting.strategy() == Strategy.THREADED ? servant.serialized() : servant;
            receivers = Dispatchers.threads("receiver-", setting.virtual());
            dispatchers = new Dispatchers(setting);
            listening.bind(new InetSocketAddress(InetAddress.getByName(HOST), setting.port()), 256);
            Dispatchers.threads("acceptor-", false).newThread(this::accept).start();
        }

        @Override
        public String ior() {
            return new Ior(Work.TYPE, HOST, listening.getLocalPort(), KEY).toString();
        }

        private void accept() {
            while (!listening.isClosed()) {
                try {
                    Socket socket = listening.accept();
                    connections.add(socket);
                    receivers.newThread(() -> receive(socket)).start();
                } catch (IOException e) {
                    if (!listening.isClosed()) {
                        throw new UncheckedIOException(e);
                    }
                }
            }
        }

        private void receive(Socket socket) {
            Lock writing = new ReentrantLock();
            try (socket) {
                socket.setTcpNoDelay(true);
                InputStream in = new BufferedInputStream(socket.getInputStream());
                for (ByteBuffer message = Message.read(in); message != null; message = Message.read(in)) {
                    Message.Request request = Message.request(message);
                    if (!request.operation().equals(Work.OPERATION) || request.arguments().remaining() < 12) {
                        throw new IOException("operation " + request.operation() + " is not served here");
                    }
                    dispatchers.execute(() -> serve(request, socket, writing));
                }
            } catch (IOException e) {
                sentAway(socket, e);
            } finally {
                connections.remove(socket);
            }
        }

        private void serve(Message.Request request, Socket socket, Lock writing) {
            ByteBuffer arguments = request.arguments();
            byte[] reply = Message.reply(request.id(), servant.work(arguments.getInt(), arguments.getInt(), arguments.getInt()));
            writing.lock();
            try {
                socket.getOutputStream().write(reply);
            } catch (IOException e) {
                sentAway(socket, e);
            } finally {
                writing.unlock();
            }
        }

        /** Whoever hangs up is not worth a word. */
        private void sentAway(Socket socket, IOException why) {
            if (!(why instanceof SocketException) && !listening.isClosed()) {
                System.err.println("threading: client " + socket.getRemoteSocketAddress() + " is sent away: " + why.getMessage());
            }
        }

        @Override
        public void close() throws IOException {
            listening.close();
            for (Socket socket : connections) {
                socket.close();
            }
            dispatchers.close();
        }
    }
}
