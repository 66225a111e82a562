package dev.loadline.guard;

import java.util.Map;
import java.util.StringJoiner;

/**
 * A guard's figures as a system property, of which anybody who may attach to the process can read them, without a port of JMX or of
 * an actuator: {@code loadline guard PID}, {@code jcmd PID VM.system_properties}.
 */
final class Published {
    /** Before the guard's name; not {@code loadline.guard}, which are options of the Spring Boot starter. */
    static final String PREFIX = "dev.loadline.guard/";

    private final Guard guard;
    private boolean open;

    Published(Guard guard) {
        this.guard = guard;
    }

    /**
     * From now on it can be read.
     *
     * @return the guard's name, or that with a number behind it where another guard of this process has it: of two connectors, of two
     *     applications, by whatever class loader
     */
    synchronized String open() {
        String name = guard.name();
        Map<String, Object> figures = Figures.of(guard);
        for (int n = 2; System.getProperties().putIfAbsent(PREFIX + name, json(figures)) != null; n++) {
            name = guard.name() + " " + n;
            figures.put("name", name);
        }
        open = true;
        return name;
    }

    /** Tells what is so now. */
    synchronized void publish() {
        if (open) {
            System.setProperty(PREFIX + guard.name(), json(Figures.of(guard)));
        }
    }

    /** Nothing is left of it. */
    synchronized void close() {
        if (open) { // else the property is another guard's
            open = false;
            System.clearProperty(PREFIX + guard.name());
        }
    }

    static String json(Map<String, Object> figures) {
        var object = new StringJoiner(",", "{", "}");
        figures.forEach((name, value) -> object.add('"' + name + "\":" + json(value)));
        return object.toString();
    }

    private static String json(Object value) {
        if (value instanceof Double number && !Double.isFinite(number)) {
            return "null";
        }
        return value instanceof Number || value instanceof Boolean ? value.toString() : quoted(String.valueOf(value));
    }

    private static String quoted(String text) {
        var out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c < ' ' || c == '"' || c == '\\' || c > '~') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
