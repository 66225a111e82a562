package dev.loadline.guardbench;

import java.util.HashMap;
import java.util.Map;

/** A command line of {@code --name value} pairs; a wrong one ends the program with status 2. */
public final class Options {
    private final Map<String, String> values = new HashMap<>();

    /** @param known the names taken, without dashes */
    public Options(String[] args, String... known) {
        for (int i = 0; i < args.length; i += 2) {
            String name = args[i].startsWith("--") ? args[i].substring(2) : "";
            if (i + 1 == args.length || !java.util.List.of(known).contains(name)) {
                System.err.println(args[i] + " is not known, or has no value; known: --" + String.join(" V, --", known) + " V");
                System.exit(2);
            }
            values.put(name, args[i + 1]);
        }
    }

    public String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    public boolean has(String name) {
        return values.containsKey(name);
    }

    public int number(String name, int otherwise) {
        String value = values.get(name);
        try {
            return value == null ? otherwise : Integer.parseInt(value);
        } catch (NumberFormatException e) {
            System.err.println("--" + name + " is " + value + "; it must be a whole number");
            System.exit(2);
            return otherwise;
        }
    }
}
