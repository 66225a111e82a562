package dev.loadline.omp.runtime;

import java.util.Locale;

/**
 * How a loop's iterations are dealt out.
 *
 * @param kind by which rule
 * @param chunk iterations per piece; 0 where the rule decides
 */
public record Schedule(Kind kind, long chunk) {
    /** The rules of OpenMP. */
    public enum Kind {
        /** Equal pieces, known beforehand: one block per thread, or chunks in turn. */
        STATIC,
        /** Chunks, to whoever comes next. */
        DYNAMIC,
        /** The same, with chunks that shrink as less is left. */
        GUIDED
    }

    static final Schedule STATIC = new Schedule(Kind.STATIC, 0);

    /** Reads {@code kind[,chunk]}; null if it is not that. */
    static Schedule parse(String text) {
        String[] parts = text.split(",", -1);
        for (Kind kind : Kind.values()) {
            if (kind.name().equals(parts[0].strip().toUpperCase(Locale.ROOT))) {
                if (parts.length == 1) {
                    return new Schedule(kind, 0);
                }
                boolean number = parts.length == 2 && parts[1].strip().matches("[1-9][0-9]{0,9}");
                return number ? new Schedule(kind, Long.parseLong(parts[1].strip())) : null;
            }
        }
        return null;
    }
}
