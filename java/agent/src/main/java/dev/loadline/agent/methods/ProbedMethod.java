package dev.loadline.agent.methods;

import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.utility.OpenedClassReader;

/**
 * A method or constructor that gets a probe.
 *
 * <p>All of its code but the probe's own calls lies in <em>ranges</em> from which an exception leads to a handler behind the
 * code, which tells of it and throws it on. A call of the probe is in none, so that no invocation can end twice. The handler
 * knows no local variable: so its frame fits everywhere.
 *
 * <p>An invocation of a constructor begins when its call of another constructor of the object ({@code super(…)}, {@code this(…)})
 * has returned: before that the object is none, and verification takes no handler around the call.
 */
final class ProbedMethod extends MethodVisitor {
    private static final String PROBES = "dev/loadline/agent/boot/MethodProbes";
    private static final String[] THROWABLE = {"java/lang/Throwable"};
    private static final Object[] NO_LOCALS = {};

    /** The handler's table has ranges that are not empty. */
    private record Range(Label from, Label to) {}

    private final int method;
    /** Whether the class file has frames. */
    private final boolean frames;

    /** Of a constructor: its class and that one's superclass; else null. */
    private final String type;

    private final String superType;
    /** Of a constructor: objects that were made so far and whose constructors were not called. */
    private int made;

    private boolean begun;
    private final List<Range> ranges = new ArrayList<>();
    private Label from;
    private boolean empty;

    private ProbedMethod(MethodVisitor to, int method, boolean frames, String type, String superType) {
        super(OpenedClassReader.ASM_API, to);
        this.method = method;
        this.frames = frames;
        this.type = type;
        this.superType = superType;
    }

    static ProbedMethod method(MethodVisitor to, int method, boolean frames) {
        return new ProbedMethod(to, method, frames, null, null);
    }

    static ProbedMethod constructor(MethodVisitor to, int method, boolean frames, String type, String superType) {
        return new ProbedMethod(to, method, frames, type, superType);
    }

    @Override
    public void visitCode() {
        super.visitCode();
        if (type == null) {
            begin();
        }
    }

    private void begin() {
        begun = true;
        probe("enter", "(I)V");
        open();
    }

    /** Another constructor was called: of an object that was made here, or of the one that this is a constructor of. */
    private void constructed(String owner) {
        if (made > 0) {
            made--;
        } else if (!begun && (owner.equals(type) || owner.equals(superType))) {
            begin();
        }
    }

    @Override
    public void visitMaxs(int stack, int locals) {
        close();
        if (!ranges.isEmpty()) {
            Label handler = new Label();
            mv.visitLabel(handler);
            if (frames) {
                mv.visitFrame(Opcodes.F_FULL, NO_LOCALS.length, NO_LOCALS, THROWABLE.length, THROWABLE);
            }
            mv.visitInsn(Opcodes.DUP);
            probe("threw", "(Ljava/lang/Throwable;I)V");
            mv.visitInsn(Opcodes.ATHROW);
            for (Range range : ranges) { // behind the method's own handlers, which go first
                mv.visitTryCatchBlock(range.from, range.to, handler, null);
            }
        }
        super.visitMaxs(stack, locals);
    }

    private void probe(String what, String descriptor) {
        mv.visitIntInsn(Opcodes.SIPUSH, method);
        mv.visitMethodInsn(Opcodes.INVOKESTATIC, PROBES, what, descriptor, false);
    }

    private void open() {
        from = new Label();
        mv.visitLabel(from);
        empty = true;
    }

    private void close() {
        if (begun && !empty) {
            Label to = new Label();
            mv.visitLabel(to);
            ranges.add(new Range(from, to));
            empty = true;
        }
    }

    @Override
    public void visitInsn(int opcode) {
        if (begun && opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
            close();
            probe("exit", "(I)V");
            super.visitInsn(opcode);
            open();
        } else {
            empty = false;
            super.visitInsn(opcode);
        }
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        empty = false;
        super.visitIntInsn(opcode, operand);
    }

    @Override
    public void visitVarInsn(int opcode, int variable) {
        empty = false;
        super.visitVarInsn(opcode, variable);
    }

    @Override
    public void visitTypeInsn(int opcode, String of) {
        empty = false;
        super.visitTypeInsn(opcode, of);
        made += opcode == Opcodes.NEW ? 1 : 0;
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
        empty = false;
        super.visitFieldInsn(opcode, owner, name, descriptor);
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean ofInterface) {
        empty = false;
        super.visitMethodInsn(opcode, owner, name, descriptor, ofInterface);
        if (opcode == Opcodes.INVOKESPECIAL && name.equals("<init>")) {
            constructed(owner);
        }
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
        empty = false;
        super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
        empty = false;
        super.visitJumpInsn(opcode, label);
    }

    @Override
    public void visitLdcInsn(Object value) {
        empty = false;
        super.visitLdcInsn(value);
    }

    @Override
    public void visitIincInsn(int variable, int increment) {
        empty = false;
        super.visitIincInsn(variable, increment);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
        empty = false;
        super.visitTableSwitchInsn(min, max, otherwise, labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
        empty = false;
        super.visitLookupSwitchInsn(otherwise, keys, labels);
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
        empty = false;
        super.visitMultiANewArrayInsn(descriptor, dimensions);
    }
}
