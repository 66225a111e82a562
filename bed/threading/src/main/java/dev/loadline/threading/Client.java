package dev.loadline.threading;

import dev.loadline.threading.giop.Ior;
import dev.loadline.threading.giop.Message;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** The closed-loop driver: so many clients, a connection each, the next request when the last is answered. */
public final class Client {
    /**
     * One run.
     *
     * @param cpuUs mean CPU time of a request, in microseconds
     * @param delayUs mean delay of a request, in microseconds
     * @param warmS seconds before it counts
     * @param seconds that it counts
     * @param serverPid of the process whose CPU time is to be told, 0 for none
     */
    public record Plan(int clients, int cpuUs, int delayUs, double warmS, double seconds, long serverPid) {
    }

    /**
     * What came of it.
     *
     * @param responses in nanoseconds, of the requests that were answered while it counted
     * @param wrong answers that are not those of their numbers, at any time
     * @param clientCpus CPU seconds of the driver per second
     * @param serverCpus of the server, NaN if its process was not given
     */
    public record Result(Plan plan, double seconds, Histogram responses, long wrong, double clientCpus, double serverCpus) {
        /** Replies. */
        public double perSecond() {
            return responses.getTotalCount() / seconds;
        }
    }

    /** Relative: 0.1%. */
    private static final int DIGITS = 3;
    private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(10);
    private static final int CONNECT_MS = 10_000;

    private final Ior server;
    private final Plan plan;
    private final byte[] key;
    /** Of any client: then the others need not go on. */
    private final CountDownLatch failed = new CountDownLatch(1);
    private volatile boolean counting;
    private volatile boolean over;

    private Client(Ior server, Plan plan) {
        this.server = server;
        this.plan = plan;
        key = server.key();
    }

    /** Runs it, and waits for each client's last reply. */
    public static Result run(Ior server, Plan plan) throws IOException, InterruptedException {
        return new Client(server, plan).run();
    }

    private Result run() throws IOException, InterruptedException {
        List<Socket> sockets = new ArrayList<>();
        ExecutorService clients = Executors.newFixedThreadPool(plan.clients());
        try {
            for (int i = 0; i < plan.clients(); i++) {
                // All are connected before the first calls: connecting is no part of what is measured.
                var socket = new Socket();
                sockets.add(socket);
                socket.setTcpNoDelay(true);
                socket.connect(new InetSocketAddress(InetAddress.getByName(server.host()), server.port()), CONNECT_MS);
                socket.setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(LONGEST_NS));
            }
            List<Future<Calls>> running = new ArrayList<>();
            for (int i = 0; i < plan.clients(); i++) {
                var calls = new Calls(i);
                Socket socket = sockets.get(i);
                running.add(clients.submit(() -> {
                    try {
                        calls.loop(socket);
                        return calls;
                    } catch (IOException e) {
                        failed.countDown();
                        throw e;
                    }
                }));
            }
            await(plan.warmS());
            double ownCpu = CpuTime.own();
            double serverCpu = CpuTime.of(plan.serverPid());
            long begin = System.nanoTime();
            counting = true;
            await(plan.seconds());
            counting = false;
            double seconds = (System.nanoTime() - begin) / 1e9;
            ownCpu = CpuTime.own() - ownCpu;
            serverCpu = CpuTime.of(plan.serverPid()) - serverCpu;
            over = true;
            var responses = new Histogram(LONGEST_NS, DIGITS);
            long wrong = 0;
            for (Future<Calls> future : running) {
                Calls calls = future.get();
                responses.add(calls.responses);
                wrong += calls.wrong;
            }
            return new Result(plan, seconds, responses, wrong, ownCpu / seconds, serverCpu / seconds);
        } catch (ExecutionException e) {
            throw new IOException("a client failed: " + e.getCause().getMessage(), e.getCause());
        } finally {
            over = true;
            for (Socket socket : sockets) {
                socket.close();
            }
            clients.shutdown();
        }
    }

    /** So long, or until a client has failed. */
    private void await(double seconds) throws InterruptedException {
        if (failed.await(Math.round(seconds * 1e9), TimeUnit.NANOSECONDS)) {
            over = true;
        }
    }

    /** One client. */
    private final class Calls {
        private final Histogram responses = new Histogram(LONGEST_NS, DIGITS);
        private final int first;
        private long wrong;

        /** The numbers of client i are i, i + clients, i + 2 clients, …: all clients together ask for 0, 1, 2, …. */
        Calls(int first) {
            this.first = first;
        }

        void loop(Socket socket) throws IOException {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            ByteBuffer request = Message.request(key, Work.OPERATION, 0, plan.cpuUs(), plan.delayUs());
            int id = 0;
            for (int number = first; !over; number += plan.clients()) {
                Message.number(request, ++id, number, plan.cpuUs(), plan.delayUs());
                long begin = System.nanoTime();
                socket.getOutputStream().write(request.array());
                ByteBuffer reply = Message.read(in);
                if (reply == null) {
                    throw new IOException("the server hung up");
                }
                int answer = Message.result(reply, id);
                if (counting) {
                    responses.recordValue(Math.min(System.nanoTime() - begin, LONGEST_NS));
                }
                if (answer != Work.answer(number)) {
                    wrong++;
                }
            }
        }
    }
}
