package dev.loadline.agent;

import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.utility.AsmClassReader;
import net.bytebuddy.utility.OpenedClassReader;

/**
 * Reads class files of any version. Each JDK's own classes are of its version, there are two JDKs a year, and the library takes only those that
 * were there when it was made: a newer class file is read as one of its newest version, and keeps its own. What it has that is new
 * stands in the way only in classes that use it.
 */
public final class AnyVersion implements AsmClassReader.Factory {
    public static final AnyVersion READER = new AnyVersion();

    private AnyVersion() {}

    /** A reader of a class file. */
    public static ClassReader of(byte[] classFile) {
        return OpenedClassReader.of(classFile, true);
    }

    @Override
    public AsmClassReader make(byte[] classFile) {
        return new AsmClassReader.ForAsm(of(classFile));
    }

    @Override
    public AsmClassReader make(byte[] classFile, boolean anyVersion) {
        return make(classFile);
    }
}
