package dev.loadline.omp.compiler;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/**
 * Changes to a text that keep its lines: what is inserted or put in place of something is made to
 * have as many line ends as what it replaces, and remembers where its parts came from.
 */
final class Edits {
    /** New text, some of it copied from the source. */
    static final class Code {
        private record Part(String text, int origin) {}

        private final List<Part> parts = new ArrayList<>();

        static Code of(String text) {
            return new Code().add(text);
        }

        Code add(String text) {
            parts.add(new Part(text, -1));
            return this;
        }

        /** Text that stands in the source at an offset. */
        Code add(String text, int origin) {
            parts.add(new Part(text, origin));
            return this;
        }

        Code add(Code other) {
            parts.addAll(other.parts);
            return this;
        }

        @Override
        public String toString() {
            var text = new StringBuilder();
            parts.forEach(part -> text.append(part.text));
            return text.toString();
        }
    }

    private record Edit(int start, int end, Code code) {}

    private final SourceText source;
    private final List<Edit> edits = new ArrayList<>();
    private final TreeMap<Integer, Edit> renames = new TreeMap<>();

    // The result: where each run of output text came from.
    private final List<int[]> origins = new ArrayList<>();

    Edits(SourceText source) {
        this.source = source;
    }

    void insert(int at, String text) {
        edits.add(new Edit(at, at, Code.of(text)));
    }

    void insert(int at, Code code) {
        edits.add(new Edit(at, at, code));
    }

    /** The same, unless it was inserted there already. */
    void insertOnce(int at, String text) {
        if (edits.stream().noneMatch(e -> e.start == at && e.end == at && e.code.toString().equals(text))) {
            insert(at, text);
        }
    }

    void replace(int start, int end, Code code) {
        edits.add(new Edit(start, end, code));
    }

    void rename(int start, int end, String name) {
        renames.put(start, new Edit(start, end, Code.of(name)));
    }

    /** A piece of the source as it will read, on one line: to be put elsewhere. */
    Code moved(int start, int end) {
        Code code = new Code();
        int from = start;
        for (Edit rename : renames.subMap(start, end).values()) {
            code.add(oneLine(from, rename.start), from).add(rename.code.toString(), rename.start);
            from = rename.end;
        }
        return code.add(oneLine(from, end), from);
    }

    private String oneLine(int start, int end) {
        return source.code.substring(start, end).replace('\n', ' ').replace('\r', ' ');
    }

    /** The text with all changes made. */
    String apply() {
        List<Edit> all = new ArrayList<>(edits);
        all.addAll(renames.values());
        all.sort(Comparator.comparingInt(Edit::start)); // stable: what was inserted first comes first
        var out = new StringBuilder();
        int from = 0;
        for (Edit edit : all) {
            if (edit.start < from) {
                continue; // inside of what was replaced as a whole
            }
            keep(out, from, edit.start);
            int linesIn = lineEnds(source.text, edit.start, edit.end);
            for (Code.Part part : edit.code.parts) {
                origins.add(new int[] {out.length(), part.origin >= 0 ? part.origin : edit.start, part.origin >= 0 ? 1 : 0});
                out.append(part.text);
            }
            origins.add(new int[] {out.length(), edit.end, 0});
            out.append("\n".repeat(linesIn));
            from = edit.end;
        }
        keep(out, from, source.text.length());
        return out.toString();
    }

    private void keep(StringBuilder out, int from, int to) {
        origins.add(new int[] {out.length(), from, 1});
        out.append(source.text, from, to);
    }

    /** Where in the source something in the result came from. */
    int origin(int offset) {
        int[] best = {0, 0, 1};
        for (int[] run : origins) {
            if (run[0] > offset) {
                break;
            }
            best = run;
        }
        return Math.min(source.text.length(), best[1] + (best[2] == 1 ? offset - best[0] : 0));
    }

    private static int lineEnds(String text, int start, int end) {
        int count = 0;
        for (int i = start; i < end; i++) {
            char c = text.charAt(i);
            if (c == '\n' || c == '\r' && !text.startsWith("\n", i + 1)) {
                count++;
            }
        }
        return count;
    }
}
