package dev.loadline.omp.compiler;

import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.Element;

/** Writes how members' parts become one, and how a work-sharing construct ends with that or with a barrier. */
final class CombiningEmitter {
    private final Emitter emitter;
    private final Reductions reductions;

    CombiningEmitter(Emitter emitter, Reductions reductions) {
        this.emitter = emitter;
        this.reductions = reductions;
    }

    List<Element> oneByOne(Construct construct) {
        List<Element> found = new ArrayList<>();
        construct.operators.forEach((variable, operator) -> {
            if (!reductions.isElementwise(operator, variable.asType())) {
                found.add(variable);
            }
        });
        return found;
    }

    /** Whether members combine arrays together, each its slice. */
    boolean reducesArrays(Construct construct) {
        return oneByOne(construct).size() < construct.operators.size();
    }

    /** Statements with which a member offers its parts; whole arrays are combined at once. */
    String offer(Construct construct) {
        var code = new StringBuilder();
        int k = 0;
        for (Element variable : oneByOne(construct)) {
            code.append(Reductions.put(construct.member, k++, variable.asType(), construct.names.get(variable)));
        }
        for (var entry : construct.operators.entrySet()) {
            Element variable = entry.getKey();
            if (reductions.isElementwise(entry.getValue(), variable.asType())) {
                String target = construct.sources.getOrDefault(variable, emitter.sharing.nameIn(variable, construct.parent));
                code.append(Emitter.RUNTIME).append("ArrayReductions.reduce(").append(construct.member).append(", ").append(k++).append(", ")
                        .append(Reductions.arrayOperator(entry.getValue())).append(", ").append(target).append(", ").append(construct.names.get(variable)).append("); ");
            }
        }
        return code.toString();
    }

    /** Statements that add all members' parts to the variables. */
    boolean combine(Construct construct, String team, StringBuilder after) {
        List<Element> variables = oneByOne(construct);
        if (variables.isEmpty()) {
            return false;
        }
        String index = emitter.sharing.fresh("i");
        after.append("for (int ").append(index).append(" = 0; ").append(index).append(" < ").append(team).append(".size(); ").append(index).append("++) { ");
        int k = 0;
        for (Element variable : variables) {
            String whole = emitter.sharing.nameIn(variable, construct.parent);
            after.append(reductions.combine(construct.operators.get(variable), variable.asType(), Emitter.typeOr(variable, "Object"), whole, team, index, k++));
        }
        after.append("} ");
        return true;
    }

    /** The end of a work-sharing construct: its reductions, or else its barrier. */
    void close(Construct construct, StringBuilder after) {
        after.append(offer(construct));
        var sum = new StringBuilder();
        String team = emitter.sharing.fresh("team");
        if (combine(construct, team, sum)) {
            after.append("if (").append(construct.member).append(".gather()) { final ").append(Emitter.RUNTIME).append("Team ").append(team)
                    .append(" = ").append(construct.member).append(".team(); ").append(sum).append("} ").append(construct.member).append(".release(); ");
        } else if (!construct.directive.has("nowait") && !construct.endsWithRegion()) {
            after.append(construct.member).append(".barrier(); ");
        }
    }
}
