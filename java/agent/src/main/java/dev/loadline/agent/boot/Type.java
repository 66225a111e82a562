package dev.loadline.agent.boot;

/** Types of events in the spool; what a, b and c mean is told in {@code crates/trace/src/spool/agent/layout.rs}. */
public final class Type {
    public static final int THREAD = 1;
    public static final int THREAD_END = 2;
    public static final int SWITCH_TO = 3;
    public static final int MOUNT = 4;
    public static final int UNMOUNT = 5;
    public static final int MONITOR_ENTER = 10;
    public static final int MONITOR_ENTERED = 11;
    public static final int MONITOR_WAIT = 12;
    public static final int MONITOR_WAITED = 13;
    public static final int PARK = 14;
    public static final int UNPARKED = 15;
    public static final int GOES_ON = 16;
    public static final int SAMPLE = 17;
    public static final int ALLOCATION = 18;
    public static final int OBJECT_NEW = 19;
    public static final int GC_START = 20;
    public static final int GC_END = 21;
    public static final int GC_INFO = 22;
    public static final int OBJECT_FREED = 23;
    public static final int GC_GENERATIONS = 24;
    public static final int CONN_OPEN = 30;
    /** Beside the port of a {@link #CONN_OPEN}: it stands for the connection of one request alone. */
    public static final int ONE_REQUEST = 65_536;
    public static final int CONN_CLOSE = 31;
    public static final int QUEUED = 32;
    public static final int VISIT_BEGIN = 33;
    public static final int VISIT_END = 34;
    public static final int TLS_ENTER = 35;
    public static final int TLS_EXIT = 36;
    public static final int TLS_KEY = 37;
    public static final int REQUEST = 38;
    public static final int STATUS = 39;
    public static final int REQUEST_END = 40;
    public static final int SERVICE_BEGIN = 41;
    public static final int SERVICE_END = 42;
    public static final int REQUEST_PARSE = 43;
    public static final int THREADS_LIMIT = 44;
    public static final int POOL_WAIT_BEGIN = 50;
    public static final int POOL_WAIT_END = 51;
    public static final int POOL_RELEASE = 52;
    public static final int SQL_BEGIN = 53;
    public static final int SQL_END = 54;
    public static final int CALL_BEGIN = 55;
    public static final int CALL_END = 56;
    public static final int POOL_LIMIT = 57;
    public static final int APP_STATE = 60;
    public static final int APP_PUSH = 61;
    public static final int APP_POP = 62;
    public static final int APP_EVENT = 63;
    public static final int SPAN_BEGIN = 64;
    public static final int SPAN_END = 65;
    public static final int METHOD = 70;
    public static final int METHOD_LEFT_OUT = 71;

    private Type() {}
}
