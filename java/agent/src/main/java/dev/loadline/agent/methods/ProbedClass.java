package dev.loadline.agent.methods;

import java.util.function.ToIntFunction;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import net.bytebuddy.utility.OpenedClassReader;

/** A class whose methods get probes, as far as they are wanted. */
final class ProbedClass extends ClassVisitor {
    private static final String LANG = "java.lang.";
    private static final int WITHOUT_CODE = Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE;
    /** What the compiler makes to reach another method. */
    private static final String ACCESSOR = "access$";

    private final ToIntFunction<String> numbers;
    private String type;
    private String superType;
    private boolean frames;
    private boolean probed;

    /** @param numbers the number of the method with this name; negative if it gets no probe */
    ProbedClass(ClassVisitor to, ToIntFunction<String> numbers) {
        super(OpenedClassReader.ASM_API, to);
        this.numbers = numbers;
    }

    /** Whether a method got a probe. */
    boolean isProbed() {
        return probed;
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        super.visit(version, access, name, signature, superName, interfaces);
        type = name;
        superType = superName;
        frames = (version & 0xFFFF) >= Opcodes.V1_6;
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
        boolean only = (access & WITHOUT_CODE) == 0 && (access & Opcodes.ACC_BRIDGE) == 0 && !name.equals("<clinit>")
                && !((access & Opcodes.ACC_SYNTHETIC) != 0 && name.startsWith(ACCESSOR));
        int number = only ? numbers.applyAsInt(named(type, name, descriptor)) : -1;
        if (number < 0) {
            return to;
        }
        probed = true;
        return name.equals("<init>")
                ? ProbedMethod.constructor(to, number, frames, type, superType)
                : ProbedMethod.method(to, number, frames);
    }

    /** {@code com.shop.Cart.add(int,java.util.List)}; types of {@code java.lang} without their package. */
    static String named(String type, String name, String descriptor) {
        StringBuilder text = new StringBuilder(type.replace('/', '.')).append('.').append(name).append('(');
        String comma = "";
        for (Type argument : Type.getArgumentTypes(descriptor)) {
            String of = argument.getClassName();
            boolean lang = of.startsWith(LANG) && of.indexOf('.', LANG.length()) < 0;
            text.append(comma).append(lang ? of.substring(LANG.length()) : of);
            comma = ",";
        }
        return text.append(')').toString();
    }
}
