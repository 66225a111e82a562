package dev.loadline.agent.programs;

import dev.loadline.Loadline;
import dev.loadline.Span;
import dev.loadline.agent.testing.Program;
import java.util.concurrent.CountDownLatch;

/** Calls the application API; can emit hard from many threads. */
public final class Api extends Program {
    private Span kept;
    private volatile boolean emitting;
    private volatile long emitted;
    private Thread[] threads = {};

    public static void main(String[] arguments) throws Exception {
        new Api().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        switch (command) {
            case "all":
                Loadline.state("idle");
                Loadline.push("pricing");
                Loadline.event("items", 42);
                try (Span span = Loadline.span("quote")) {
                    Loadline.event("inside", 1);
                }
                Loadline.pop();
                return "";
            case "open":
                kept = Loadline.span("kept");
                return "";
            case "close":
                Thread closer = new Thread(kept::close, "closer");
                closer.start();
                closer.join();
                kept.close();
                return "";
            case "emit":
                return emit();
            case "quiet":
                emitting = false;
                for (Thread thread : threads) {
                    thread.join();
                }
                return Long.toString(emitted);
            default:
                throw new IllegalArgumentException(command);
        }
    }

    private String emit() throws InterruptedException {
        emitting = true;
        threads = new Thread[8];
        CountDownLatch started = new CountDownLatch(threads.length);
        for (int i = 0; i < threads.length; i++) {
            String name = "emitter-" + i;
            threads[i] = new Thread(() -> hammer(started), name);
            threads[i].start();
        }
        started.await();
        return "";
    }

    private void hammer(CountDownLatch started) {
        started.countDown();
        long n = 0;
        while (emitting) {
            try (Span span = Loadline.span("work")) {
                Loadline.event("tick", n++);
                Loadline.state("state-" + (n & 1023));
            }
            if (n % 1000 == 0) {
                Thread.yield();
            }
        }
        emitted = n;
    }
}
