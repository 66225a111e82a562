package dev.loadline.omp.compiler;

import dev.loadline.omp.compiler.Construct.Kind;
import dev.loadline.omp.compiler.Construct.Share;
import dev.loadline.omp.compiler.Directive.Clause;
import dev.loadline.omp.compiler.Directive.Item;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeKind;
import javax.lang.model.util.Elements;

/**
 * Decides for every variable and construct whether there is a private copy, and what the variable is
 * called in the output.
 *
 * <p>Regions and tasks become lambdas, which Java lets see only variables that are never assigned
 * again. So a variable that a region assigns is kept in a <em>box</em> while the region runs, and one
 * that is assigned elsewhere only is copied before it, as a <em>snapshot</em>: nobody can assign it
 * meanwhile. A variable that a task shares with code which goes on beside it lives in a box from its
 * declaration on.
 */
final class Sharing {
    private final Scan scan;
    private final List<Construct> constructs;
    private final Elements elements;
    private final Problems problems;
    private final Set<Element> writtenAtBase = new LinkedHashSet<>();
    /** Variables that live in a box from their declaration on. */
    final Set<Element> boxedForGood = new LinkedHashSet<>();
    private int count;

    Sharing(Scan scan, List<Construct> constructs, Elements elements, Problems problems) {
        this.scan = scan;
        this.constructs = constructs;
        this.elements = elements;
        this.problems = problems;
    }

    /** A name that nothing else in the file has. */
    String fresh(String name) {
        return name + "$omp" + ++count;
    }

    // ---- clauses ----

    /** Reads the clauses of all constructs. */
    void readClauses() {
        constructs.forEach(this::readClauses);
        for (Construct construct : constructs) {
            if (construct.kind == Kind.TASK) {
                shareWithTask(construct);
            }
        }
        constructs.forEach(this::checkDefaultNone);
    }

    private void readClauses(Construct construct) {
        for (Clause clause : construct.directive.clauses()) {
            boolean goesInside = clause.name().equals("firstprivate") && clause.items().stream().anyMatch(item -> isLastprivate(construct.directive, item.name()));
            if (!construct.owns(clause.name()) && !goesInside) {
                continue;
            }
            for (Item item : clause.items()) {
                boolean both = clause.name().equals("firstprivate") && isLastprivate(construct.directive, item.name());
                if (both && !construct.owns("lastprivate") || goesInside && !both && !construct.owns("firstprivate")) {
                    continue; // in a combined directive the loop gets what is first- and lastprivate, the region the rest
                }
                Element variable = resolve(item.name(), construct);
                if (variable == null) {
                    problems.error(item.offset(), "there is no variable '" + item.name() + "' here that '" + clause.name() + "' could apply to");
                    continue;
                }
                add(construct, clause, item, variable);
            }
        }
    }

    private static boolean isLastprivate(Directive directive, String name) {
        return directive.all("lastprivate").stream().anyMatch(c -> c.items().stream().anyMatch(i -> i.name().equals(name)));
    }

    private void add(Construct construct, Clause clause, Item item, Element variable) {
        Share share = switch (clause.name()) {
            case "private" -> Share.PRIVATE;
            case "firstprivate" -> Share.FIRSTPRIVATE;
            case "lastprivate" -> Share.LASTPRIVATE;
            case "shared" -> Share.SHARED;
            case "reduction" -> Share.REDUCTION;
            default -> null;
        };
        if (share == null) {
            if (construct.copied.contains(variable)) {
                problems.error(item.offset(), "'" + item.name() + "' is here twice; name it once");
            }
            construct.copied.add(variable);
            return;
        }
        Share before = construct.shares.get(variable);
        boolean pair = before == Share.FIRSTPRIVATE && share == Share.LASTPRIVATE || before == Share.LASTPRIVATE && share == Share.FIRSTPRIVATE;
        if (before != null && !pair) {
            problems.error(item.offset(), "'" + item.name() + "' is in two clauses of this directive; keep it in one");
            return;
        }
        construct.shares.put(variable, pair ? Share.FIRST_AND_LAST : share);
        if (share == Share.REDUCTION) {
            construct.operators.put(variable, clause.argument().text());
        }
        boolean returned = share == Share.LASTPRIVATE || share == Share.REDUCTION;
        if (returned && variable.getModifiers().contains(Modifier.FINAL)) {
            problems.error(item.offset(), "'" + item.name() + "' is final: '" + clause.name() + "' could not assign its result; take 'final' away");
        }
    }

    /** The variable that a name in a clause of a construct means; null if there is none. */
    Element resolve(String name, Construct construct) {
        int at = construct.directive.start();
        Element found = null;
        for (Scan.Declaration declaration : scan.declarations.values()) {
            boolean visible = declaration.start() < at && at < declaration.scopeEnd();
            if (visible && declaration.element().getSimpleName().contentEquals(name)) {
                found = declaration.element(); // the innermost is declared last
            }
        }
        if (found == null && construct.statement != null) {
            for (var path = construct.statement.path(); path != null && found == null; path = path.getParentPath()) {
                if (scan.elementOf(path) instanceof TypeElement type) {
                    found = elements.getAllMembers(type).stream()
                            .filter(e -> e.getKind() == ElementKind.FIELD && e.getSimpleName().contentEquals(name))
                            .findFirst()
                            .orElse(null);
                }
            }
        }
        return found;
    }

    /** Tasks: what they do not name is shared if the region shares it, and otherwise a copy of their own. */
    private void shareWithTask(Construct task) {
        for (var entry : List.copyOf(task.shares.entrySet())) {
            Element variable = entry.getKey();
            if (entry.getValue() == Share.SHARED && !TypeText.isField(variable)) {
                Construct owner = privatizer(variable, task.parent);
                if (owner != null) {
                    problems.error(task.directive.nameOffset(), "the task cannot share '" + variable.getSimpleName() + "', of which '" + owner.name()
                            + "' makes private copies; declare the variable inside");
                } else if (!sharedByRegion(variable, task.parent)) {
                    boxedForGood.add(variable);
                }
            }
        }
        for (Scan.Use use : scan.uses) {
            Element variable = use.element();
            boolean own = use.write() && task.contains(use.offset()) && Scan.isLocal(variable) && !declaredIn(variable, task);
            if (own && !task.shares.containsKey(variable) && !sharedByRegion(variable, task.parent)) {
                task.shares.put(variable, Share.FIRSTPRIVATE);
            }
        }
    }

    /** Whether all constructs from here to the region share a variable from outside of the region. */
    private boolean sharedByRegion(Element variable, Construct from) {
        for (Construct c = from; c != null; c = c.parent) {
            if (declaredIn(variable, c) || isPrivate(variable, c)) {
                return false;
            }
            if (c.kind == Kind.PARALLEL || c.kind == Kind.TASK && c.shares.get(variable) == Share.SHARED) {
                return true;
            }
        }
        return false;
    }

    private void checkDefaultNone(Construct construct) {
        Directive.Expression choice = construct.expression("default");
        if (choice == null || !choice.text().equals("none")) {
            return;
        }
        Set<Element> known = new LinkedHashSet<>();
        for (Scan.Use use : scan.uses) {
            Element variable = use.element();
            boolean inside = construct.statement.start() <= use.offset() && use.offset() < construct.statement.end();
            if (!inside || !Scan.isLocal(variable) || declaredIn(variable, construct) || variable.getModifiers().contains(Modifier.FINAL)) {
                continue;
            }
            boolean listed = false;
            for (Construct c = Constructs.innermost(constructs, use.offset()); c != construct.parent; c = c.parent) {
                listed |= isPrivate(variable, c) || c.directive == construct.directive && c.shares.containsKey(variable);
            }
            if (!listed && known.add(variable)) {
                String name = variable.getSimpleName().toString();
                problems.error(use.offset(), "'" + name + "' is in no clause, and '" + construct.name() + "' says default(none); add shared(" + name + ") or private(" + name + ")");
            }
        }
    }

    // ---- where variables belong ----

    boolean declaredIn(Element variable, Construct construct) {
        Scan.Declaration declaration = scan.declarations.get(variable);
        return declaration != null && construct.statement != null
                && construct.statement.start() <= declaration.start() && declaration.start() < construct.statement.end();
    }

    static boolean isPrivate(Element variable, Construct construct) {
        Share share = construct.shares.get(variable);
        return share != null && share != Share.SHARED;
    }

    /** The innermost construct from here outwards that has a private copy; null if none has. */
    Construct privatizer(Element variable, Construct from) {
        for (Construct c = from; c != null && !declaredIn(variable, c); c = c.parent) {
            if (isPrivate(variable, c)) {
                return c;
            }
        }
        return null;
    }

    // ---- names ----

    /** Finds out which construct assigns what. */
    void findWrites() {
        for (Scan.Use use : scan.uses) {
            if (use.write()) {
                noteWrite(use.element(), Constructs.innermost(constructs, use.offset()));
            }
        }
        for (Construct construct : constructs) {
            construct.shares.forEach((variable, share) -> {
                if (share == Share.LASTPRIVATE || share == Share.FIRST_AND_LAST
                        || share == Share.REDUCTION && variable.asType().getKind() != TypeKind.ARRAY) {
                    noteWrite(variable, construct.parent);
                }
            });
            construct.copied.forEach(variable -> noteWrite(variable, construct));
        }
    }

    private void noteWrite(Element variable, Construct from) {
        Construct c = from;
        while (c != null && !declaredIn(variable, c)) {
            if (isPrivate(variable, c)) {
                return;
            }
            c.written.add(variable);
            c = c.parent;
        }
        writtenAtBase.add(variable);
    }

    /** What a variable is called in a construct; null is outside of all. */
    String nameIn(Element variable, Construct construct) {
        if (construct == null || declaredIn(variable, construct)) {
            return baseName(variable);
        }
        String known = construct.names.get(variable);
        if (known == null) {
            known = decideName(variable, construct);
            construct.names.put(variable, known);
        }
        return known;
    }

    private String decideName(Element variable, Construct construct) {
        String outer = nameIn(variable, construct.parent);
        String simple = variable.getSimpleName().toString();
        Share share = construct.shares.get(variable);
        if (share != null && share != Share.SHARED) {
            boolean takesValue = share == Share.FIRSTPRIVATE || share == Share.FIRST_AND_LAST
                    || share == Share.REDUCTION && variable.asType().getKind() == TypeKind.ARRAY
                    || TypeText.of(variable.asType()) == null;
            if (takesValue && construct.isLambda() && !canBeCaptured(variable, outer, construct.parent)) {
                construct.sources.put(variable, fresh(simple));
            }
            return fresh(simple);
        }
        if (!construct.isLambda() || canBeCaptured(variable, outer, construct.parent)) {
            return outer;
        }
        if (construct.written.contains(variable)) {
            construct.boxed.add(variable);
            return fresh(simple) + ".v";
        }
        construct.snapshots.add(variable);
        return fresh(simple);
    }

    private String baseName(Element variable) {
        String simple = variable.getSimpleName().toString();
        return boxedForGood.contains(variable) ? simple + "$omp.v" : simple;
    }

    /** Whether a lambda may name what is so called. */
    private boolean canBeCaptured(Element variable, String name, Construct from) {
        if (name.endsWith(".v") || TypeText.isField(variable) && privatizer(variable, from) == null) {
            return true;
        }
        for (Construct c = from; c != null; c = c.parent) {
            if (c.snapshots.contains(variable) && name.equals(c.names.get(variable))) {
                return true;
            }
            if (isPrivate(variable, c)) {
                return false;
            }
        }
        Scan.Declaration declaration = scan.declarations.get(variable);
        return declaration != null && declaration.initialized() && !writtenAtBase.contains(variable);
    }

    /** A clause's expression with its variables renamed for where it is evaluated. */
    Edits.Code renamed(Directive.Expression expression, Construct construct) {
        String text = expression.text();
        var code = new Edits.Code();
        int kept = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\'') {
                int close = text.indexOf(c, i + 1);
                i = close < 0 ? text.length() : close;
            } else if (Character.isJavaIdentifierStart(c)) {
                int end = i + 1;
                while (end < text.length() && Character.isJavaIdentifierPart(text.charAt(end))) {
                    end++;
                }
                boolean qualified = text.substring(0, i).stripTrailing().endsWith(".");
                boolean call = text.substring(end).stripLeading().startsWith("(");
                Element variable = qualified || call ? null : resolve(text.substring(i, end), construct);
                if (variable != null) {
                    code.add(text.substring(kept, i), expression.offset() + kept).add(nameIn(variable, construct.parent), expression.offset() + i);
                    kept = end;
                }
                i = end - 1;
            } else if (Character.isDigit(c)) { // a number, with its letters
                while (i + 1 < text.length() && Character.isJavaIdentifierPart(text.charAt(i + 1))) {
                    i++;
                }
            }
        }
        return code.add(text.substring(kept), expression.offset() + kept);
    }

    /** Names everything, and tells the edits where a use changes its name. */
    void nameUses(Edits edits) {
        for (Construct construct : constructs) {
            for (Element variable : construct.shares.keySet()) {
                nameIn(variable, construct);
            }
            construct.copied.forEach(variable -> nameIn(variable, construct));
            for (String clause : List.of("if", "num_threads")) {
                if (construct.expression(clause) != null) {
                    construct.expressions.put(clause, renamed(construct.expression(clause), construct));
                }
            }
            Directive.Expression schedule = construct.kind == Kind.FOR ? construct.expression("schedule") : null;
            if (schedule != null && schedule.text().contains(",")) {
                int comma = schedule.text().indexOf(',');
                String chunk = schedule.text().substring(comma + 1);
                int lead = chunk.length() - chunk.stripLeading().length();
                construct.expressions.put("schedule", renamed(new Directive.Expression(chunk.strip(), schedule.offset() + comma + 1 + lead), construct));
            }
        }
        for (Scan.Use use : scan.uses) {
            String name = nameIn(use.element(), Constructs.innermost(constructs, use.offset()));
            String simple = use.element().getSimpleName().toString();
            if (!name.equals(simple)) {
                edits.rename(use.offset(), use.offset() + simple.length(), name);
            }
        }
    }
}
