package dev.loadline.guard;

import java.util.ArrayList;
import java.util.List;

/**
 * A list of paths: {@code /checkout/**} is that path and all below it, {@code *.css} an ending, anything
 * else the path itself.
 */
final class PathPatterns {
    private final List<String> below = new ArrayList<>();
    private final List<String> endings = new ArrayList<>();
    private final List<String> exact = new ArrayList<>();

    /** @throws IllegalArgumentException naming the entry that is none */
    static PathPatterns parse(String text) {
        var patterns = new PathPatterns();
        for (String raw : text.split(",")) {
            String entry = raw.trim();
            String rest;
            if (entry.isEmpty()) {
                continue;
            } else if (entry.startsWith("/") && entry.endsWith("/**")) {
                rest = entry.substring(0, entry.length() - 3);
                patterns.below.add(rest);
            } else if (entry.startsWith("*.")) {
                rest = entry.substring(1);
                patterns.endings.add(rest);
            } else {
                rest = entry;
                patterns.exact.add(entry);
            }
            if (rest.contains("*") || entry.charAt(0) != '/' && entry.charAt(0) != '*') {
                throw new IllegalArgumentException("'" + entry + "' is no pattern, such as /checkout/**, *.css or /cart");
            }
        }
        return patterns;
    }

    boolean matches(String path) {
        for (String prefix : below) {
            if (path.startsWith(prefix) && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/')) {
                return true;
            }
        }
        for (String ending : endings) {
            if (path.endsWith(ending)) {
                return true;
            }
        }
        return exact.contains(path);
    }
}
