package dev.loadline.agent.probes;

import dev.loadline.agent.AnyVersion;
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
    /** Whether it is worth a word if there is no such method. */
    final boolean expected;
    /** Whether it tells of a server's requests. */
    private boolean requests;
    private final Class<?> advice;
    /** Where the end is another class's; else null. */
    private Class<?> end;
    private Advice compiled;

    Rule(String what, ElementMatcher<? super MethodDescription> methods, Class<?> advice) {
        this(what, methods, advice, true);
    }

    private Rule(String what, ElementMatcher<? super MethodDescription> methods, Class<?> advice, boolean expected) {
        this.what = what;
        this.methods = methods;
        this.advice = advice;
        this.expected = expected;
    }

    /** A rule for a method that only some versions have in this class. */
    static Rule ifThere(String what, ElementMatcher<? super MethodDescription> methods, Class<?> advice) {
        return new Rule(what, methods, advice, false);
    }

    /** It tells of a server's requests: nobody else is to. */
    Rule ofRequests() {
        requests = true;
        return this;
    }

    /** What it does at the end of a method is in this class, which several share. */
    Rule endingBy(Class<?> end) {
        this.end = end;
        return this;
    }

    boolean isOfRequests() {
        return requests;
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
            Advice.WithCustomMapping mapping = Advice.withCustomMapping().with(AnyVersion.READER);
            compiled = (end == null ? mapping.to(advice) : mapping.to(advice, end)).withExceptionHandler(TELL);
        }
        return compiled;
    }
}
