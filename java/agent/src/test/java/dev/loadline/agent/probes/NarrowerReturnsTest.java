package dev.loadline.agent.probes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.loadline.agent.AnyVersion;
import dev.loadline.agent.ClassBytes;
import dev.loadline.agent.testing.LaterClassFile;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.Test;

/** Pools and drivers whose methods return types of their own, which JDBC's interfaces allow. */
class NarrowerReturnsTest {
    /** As Druid's. */
    abstract static class OwnConnection implements Connection {
        @Override
        public OwnStatement prepareStatement(String sql) {
            return null;
        }
    }

    interface OwnStatement extends PreparedStatement {}

    abstract static class OwnPool implements DataSource {
        @Override
        public OwnConnection getConnection() {
            return null;
        }

        /** No method of the interface's. */
        public OwnConnection getConnection(int number) {
            return null;
        }
    }

    /** Methods, with their descriptors, that call one of the agent's. */
    private static List<String> probed(Class<?> of, String what) throws Exception {
        return probed(of, ClassBytes.of(of.getName()), what);
    }

    private static List<String> probed(Class<?> of, byte[] classFile, String what) {
        assertTrue(ClassShape.mayMatch(classFile));
        byte[] woven = new Weaver().weave(of.getName(), of.getClassLoader(), null, classFile, List.of(), true, warning -> { });
        List<String> probed = new ArrayList<>();
        AnyVersion.of(woven).accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                return new MethodVisitor(Opcodes.ASM9) {
                    @Override
                    public void visitMethodInsn(int opcode, String owner, String called, String ofCalled, boolean ofInterface) {
                        if (called.equals(what)) {
                            probed.add(name + descriptor.substring(0, descriptor.indexOf(')') + 1));
                        }
                    }
                };
            }
        }, 0);
        return probed;
    }

    @Test
    void have_their_probes_once() throws Exception {
        assertEquals(List.of("getConnection()"), probed(OwnPool.class, "poolWaitBegin"));
        assertEquals(List.of("prepareStatement(Ljava/lang/String;)"), probed(OwnConnection.class, "prepareBegin"));
    }

    /** The JDK's own classes are of its version, which the library that weaves need not know. */
    @Test
    void have_their_probes_in_class_files_of_later_jdks() throws Exception {
        assertEquals(List.of("getConnection()"), probed(OwnPool.class, LaterClassFile.of(OwnPool.class), "poolWaitBegin"));
    }
}
