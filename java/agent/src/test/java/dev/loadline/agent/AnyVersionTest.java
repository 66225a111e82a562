package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.loadline.agent.testing.LaterClassFile;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassWriter;
import org.junit.jupiter.api.Test;

class AnyVersionTest {
    @Test
    void a_class_file_of_a_later_jdk_is_read_and_keeps_its_version() throws Exception {
        byte[] classFile = LaterClassFile.of(AnyVersionTest.class);
        assertThrows(IllegalArgumentException.class, () -> new ClassReader(classFile));
        ClassWriter copied = new ClassWriter(0);
        AnyVersion.of(classFile).accept(copied, 0);
        assertEquals(LaterClassFile.VERSION, LaterClassFile.versionOf(copied.toByteArray()));
        assertEquals(LaterClassFile.VERSION, LaterClassFile.versionOf(classFile));
    }
}
