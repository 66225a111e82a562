package dev.loadline.agent.testing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Reads a spool as {@code crates/trace/src/spool/agent.rs} does. */
public final class Spool {
    static final int CHUNK = 64 * 1024;
    private static final int MAGIC = ByteBuffer.wrap("LLCK".getBytes(StandardCharsets.US_ASCII))
            .order(ByteOrder.LITTLE_ENDIAN).getInt();
    private static final int SWITCH_TO = 3;
    private static final int FRAMES = 3;

    public final List<Event> events = new ArrayList<>();
    public final Map<Integer, String> strings = new HashMap<>();
    private final Map<Integer, Frame> frames = new HashMap<>();
    public final int state;
    public final long lost;
    public final long lostStrings;
    public final long lostStacks;
    public final long lostSamples;
    public final long sparedAllocations;
    public final long callsLeftOut;
    public final long begin;
    public final long end;
    public final String message;
    public final String info;

    /** One event; {@code virtual} is the virtual thread it speaks of, 0 for the writer itself. */
    public record Event(long ts, int type, String c, long a, long b, int tid, long virtual) {}

    private record Frame(int parent, int name, int file, int line) {}

    private record Raw(long ts, int type, int c, long a, long b, int tid, long virtual) {}

    private Spool(ByteBuffer file) {
        state = file.getInt(48);
        lost = file.getLong(32);
        lostStrings = file.getLong(40);
        lostStacks = file.getLong(96);
        lostSamples = file.getLong(120);
        sparedAllocations = file.getLong(168);
        callsLeftOut = file.getLong(152);
        begin = file.getLong(56);
        end = file.getLong(64);
        message = text(file, 2048);
        info = text(file, 3072);
        List<Raw> raw = new ArrayList<>();
        long next = Math.min(file.getLong(24), file.capacity());
        for (int at = CHUNK; at + CHUNK <= next; at += CHUNK) {
            if (file.getInt(at) == MAGIC) {
                if (file.getInt(at + 4) == 1) {
                    readEvents(file, at, raw);
                } else if (file.getInt(at + 4) == FRAMES) {
                    readFrames(file, at);
                } else {
                    readStrings(file, at);
                }
            }
        }
        raw.sort(Comparator.comparingLong(Raw::ts));
        for (Raw e : raw) {
            events.add(new Event(e.ts, e.type, strings.get(e.c), e.a, e.b, e.tid, e.virtual));
        }
    }

    static Spool read(Path path) throws IOException {
        return read(path, 1L << 30);
    }

    /** The header alone: state and messages, without what was recorded, which may be much. */
    static Spool head(Path path) throws IOException {
        return read(path, CHUNK);
    }

    private static Spool read(Path path, long most) throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            int size = (int) Math.min(file.size(), most);
            return new Spool(file.map(FileChannel.MapMode.READ_ONLY, 0, size).order(ByteOrder.LITTLE_ENDIAN));
        }
    }

    /** Events of one type. */
    public List<Event> of(int type) {
        return where(e -> e.type == type);
    }

    /** How many events of each type each thread wrote, for a message that tells who filled the spool. */
    public Map<String, Long> counts() {
        return events.stream().collect(Collectors.groupingBy(
                event -> "type " + event.type() + " of " + event.tid(), TreeMap::new, Collectors.counting()));
    }

    /** Events that are so. */
    public List<Event> where(Predicate<Event> so) {
        return events.stream().filter(so).toList();
    }

    /** The stack of a sample, or of the wait that this event ends, the innermost frame first, as {@code Class.method(File:line)}. */
    public List<String> stack(Event of) {
        List<String> stack = new ArrayList<>();
        Frame frame = frames.get((int) (of.b >>> 32));
        while (frame != null) {
            stack.add(strings.get(frame.name) + "(" + strings.get(frame.file) + ":" + frame.line + ")");
            frame = frames.get(frame.parent);
        }
        return stack;
    }

    private static void readEvents(ByteBuffer file, int chunk, List<Raw> raw) {
        int tid = file.getInt(chunk + 8);
        long virtual = 0;
        for (int at = chunk + 32; at < chunk + CHUNK; at += 32) {
            int type = file.getInt(at + 8);
            if (type == 0) {
                return;
            }
            if (type == SWITCH_TO) {
                virtual = file.getLong(at + 16);
            }
            raw.add(new Raw(file.getLong(at), type, file.getInt(at + 12), file.getLong(at + 16),
                    file.getLong(at + 24), tid, virtual));
        }
    }

    private void readFrames(ByteBuffer file, int chunk) {
        for (int at = chunk + 32; at + 24 <= chunk + CHUNK && file.getInt(at) != 0; at += 24) {
            frames.put(file.getInt(at), new Frame(
                    file.getInt(at + 4), file.getInt(at + 8), file.getInt(at + 12), file.getInt(at + 16)));
        }
    }

    private void readStrings(ByteBuffer file, int chunk) {
        int at = chunk + 32;
        while (at + 8 <= chunk + CHUNK && file.getInt(at) != 0) {
            byte[] utf8 = new byte[file.getInt(at + 4)];
            file.get(at + 8, utf8);
            strings.put(file.getInt(at), new String(utf8, StandardCharsets.UTF_8));
            at += 8 + utf8.length + 7 & ~7;
        }
    }

    private static String text(ByteBuffer file, int at) {
        byte[] bytes = new byte[1024];
        file.get(at, bytes);
        return new String(bytes, StandardCharsets.UTF_8).split("\0", 2)[0];
    }
}
