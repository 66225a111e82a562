package dev.loadline.agent.probes;

import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.matcher.ElementMatcher;

/** Which methods get which advice. */
final class Rule {
    final String what;
    final ElementMatcher<? super MethodDescription> methods;
    private final Class<?> advice;
    private Advice compiled;

    Rule(String what, ElementMatcher<? super MethodDescription> methods, Class<?> advice) {
        this.what = what;
        this.methods = methods;
        this.advice = advice;
    }

    /** The advice, read once when first wanted. */
    synchronized Advice advice() {
        if (compiled == null) {
            compiled = Advice.to(advice);
        }
        return compiled;
    }
}
