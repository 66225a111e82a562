package dev.loadline.omp.compiler;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The text of one source file with its comments found: what is code, what is a directive, and where
 * lines begin.
 */
final class SourceText {
    /**
     * A directive's text as it reads when comment signs and line ends are taken out.
     *
     * @param start offset of the comment
     * @param end offset after it
     * @param text what it says
     * @param offsets where each character of the text stands in the source, and one more
     */
    record RawDirective(int start, int end, String text, int[] offsets) {}

    final String text;
    /** The same text with comments blank. */
    final String code;
    /** The same with literals blank too: brackets in it are brackets. */
    final String bare;
    final List<RawDirective> directives = new ArrayList<>();
    /** Comments that look like directives and are none, by offset. */
    final List<Integer> lookalikes = new ArrayList<>();
    private final int[] lines;

    SourceText(String text) {
        this.text = text;
        char[] withoutComments = text.toCharArray();
        char[] withoutLiterals = text.toCharArray();
        scan(withoutComments, withoutLiterals);
        this.code = new String(withoutComments);
        this.bare = new String(withoutLiterals);
        this.lines = lineStarts(text);
    }

    /** Line of an offset, from 1. */
    int line(int offset) {
        int found = Arrays.binarySearch(lines, offset);
        return found >= 0 ? found + 1 : -found - 1;
    }

    /** Column of an offset, from 1. */
    int column(int offset) {
        return offset - lines[line(offset) - 1] + 1;
    }

    /** The line that an offset is on, without its end. */
    String lineText(int offset) {
        int begin = lines[line(offset) - 1];
        int end = begin;
        while (end < text.length() && text.charAt(end) != '\n' && text.charAt(end) != '\r') {
            end++;
        }
        return text.substring(begin, end);
    }

    /** Offset after the bracket that closes the one at an offset. */
    int afterMatching(int open) {
        int depth = 0;
        for (int i = open; i < bare.length(); i++) {
            switch (bare.charAt(i)) {
                case '(', '[', '{' -> depth++;
                case ')', ']', '}' -> {
                    if (--depth == 0) {
                        return i + 1;
                    }
                }
                default -> { }
            }
        }
        throw new IllegalStateException("unbalanced bracket at " + open);
    }

    /** Offset after the next semicolon that is not inside brackets. */
    int afterSemicolon(int from) {
        for (int i = from; i < bare.length(); i++) {
            char c = bare.charAt(i);
            if (c == ';') {
                return i + 1;
            }
            if (c == '(' || c == '[' || c == '{') {
                i = afterMatching(i) - 1;
            }
        }
        throw new IllegalStateException("no semicolon after " + from);
    }

    /** Offset of a name as a word of its own, from an offset on. */
    int findWord(String word, int from) {
        for (int i = bare.indexOf(word, from); i >= 0; i = bare.indexOf(word, i + 1)) {
            int after = i + word.length();
            boolean begins = i == 0 || !Character.isJavaIdentifierPart(bare.charAt(i - 1));
            boolean ends = after == bare.length() || !Character.isJavaIdentifierPart(bare.charAt(after));
            if (begins && ends) {
                return i;
            }
        }
        throw new IllegalStateException("no '" + word + "' after " + from);
    }

    private void scan(char[] withoutComments, char[] withoutLiterals) {
        int i = 0;
        int n = text.length();
        while (i < n) {
            int end;
            if (text.startsWith("//", i)) {
                end = endOfLine(i);
                end = directiveOnLines(i, end);
                blank(withoutComments, i, end);
                blank(withoutLiterals, i, end);
            } else if (text.startsWith("/*", i)) {
                int close = text.indexOf("*/", i + 2);
                end = close < 0 ? n : close + 2;
                if (isWord(i + 2, "omp")) {
                    addBlockDirective(i, end);
                }
                blank(withoutComments, i, end);
                blank(withoutLiterals, i, end);
            } else if (text.startsWith("\"\"\"", i)) {
                end = literalEnd(i + 3, "\"\"\"", true);
                blank(withoutLiterals, i, end);
            } else if (text.charAt(i) == '"' || text.charAt(i) == '\'') {
                end = literalEnd(i + 1, text.substring(i, i + 1), false);
                blank(withoutLiterals, i, end);
            } else {
                end = i + 1;
            }
            i = end;
        }
    }

    private int literalEnd(int from, String close, boolean lines) {
        int i = from;
        while (i < text.length() && !text.startsWith(close, i)) {
            char c = text.charAt(i);
            if (!lines && c == '\n') {
                return i; // javac says what is wrong with it
            }
            i += c == '\\' ? 2 : 1;
        }
        return Math.min(text.length(), i + close.length());
    }

    /** Takes a line comment as a directive, with the lines that continue it; returns where it ends. */
    private int directiveOnLines(int start, int firstEnd) {
        if (!isWord(start + 2, "omp")) {
            String comment = text.substring(start + 2, firstEnd).strip();
            if (comment.startsWith("omp ") && DirectiveKind.startsOne(comment.substring(4).strip())) {
                lookalikes.add(start);
            }
            return firstEnd;
        }
        var said = new StringBuilder();
        var offsets = new ArrayList<Integer>();
        int from = start + 5;
        int end = firstEnd;
        while (true) {
            String part = text.substring(from, end).stripTrailing();
            boolean continued = part.endsWith("\\");
            for (int i = 0; i < part.length() - (continued ? 1 : 0); i++) {
                said.append(part.charAt(i));
                offsets.add(from + i);
            }
            int next = continued ? nextComment(end) : -1;
            if (next < 0) {
                offsets.add(Math.max(start, from + part.length() - 1));
                break;
            }
            said.append(' ');
            offsets.add(end - 1);
            from = next + 5;
            end = endOfLine(next);
        }
        directives.add(new RawDirective(start, end, said.toString(), offsets.stream().mapToInt(Integer::intValue).toArray()));
        return end;
    }

    private int nextComment(int from) {
        int i = from;
        while (i < text.length() && Character.isWhitespace(text.charAt(i))) {
            i++;
        }
        return text.startsWith("//", i) && isWord(i + 2, "omp") ? i : -1;
    }

    private void addBlockDirective(int start, int end) {
        var said = new StringBuilder();
        int[] offsets = new int[end - start + 1];
        boolean lineBegins = false;
        for (int i = start + 5; i < end - 2; i++) {
            char c = text.charAt(i);
            boolean decoration = lineBegins && c == '*';
            lineBegins = c == '\n' || lineBegins && (Character.isWhitespace(c) || decoration);
            offsets[said.length()] = i;
            said.append(decoration || Character.isWhitespace(c) ? ' ' : c);
        }
        offsets[said.length()] = end - 2;
        directives.add(new RawDirective(start, end, said.toString(), Arrays.copyOf(offsets, said.length() + 1)));
    }

    private boolean isWord(int at, String word) {
        int after = at + word.length();
        return text.startsWith(word, at) && (after >= text.length() || !Character.isJavaIdentifierPart(text.charAt(after)));
    }

    private int endOfLine(int from) {
        int i = from;
        while (i < text.length() && text.charAt(i) != '\n' && text.charAt(i) != '\r') {
            i++;
        }
        return i;
    }

    private static void blank(char[] chars, int from, int to) {
        for (int i = from; i < to; i++) {
            if (chars[i] != '\n' && chars[i] != '\r') {
                chars[i] = ' ';
            }
        }
    }

    private static int[] lineStarts(String text) {
        var starts = new ArrayList<Integer>();
        starts.add(0);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n' || c == '\r' && !text.startsWith("\n", i + 1)) {
                starts.add(i + 1);
            }
        }
        return starts.stream().mapToInt(Integer::intValue).toArray();
    }
}
