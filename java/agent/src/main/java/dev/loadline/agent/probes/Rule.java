package dev.loadline.agent.probes;

import dev.loadline.agent.boot.Faults;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.implementation.bytecode.member.MethodInvocation;
import net.bytebuddy.matcher.ElementMatcher;
import net.bytebuddy.matcher.ElementMatchers;

/** Which methods get which advice. */
final class Rule {
    /** What an advice throws is told to {@link Faults}, and to nobody else. */
    private static final Advice.ExceptionHandler TELL =
            new Advice.ExceptionHandler.Simple(MethodInvocation.invoke(caught()));

    final String what;
    final ElementMatcher<? super MethodDescription> methods;
    private final Class<?> advice;
    private Advice compiled;

    Rule(String what, ElementMatcher<? super MethodDescription> methods, Class<?> advice) {
        this.what = what;
        this.methods = methods;
        this.advice = advice;
    }

    private static MethodDescription.InDefinedShape caught() {
        return TypeDescription.ForLoadedType.of(Faults.class)
                .getDeclaredMethods()
                .filter(ElementMatchers.named("caught"))
                .getOnly();
    }

    /** The advice, read once when first wanted. */
    synchronized Advice advice() {
        if (compiled == null) {
            compiled = Advice.withCustomMapping().to(advice).withExceptionHandler(TELL);
        }
        return compiled;
    }
}
