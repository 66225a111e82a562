package dev.loadline.share;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How to reach the daemon, and what to say there. Each has a system property, {@code loadline.share.} and its name.
 *
 * @param socket where the daemon listens; null for where it usually does
 * @param name what this application is called; null for the daemon's choice
 * @param priority its weight against the others
 * @param request CPUs; negative to let the daemon estimate them
 */
public record Settings(Path socket, String name, double priority, double request) {
    /** Lets the daemon estimate what is needed. */
    public static final double AUTO = -1;

    /** Refuses what the daemon could not understand. */
    public Settings {
        if (name != null && !name.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")) {
            throw new IllegalArgumentException("loadline.share.name is \"" + name
                    + "\"; it must be 1 to 64 letters, digits, '-', '_' and '.', not beginning with '.'");
        }
        if (!(priority > 0) || Double.isInfinite(priority)) {
            throw new IllegalArgumentException("loadline.share.priority is " + priority + "; it must be above 0");
        }
        if (Double.isNaN(request) || Double.isInfinite(request)) {
            throw new IllegalArgumentException("loadline.share.request is " + request + "; it must be CPUs or auto");
        }
    }

    /** What the system properties and the environment say. */
    public static Settings ofProcess() {
        String socket = System.getProperty("loadline.share.socket", System.getenv("LOADLINE_SHARE_SOCKET"));
        String request = System.getProperty("loadline.share.request", "auto");
        return new Settings(socket == null || socket.isEmpty() ? null : Path.of(socket),
                System.getProperty("loadline.share.name"),
                number("priority", System.getProperty("loadline.share.priority", "1")),
                request.equals("auto") ? AUTO : number("request", request));
    }

    private static double number(String key, String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("loadline.share." + key + " is \"" + text + "\"; it must be a number", e);
        }
    }

    /** The socket, or where one would be: root's, else the user's own. */
    Path socketOrDefault() {
        if (socket != null) {
            return socket;
        }
        Path system = Path.of("/run/loadline/share.sock");
        String own = System.getenv("XDG_RUNTIME_DIR");
        return Files.exists(system) || own == null || own.isEmpty() ? system : Path.of(own, "loadline", "share.sock");
    }

    String registration() {
        return "register" + (name == null ? "" : " name=" + name) + " priority=" + priority;
    }
}
