package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassWriter;
import org.junit.jupiter.api.Test;

public class AnyVersionTest {
    /** Of no JDK that there will be for long. */
    public static final short VERSION = 300;

    /** The class file as a JDK to come would have compiled it. */
    public static byte[] ofLater(Class<?> type) throws Exception {
        byte[] classFile = ClassBytes.of(type.getName());
        classFile[6] = (byte) (VERSION >>> 8);
        classFile[7] = (byte) VERSION;
        return classFile;
    }

    public static int versionOf(byte[] classFile) {
        return (classFile[6] & 0xFF) << 8 | classFile[7] & 0xFF;
    }

    @Test
    void a_class_file_of_a_later_jdk_is_read_and_keeps_its_version() throws Exception {
        byte[] classFile = ofLater(AnyVersionTest.class);
        assertThrows(IllegalArgumentException.class, () -> new ClassReader(classFile));
        ClassWriter copied = new ClassWriter(0);
        AnyVersion.of(classFile).accept(copied, 0);
        assertEquals(VERSION, versionOf(copied.toByteArray()));
        assertEquals(VERSION, versionOf(classFile));
    }
}
