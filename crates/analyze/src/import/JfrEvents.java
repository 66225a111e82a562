import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * Prints the events of a JFR recording that a trace has a place for, one a line, as fields between tabs; `loadline import`
 * runs it by `java JfrEvents.java FILE` and knows what the fields mean. Times are nanoseconds since 1970; an absent value
 * is empty. Stacks come once, before they are used: `frame ID PARENT NAME LINE` from the outermost to the innermost.
 */
public final class JfrEvents {
    private static final Map<String, Long> FRAMES = new HashMap<>();
    private static final Map<Long, Boolean> THREADS = new HashMap<>();
    private static PrintStream out;

    public static void main(String[] args) throws Exception {
        out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, StandardCharsets.UTF_8);
        try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
            while (file.hasMoreEvents()) {
                print(file.readEvent());
            }
        }
        line("end");
        out.flush();
        if (out.checkError()) {
            System.exit(1);
        }
    }

    private static void print(RecordedEvent e) {
        String type = e.getEventType().getName().replaceFirst("^jdk\\.", "");
        switch (type) {
            case "JVMInformation" -> line("jvm", text(e, "jvmName"), text(e, "jvmVersion"), text(e, "javaArguments"), number(e, "pid"));
            case "OSInformation" -> line("os", text(e, "osVersion"));
            case "CPUInformation" -> line("cpu", text(e, "cpu"), number(e, "hwThreads"), text(e, "description"));
            case "PhysicalMemory" -> line("memory", number(e, "totalSize"));
            case "InitialSystemProperty" -> {
                if ("java.specification.version".equals(text(e, "key"))) {
                    line("java", text(e, "value"));
                }
            }
            case "ActiveSetting" -> line("setting", time(e.getStartTime()), number(e, "id"), text(e, "name"), text(e, "value"));
            case "ThreadStart" -> line("start", time(e.getStartTime()), thread(e, "thread"), thread(e, "parentThread"));
            case "ThreadEnd" -> line("stop", time(e.getStartTime()), thread(e, "thread"));
            case "ThreadPark" -> interval(e, "park", type(e, "parkedClass"), number(e, "address"), number(e, "timeout"));
            case "JavaMonitorEnter" -> interval(e, "enter", type(e, "monitorClass"), number(e, "address"), thread(e, "previousOwner"));
            case "JavaMonitorWait" -> interval(e, "wait", type(e, "monitorClass"), number(e, "address"), thread(e, "notifier"),
                    text(e, "timedOut"));
            case "ThreadSleep" -> interval(e, "sleep");
            case "SocketRead", "SocketWrite" -> interval(e, type, text(e, "host") + ":" + number(e, "port"),
                    number(e, "SocketRead".equals(type) ? "bytesRead" : "bytesWritten"));
            case "FileRead", "FileWrite" -> interval(e, type, text(e, "path"),
                    number(e, "FileRead".equals(type) ? "bytesRead" : "bytesWritten"));
            case "FileForce" -> interval(e, type, text(e, "path"), "");
            case "GarbageCollection" -> line("gc", time(e.getStartTime()), time(e.getEndTime()), number(e, "gcId"), text(e, "name"),
                    text(e, "cause"));
            case "GCPhasePause" -> line("pause", time(e.getStartTime()), time(e.getEndTime()), number(e, "gcId"), text(e, "name"));
            case "GCHeapSummary" -> line("heap", time(e.getStartTime()), number(e, "gcId"), text(e, "when"), number(e, "heapUsed"));
            case "ExecuteVMOperation" -> {
                if ("true".equals(text(e, "safepoint"))) {
                    line("operation", time(e.getStartTime()), time(e.getEndTime()), text(e, "operation"));
                }
            }
            case "ExecutionSample" -> line("sample", time(e.getStartTime()), thread(e, "sampledThread"), number(e.getEventType().getId()),
                    stack(e.getStackTrace()));
            case "CPUTimeSample" -> line("cputime", time(e.getStartTime()), thread(e, "eventThread"), nanos(e, "samplingPeriod"),
                    stack(e.getStackTrace()));
            case "ObjectAllocationSample" -> line("alloc", time(e.getStartTime()), thread(e, "eventThread"), number(e, "weight"),
                    type(e, "objectClass"), stack(e.getStackTrace()));
            case "DataLoss" -> line("loss", number(e, "amount"));
            default -> { }
        }
    }

    /** An interval of a thread: kind, begin, end, thread, stack, more. */
    private static void interval(RecordedEvent e, String kind, String... more) {
        RecordedThread t = e.getThread();
        if (t == null) {
            return;
        }
        String[] fields = new String[5 + more.length];
        fields[0] = kind;
        fields[1] = time(e.getStartTime());
        fields[2] = time(e.getEndTime());
        fields[3] = thread(t);
        fields[4] = stack(e.getStackTrace());
        System.arraycopy(more, 0, fields, 5, more.length);
        line(fields);
    }

    private static String thread(RecordedEvent e, String field) {
        return e.hasField(field) ? thread(e.<RecordedThread>getValue(field)) : "";
    }

    /** The thread's id; what it is comes before, once: id, Java's id, the kernel's, name, whether it is virtual. */
    private static String thread(RecordedThread t) {
        if (t == null) {
            return "";
        }
        if (THREADS.put(t.getId(), true) == null) {
            boolean java = t.getJavaThreadId() > 0;
            String name = java && t.getJavaName() != null ? t.getJavaName() : t.getOSName();
            line("thread", number(t.getId()), java ? number(t.getJavaThreadId()) : "", t.getOSThreadId() > 0 ? number(t.getOSThreadId()) : "",
                    name == null ? "" : name, isVirtual(t) ? "1" : "0");
        }
        return number(t.getId());
    }

    private static boolean isVirtual(RecordedThread t) {
        return t.hasField("virtual") && t.getBoolean("virtual");
    }

    private static String stack(RecordedStackTrace stack) {
        if (stack == null || stack.getFrames().isEmpty()) {
            return "";
        }
        List<RecordedFrame> frames = stack.getFrames();
        long parent = -1;
        for (int i = frames.size() - 1; i >= 0; i--) {
            RecordedFrame frame = frames.get(i);
            RecordedMethod method = frame.getMethod();
            String name = method == null ? "(unknown)" : method.getType().getName() + "." + method.getName();
            String key = parent + " " + frame.getLineNumber() + " " + name;
            Long known = FRAMES.get(key);
            if (known == null) {
                known = (long) FRAMES.size();
                FRAMES.put(key, known);
                line("frame", number(known), parent < 0 ? "" : number(parent), name, number(frame.getLineNumber()));
            }
            parent = known;
        }
        return number(parent);
    }

    private static String type(RecordedEvent e, String field) {
        RecordedClass c = e.hasField(field) ? e.getClass(field) : null;
        return c == null ? "" : c.getName();
    }

    private static String text(RecordedEvent e, String field) {
        Object value = e.hasField(field) ? e.getValue(field) : null;
        return value == null ? "" : value.toString();
    }

    private static String number(RecordedEvent e, String field) {
        return e.hasField(field) ? number(e.getLong(field)) : "";
    }

    private static String nanos(RecordedEvent e, String field) {
        return e.hasField(field) ? number(e.getDuration(field).toNanos()) : "";
    }

    private static String number(long n) {
        return n == Long.MIN_VALUE ? "" : Long.toString(n);
    }

    private static String time(Instant t) {
        return Long.toString(t.getEpochSecond() * 1_000_000_000L + t.getNano());
    }

    private static void line(String... fields) {
        for (int i = 0; i < fields.length; i++) {
            if (i > 0) {
                out.print('\t');
            }
            out.print(fields[i].replace('\t', ' ').replace('\n', ' ').replace('\r', ' '));
        }
        out.print('\n');
    }
}
