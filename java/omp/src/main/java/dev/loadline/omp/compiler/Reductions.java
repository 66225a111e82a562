package dev.loadline.omp.compiler;

import dev.loadline.omp.compiler.Directive.Expression;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/** What reductions begin with and how two parts become one, for each operator and type. */
final class Reductions {
    private static final Set<String> OPERATORS = new java.util.TreeSet<>(Set.of("+", "*", "&", "|", "^", "&&", "||", "min", "max"));
    private static final Map<String, String> ARRAY_OPERATORS = Map.of("+", "ADD", "*", "MULTIPLY", "&", "AND", "|", "OR", "^", "XOR", "min", "MIN", "max", "MAX");

    /** One {@code declare reduction}. */
    private record Declared(String type, String combiner, String identity) {}

    private final Map<String, List<Declared>> declared = new LinkedHashMap<>();

    /** Reads a {@code declare reduction}. */
    void declare(Directive directive, Problems problems) {
        Expression inside = directive.argument();
        String[] parts = inside.text().split(":", 3);
        if (parts.length < 3 || parts[0].isBlank() || parts[1].isBlank() || parts[2].isBlank()) {
            problems.error(inside.offset(), "'declare reduction' takes a name, a type and how to combine; write declare reduction(name : Type : omp_out = combine(omp_out, omp_in))");
            return;
        }
        String name = parts[0].strip();
        String combiner = parts[2].strip();
        if (OPERATORS.contains(name) || !name.matches("\\w+")) {
            problems.error(inside.offset(), "a declared reduction needs a name of its own, not '" + name + "'");
            return;
        }
        boolean statement = combiner.matches("omp_out\\s*[-+*/%&|^]?=[^=].*") || combiner.endsWith(")") && combiner.contains("(");
        if (!combiner.contains("omp_in") || !combiner.contains("omp_out") || !statement) {
            problems.error(inside.offset(), "the combiner must put omp_in into omp_out; write omp_out = combine(omp_out, omp_in), or omp_out.add(omp_in)");
            return;
        }
        Directive.Clause initializer = directive.clause("initializer");
        if (initializer == null || !initializer.argument().text().matches("omp_priv\\s*=[^=].*") || initializer.argument().text().contains("omp_orig")) {
            int offset = initializer == null ? directive.nameOffset() : initializer.offset();
            problems.error(offset, "a declared reduction must say what a part begins with; write initializer(omp_priv = identity), which cannot use omp_orig");
            return;
        }
        String identity = initializer.argument().text().split("=", 2)[1].strip();
        declared.computeIfAbsent(name, n -> new ArrayList<>()).add(new Declared(parts[1].strip(), combiner, identity));
    }

    private Declared declaredFor(String operator, TypeMirror type) {
        String full = String.valueOf(TypeText.of(type)).replace(" ", "");
        for (Declared candidate : declared.getOrDefault(operator, List.of())) {
            String said = candidate.type.replace(" ", "");
            if (full.equals(said) || simple(full).equals(simple(said))) {
                return candidate;
            }
        }
        return null;
    }

    private static String simple(String type) {
        return type.replaceAll("\\b\\w+\\.", "");
    }

    /** Why an operator cannot reduce a type; null if it can. */
    String complaint(String operator, TypeMirror type) {
        if (declared.containsKey(operator)) {
            return declaredFor(operator, type) != null ? null
                    : "the reduction '" + operator + "' is declared for " + declared.get(operator).get(0).type + ", not for " + type;
        }
        if (operator.equals("-")) {
            return "the operator '-' combines as '+' does; write reduction(+ : …)";
        }
        if (!OPERATORS.contains(operator)) {
            return "there is no reduction operator '" + operator + "'; use one of " + String.join(" ", OPERATORS) + ", or 'declare reduction(" + (operator.matches("\\w+") ? operator : "name") + " : …)'";
        }
        TypeMirror element = element(type);
        boolean logical = operator.equals("&&") || operator.equals("||");
        boolean bits = operator.equals("&") || operator.equals("|") || operator.equals("^");
        boolean fits = switch (element.getKind()) {
            case BOOLEAN -> element == type && (logical || bits);
            case INT, LONG -> !logical;
            case BYTE, SHORT, CHAR -> element == type && !logical;
            case FLOAT, DOUBLE -> !logical && !bits;
            case DECLARED -> element == type && (operator.equals("+") && type.toString().equals("java.lang.String"));
            default -> false;
        };
        return fits ? null : "'" + operator + "' cannot reduce a " + type
                + (element.getKind() == TypeKind.DECLARED ? "; declare how with 'declare reduction(name : " + type + " : …)'" : "");
    }

    private static TypeMirror element(TypeMirror type) {
        TypeMirror element = type;
        while (element instanceof ArrayType array) {
            element = array.getComponentType();
        }
        return element;
    }

    /** Whether the elements of an array are reduced one by one. */
    boolean isElementwise(String operator, TypeMirror type) {
        return type.getKind() == TypeKind.ARRAY && OPERATORS.contains(operator);
    }

    static String arrayOperator(String operator) {
        return "dev.loadline.omp.runtime.Op." + ARRAY_OPERATORS.get(operator);
    }

    /** What a part begins with. */
    String identity(String operator, TypeMirror type) {
        Declared own = declaredFor(operator, type);
        if (own != null) {
            return own.identity;
        }
        boolean floating = type.getKind() == TypeKind.FLOAT || type.getKind() == TypeKind.DOUBLE;
        String box = switch (type.getKind()) {
            case INT -> "Integer";
            case CHAR -> "Character";
            default -> {
                String name = String.valueOf(TypeText.of(type));
                yield Character.toUpperCase(name.charAt(0)) + name.substring(1);
            }
        };
        return switch (operator) {
            case "+" -> type.getKind() == TypeKind.DECLARED ? "\"\"" : TypeText.zero(type);
            case "*" -> "1";
            case "&" -> type.getKind() == TypeKind.BOOLEAN ? "true" : type.getKind() == TypeKind.CHAR ? "Character.MAX_VALUE" : "-1";
            case "|", "^" -> TypeText.zero(type);
            case "&&" -> "true";
            case "||" -> "false";
            case "min" -> floating ? box + ".POSITIVE_INFINITY" : box + ".MAX_VALUE";
            case "max" -> floating ? box + ".NEGATIVE_INFINITY" : box + ".MIN_VALUE";
            default -> throw new IllegalArgumentException(operator);
        };
    }

    /** A statement with which a member offers its part. */
    static String put(String member, int k, TypeMirror type, String part) {
        return switch (type.getKind()) {
            case BOOLEAN -> member + ".put(" + k + ", " + part + " ? 1L : 0L); ";
            case BYTE, SHORT, CHAR, INT, LONG -> member + ".put(" + k + ", (long) " + part + "); ";
            case FLOAT, DOUBLE -> member + ".put(" + k + ", (double) " + part + "); ";
            default -> member + ".putRef(" + k + ", " + part + "); ";
        };
    }

    /** An expression for what a member offered. */
    private static String get(String team, String index, int k, TypeMirror type, String text) {
        String where = "(" + index + ", " + k + ")";
        return switch (type.getKind()) {
            case BOOLEAN -> team + ".getLong" + where + " != 0L";
            case BYTE, SHORT, CHAR, INT -> "(" + text + ") " + team + ".getLong" + where;
            case LONG -> team + ".getLong" + where;
            case FLOAT -> "(float) " + team + ".getDouble" + where;
            case DOUBLE -> team + ".getDouble" + where;
            default -> team + ".getRef" + where;
        };
    }

    /** A block that adds one member's part to the whole. */
    String combine(String operator, TypeMirror type, String typeText, String whole, String team, String index, int k) {
        String part = get(team, index, k, type, typeText);
        Declared own = declaredFor(operator, type);
        if (own != null) {
            return "{ " + typeText + " omp_out = " + whole + "; " + typeText + " omp_in = " + part + "; " + own.combiner + "; " + whole + " = omp_out; } ";
        }
        String cast = switch (type.getKind()) {
            case BYTE, SHORT, CHAR -> "(" + typeText + ") ";
            default -> "";
        };
        String sum = switch (operator) {
            case "min", "max" -> "Math." + operator + "(" + whole + ", " + part + ")";
            default -> "(" + whole + " " + operator + " (" + part + "))";
        };
        return whole + " = " + cast + sum + "; ";
    }
}
