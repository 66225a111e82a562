package dev.loadline.agent.testing;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.testing.Spool.Event;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What happened to one connection: its own events, and all that happened within visits to it. */
public final class Story {
    public final List<Event> events = new ArrayList<>();
    public final int peerPort;

    private Story(int peerPort) {
        this.peerPort = peerPort;
    }

    /**
     * Tells the connections apart, and fails where an event lies in no visit but should. A connection from before the recording, as
     * that of a client that has been collected since, has no story.
     */
    public static List<Story> of(Spool spool) {
        Story before = new Story(0);
        Map<Long, Story> byKey = new HashMap<>();
        Map<String, Story> visited = new HashMap<>();
        List<Story> all = new ArrayList<>();
        for (Event e : spool.events) {
            String worker = e.virtual() == 0 ? "tid " + e.tid() : "virtual " + e.virtual(); // on any carrier
            switch (e.type()) {
                case Type.CONN_OPEN:
                    Story story = new Story((int) e.b() & ~Type.ONE_REQUEST);
                    byKey.put(e.a(), story);
                    all.add(story);
                    story.events.add(e);
                    break;
                case Type.QUEUED:
                case Type.CONN_CLOSE:
                    byKey.getOrDefault(e.a(), before).events.add(e);
                    break;
                case Type.VISIT_BEGIN:
                    visited.put(worker, byKey.getOrDefault(e.a(), before));
                    byKey.getOrDefault(e.a(), before).events.add(e);
                    break;
                case Type.VISIT_END:
                    visited.remove(worker).events.add(e);
                    break;
                default:
                    if (e.type() > Type.VISIT_END && e.type() <= Type.SQL_END && visited.get(worker) != null) {
                        visited.get(worker).events.add(e);
                    }
            }
        }
        return all;
    }

    /** The connection of this client. */
    public static Story of(Spool spool, HttpsClient client) {
        return of(spool).stream().filter(s -> s.peerPort == client.port()).findFirst().orElseThrow();
    }

    /** How its handshake went, as the analysis has it: full, resumed or unknown. */
    public String handshake() {
        Event end = events.stream().filter(e -> e.type() == Type.TLS_EXIT && e.b() == 0).findFirst().orElseThrow();
        String byKey = count(Type.TLS_KEY) > 0 ? "full" : "resumed";
        return List.of(byKey, "full", "resumed", "unknown").get((int) end.a());
    }

    public long count(int type) {
        return events.stream().filter(e -> e.type() == type).count();
    }

    /** What its events of a type say in words. */
    public List<String> texts(int type) {
        return events.stream().filter(e -> e.type() == type).map(Event::c).collect(Collectors.toList());
    }

    /** What they say in numbers. */
    public List<Long> numbers(int type) {
        return events.stream().filter(e -> e.type() == type).map(Event::b).collect(Collectors.toList());
    }

    /** Its first event of a type. */
    public Event first(int type) {
        return events.stream().filter(e -> e.type() == type).findFirst().orElseThrow();
    }

    /** Its events as type numbers, without repeated steps of handshakes and visits that only waited. */
    public String types(Integer... wanted) {
        List<Integer> some = List.of(wanted);
        StringBuilder text = new StringBuilder();
        for (Event e : events) {
            if (some.contains(e.type())) {
                text.append(text.length() == 0 ? "" : " ").append(e.type());
            }
        }
        return text.toString();
    }
}
