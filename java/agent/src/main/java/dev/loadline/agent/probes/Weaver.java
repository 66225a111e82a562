package dev.loadline.agent.probes;

import dev.loadline.agent.AnyVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.ClassFileVersion;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.TypeResolutionStrategy;
import net.bytebuddy.dynamic.scaffold.MethodGraph;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.pool.TypePool;
import net.bytebuddy.utility.AsmClassWriter;

/** Copies the rules' advice into a class file. */
final class Weaver {
    // Versions and reader are said, as what it chooses else depends on whether it knows the JVM's.
    private final ByteBuddy byteBuddy = new ByteBuddy(ClassFileVersion.JAVA_V17)
            .with(AnyVersion.READER)
            .with(AsmClassWriter.Factory.Default.ASM_ONLY)
            .with(TypeValidation.DISABLED)
            .with(MethodGraph.Compiler.ForDeclaredMethods.INSTANCE);

    /**
     * Returns the class file with its probes, or null if there is nothing to probe in it.
     *
     * @param redefined the class, if it is loaded already
     * @param own the rules that name it; one that finds no method is told to {@code warn}
     * @param shaped whether the rules by shape are to be tried
     */
    byte[] weave(
            String name,
            ClassLoader loader,
            Class<?> redefined,
            byte[] classFile,
            List<Rule> own,
            boolean shaped,
            Consumer<String> warn) {
        ClassFileLocator locator = new ClassFileLocator.Compound(
                ClassFileLocator.Simple.of(name, classFile), ClassFileLocator.ForClassLoader.of(loader));
        TypePool types = new TypePool.Default(
                new TypePool.CacheProvider.Simple(), locator, TypePool.Default.ReaderMode.FAST, AnyVersion.READER);
        TypeDescription type = types.describe(name).resolve();
        List<Rule> placed = new ArrayList<>();
        for (Rule rule : own) {
            if (finds(rule, type)) {
                placed.add(rule);
            } else if (rule.expected) {
                warn.accept(name + " has no method " + rule.what + " as the probe knows it: not probed");
            }
        }
        if (shaped && !type.isInterface()) {
            for (Rule rule : Rules.SHAPES) {
                if (finds(rule, type)) {
                    placed.add(rule);
                }
            }
        }
        if (placed.isEmpty()) {
            return null;
        }
        DynamicType.Builder<?> builder = byteBuddy.decorate(type, locator);
        for (Rule rule : placed) {
            builder = builder.visit(new AsmVisitorWrapper.ForDeclaredMethods().invokable(rule.methods, rule.advice()));
        }
        return builder.make(TypeResolutionStrategy.Disabled.INSTANCE).getBytes();
    }

    private static boolean finds(Rule rule, TypeDescription type) {
        return !type.getDeclaredMethods().filter(rule.methods).isEmpty();
    }
}
