package dev.loadline.bed;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A command line of {@code --name value} and {@code --name}: what a program reads from it, each name
 * once, and what nobody has read is an error.
 */
public final class Options {
    /** What was wrong with a command line, in a sentence for its user. */
    public static final class UsageException extends RuntimeException {
        private static final long serialVersionUID = 1;

        /** With what was wrong and what is right. */
        public UsageException(String message) {
            super(message);
        }
    }

    private final Map<String, String> given = new LinkedHashMap<>();
    private final Set<String> known = new TreeSet<>();

    /** Takes a command line apart; a name that is followed by no value is a flag. */
    public Options(List<String> arguments) {
        for (int i = 0; i < arguments.size(); i++) {
            String name = arguments.get(i);
            if (!name.startsWith("--")) {
                throw new UsageException("'" + name + "' is no option; --help lists them");
            }
            boolean flag = i + 1 == arguments.size() || arguments.get(i + 1).startsWith("--");
            if (given.put(name, flag ? "" : arguments.get(++i)) != null) {
                throw new UsageException(name + " is given twice");
            }
        }
    }

    /** Whether a flag is given. */
    public boolean flag(String name) {
        known.add(name);
        String value = given.get(name);
        if (value != null && !value.isEmpty()) {
            throw new UsageException(name + " takes no value, but is followed by '" + value + "'");
        }
        return value != null;
    }

    /** A text, or what it is if it is not given. */
    public String text(String name, String otherwise) {
        known.add(name);
        String value = given.get(name);
        if (value != null && value.isEmpty()) {
            throw new UsageException(name + " needs a value");
        }
        return value == null ? otherwise : value;
    }

    /** One of a few words. */
    public String oneOf(String name, String otherwise, List<String> words) {
        String value = text(name, otherwise);
        if (!words.contains(value)) {
            throw new UsageException(name + " is '" + value + "'; it must be one of " + String.join(", ", words));
        }
        return value;
    }

    /** A whole number from {@code least} to {@code most}. */
    public int number(String name, int otherwise, int least, int most) {
        String value = text(name, Integer.toString(otherwise));
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below, like a number out of range.
        }
        throw new UsageException(name + " is '" + value + "'; it must be a whole number from " + least + " to " + most);
    }

    /** Seconds, as {@code 1.5}, from {@code least} to an hour. */
    public double seconds(String name, double otherwise, double least) {
        String value = text(name, Double.toString(otherwise));
        try {
            double seconds = Double.parseDouble(value);
            if (seconds >= least && seconds <= 3600) {
                return seconds;
            }
        } catch (NumberFormatException e) {
            // Said below, like a number out of range.
        }
        throw new UsageException(name + " is '" + value + "'; it must be seconds from " + least + " to 3600");
    }

    /** To be called when everything has been read: complains about what nobody asked for. */
    public void done() {
        var unknown = new ArrayList<>(given.keySet());
        unknown.removeAll(known);
        if (!unknown.isEmpty()) {
            throw new UsageException(unknown.get(0) + " is no option; there are " + String.join(", ", known));
        }
    }
}
