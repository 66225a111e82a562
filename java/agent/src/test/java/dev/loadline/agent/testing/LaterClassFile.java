package dev.loadline.agent.testing;

import dev.loadline.agent.ClassBytes;
import java.io.IOException;

/** Class files as a JDK to come would have compiled them. */
public final class LaterClassFile {
    /** Of no JDK that there will be for long. */
    public static final short VERSION = 300;

    private LaterClassFile() {}

    /** A class's file. */
    public static byte[] of(Class<?> type) throws IOException {
        byte[] classFile = ClassBytes.of(type.getName());
        classFile[6] = (byte) (VERSION >>> 8);
        classFile[7] = (byte) VERSION;
        return classFile;
    }

    /** The major version that a class file says. */
    public static int versionOf(byte[] classFile) {
        return (classFile[6] & 0xFF) << 8 | classFile[7] & 0xFF;
    }
}
