package dev.loadline.omp.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * What the environment and the system properties say. {@code OMP_NUM_THREADS} in the environment is
 * {@code omp.num_threads} as a property, and so on; the property wins.
 *
 * @param numThreads team sizes wanted per nesting level; empty: as many as there are CPUs
 * @param schedule what {@code schedule(runtime)} means
 * @param dynamic whether a team is cut to the CPUs at hand
 * @param bind whether threads are bound to CPUs
 * @param waitPolicy how long threads spin
 * @param threadLimit most threads in one team
 * @param maxActiveLevels how many nested regions have more than one thread
 */
record Settings(
        List<Integer> numThreads,
        Schedule schedule,
        boolean dynamic,
        boolean bind,
        WaitPolicy waitPolicy,
        int threadLimit,
        int maxActiveLevels) {

    /** {@code OMP_WAIT_POLICY}; without it, spin briefly, yield, then park. */
    enum WaitPolicy { ACTIVE, PASSIVE, ADAPTIVE }

    /** The most threads that a team can have. */
    static final int MOST_THREADS = 1024;

    static final Settings OF_PROCESS = parse(Settings::lookUp, System.err::println);

    private static String lookUp(String name) {
        String property = System.getProperty(name.toLowerCase(Locale.ROOT).replaceFirst("_", "."));
        return property != null ? property : System.getenv(name);
    }

    /** Reads all settings; what cannot be understood is complained of and left at its default. */
    static Settings parse(UnaryOperator<String> lookUp, Consumer<String> complain) {
        var reader = new Reader(lookUp, complain);
        int levels = reader.flag("OMP_NESTED", false) ? Integer.MAX_VALUE : 1;
        return new Settings(
                reader.sizes("OMP_NUM_THREADS"),
                reader.schedule("OMP_SCHEDULE"),
                reader.flag("OMP_DYNAMIC", true),
                reader.binding("OMP_PROC_BIND"),
                reader.waitPolicy("OMP_WAIT_POLICY"),
                Math.min(MOST_THREADS, reader.number("OMP_THREAD_LIMIT", MOST_THREADS)),
                reader.number("OMP_MAX_ACTIVE_LEVELS", levels));
    }

    private record Reader(UnaryOperator<String> lookUp, Consumer<String> complain) {
        private String value(String name) {
            String value = lookUp.apply(name);
            return value == null || value.isBlank() ? null : value.strip();
        }

        private <T> T wrong(String name, String value, String allowed, T used) {
            complain.accept("loadline-omp: " + name + " is '" + value + "'; it must be " + allowed + "; using " + used);
            return used;
        }

        int number(String name, int otherwise) {
            String value = value(name);
            if (value == null) {
                return otherwise;
            }
            return value.matches("[1-9][0-9]{0,8}") ? Integer.parseInt(value) : wrong(name, value, "a positive number", otherwise);
        }

        List<Integer> sizes(String name) {
            String value = value(name);
            List<Integer> sizes = new ArrayList<>();
            if (value != null) {
                for (String part : value.split(",", -1)) {
                    if (!part.strip().matches("[1-9][0-9]{0,8}")) {
                        wrong(name, value, "positive numbers with commas between", "the CPUs at hand");
                        return List.of();
                    }
                    sizes.add(Math.min(MOST_THREADS, Integer.parseInt(part.strip())));
                }
            }
            return List.copyOf(sizes);
        }

        boolean flag(String name, boolean otherwise) {
            String value = value(name);
            if (value == null) {
                return otherwise;
            }
            return switch (value.toLowerCase(Locale.ROOT)) {
                case "true", "1", "yes", "on" -> true;
                case "false", "0", "no", "off" -> false;
                default -> wrong(name, value, "true or false", otherwise);
            };
        }

        boolean binding(String name) {
            String value = value(name);
            if (value == null) {
                return false;
            }
            return switch (value.toLowerCase(Locale.ROOT)) {
                case "true", "close", "spread", "primary", "master" -> true;
                case "false" -> false;
                default -> wrong(name, value, "true, false, close, spread or primary", false);
            };
        }

        WaitPolicy waitPolicy(String name) {
            String value = value(name);
            if (value == null) {
                return WaitPolicy.ADAPTIVE;
            }
            return switch (value.toLowerCase(Locale.ROOT)) {
                case "active" -> WaitPolicy.ACTIVE;
                case "passive" -> WaitPolicy.PASSIVE;
                default -> wrong(name, value, "active or passive", WaitPolicy.ADAPTIVE);
            };
        }

        Schedule schedule(String name) {
            String value = value(name);
            if (value == null) {
                return Schedule.STATIC;
            }
            Schedule schedule = Schedule.parse(value);
            return schedule != null ? schedule : wrong(name, value, "static, dynamic or guided, and perhaps a comma and a chunk", Schedule.STATIC);
        }
    }
}
