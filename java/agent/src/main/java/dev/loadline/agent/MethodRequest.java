package dev.loadline.agent;

import dev.loadline.agent.boot.Filters;
import dev.loadline.agent.boot.MethodScope;
import java.io.IOException;

/** What a recorder asks of methods. */
final class MethodRequest {
    /** In front of a line that filters threads. */
    private static final char OF_THREADS = '\t';
    /** In front of a line that names a class whose objects are wanted: the native half's business. */
    private static final char OF_CLASSES = '+';

    /** Filters of methods, a line each; empty if none are to be recorded. */
    final String methods;

    private final String threads;
    private final boolean cpu;
    private final long shortest;

    private MethodRequest(String methods, String threads, boolean cpu, long shortest) {
        this.methods = methods;
        this.threads = threads;
        this.cpu = cpu;
        this.shortest = shortest;
    }

    /** Reads it from a spool's header. */
    static MethodRequest of(SpoolHeader header) throws IOException {
        StringBuilder methods = new StringBuilder();
        StringBuilder threads = new StringBuilder();
        for (String line : header.methods().split("\n")) {
            char first = line.isEmpty() ? '\0' : line.charAt(0);
            if (first == OF_CLASSES) {
                continue;
            }
            boolean ofThreads = first == OF_THREADS;
            StringBuilder to = ofThreads ? threads : methods;
            to.append(to.length() == 0 ? "" : "\n").append(ofThreads ? line.substring(1) : line);
        }
        return new MethodRequest(methods.toString(), threads.toString(), header.methodCpu(), header.methodShortest());
    }

    /** What is recorded of them. Of a request that names methods. */
    MethodScope scope() {
        Filters ofThreads = Filters.of(threads, Filters.SEPARATOR);
        return new MethodScope(Filters.of(methods, Filters.SEPARATOR), ofThreads, cpu, shortest);
    }
}
